/** Times a plan under Algorithm 1 of FlexRL. */
import { z } from 'zod';
import { parse } from '../../../core/machine/validate.ts';
import { refuse } from '../../../errors.ts';
import type { ExecutionSchedule, SequencePack, TimingModel } from '../../../generated/settings/flex-ulysses.ts';
import { positiveCount } from '../../../schemas/units.ts';
import { callAt } from './collectives.ts';
import { findDeadlock } from './deadlock.ts';
import { type Durations, durationsOf, type Times, timesOf } from './times.ts';
import { coefficientsOf, timingModel } from './timing.ts';

/** The packs of a plan, and the order of each device. */
export interface PackedPlan {
  /** The sequences that are computed together, each pack on its devices. */
  readonly packs: readonly SequencePack[];
  /** For each device, the indices of its packs in `packs`, in execution order. */
  readonly order: readonly (readonly number[])[];
}

/** One operation of a device, with its start and end. */
export interface TimelineSpan {
  /** Index of the device, from 0. */
  readonly device: number;
  /** The stream of the device; the two streams of a device run concurrently. */
  readonly stream: 'communication' | 'computation';
  /** The operation: the exchange of queries, keys and values; attention; or the exchange of its output. */
  readonly operation: 'all-to-all-1' | 'attention' | 'all-to-all-2';
  /** Index in `packs`. */
  readonly pack: number;
  /** Seconds from the start of the pass. */
  readonly startSeconds: number;
  /** Seconds from the start of the pass. */
  readonly endSeconds: number;
}

/** The times of a plan. */
export interface PlanTimeline {
  /** Summary of the times of the plan. */
  readonly schedule: ExecutionSchedule;
  /** For each device, its seconds of computation and its idle seconds until the last device ends. */
  readonly devices: readonly { readonly computeSeconds: number; readonly bubbleSeconds: number }[];
  /** Spans by device, then by stream, then by time. */
  readonly spans: readonly TimelineSpan[];
}

/** Options for the model of the times. */
export interface TimelineOptions {
  /** A preset, or coefficients; `H800` if absent. */
  readonly timing?: TimingModel | undefined;
  /** Devices of one node; 8 if absent. */
  readonly devicesPerNode?: number | undefined;
}

const timelineOptions = z.strictObject({
  timing: timingModel.default('H800'),
  devicesPerNode: positiveCount.default(8),
});

const most = (values: Float64Array): number => values.reduce((one, other) => Math.max(one, other), 0);

function summary(plan: PackedPlan, durations: Durations, times: Times): ExecutionSchedule {
  const makespanSeconds = most(times.end);
  const mean = times.busy.reduce((sum, one) => sum + one, 0) / times.busy.length;
  const bubbleSeconds = Math.max(0, makespanSeconds - mean);
  return {
    makespanSeconds,
    computeSeconds: most(times.busy),
    bubbleSeconds,
    bubbleRatio: makespanSeconds === 0 ? 0 : bubbleSeconds / makespanSeconds,
    serialSeconds: most(timesOf(plan, durations, false).end),
  };
}

/** Returns the schedule of a plan that has no deadlock. */
export function scheduleOf(plan: PackedPlan, durations: Durations): ExecutionSchedule {
  return summary(plan, durations, timesOf(plan, durations, true));
}

function spansOf({ attention, allToAll }: Durations, times: Times): TimelineSpan[] {
  return times.sharded.flatMap((mine, device) => {
    const spans: TimelineSpan[] = [];
    const add = (operation: TimelineSpan['operation'], pack: number, startSeconds: number, seconds: number): void => {
      const stream = operation === 'attention' ? 'computation' : 'communication';
      spans.push({ device, stream, operation, pack, startSeconds, endSeconds: startSeconds + seconds });
    };
    for (let position = 0; position < 2 * mine.length; position += 1) {
      const call = callAt(mine.length, position, true);
      const pack = mine[call >> 1]!;
      if (call & 1) add('all-to-all-2', pack, times.second[pack]!, allToAll[pack]!);
      else add('all-to-all-1', pack, times.first[pack]!, allToAll[pack]!);
    }
    let start = times.unshardedStart[device]!;
    for (const pack of times.unsharded[device]!) {
      add('attention', pack, start, attention[pack]!);
      start += attention[pack]!;
    }
    mine.forEach((pack, at) => {
      add('attention', pack, times.attention[device]![at]!, attention[pack]!);
    });
    return spans;
  });
}

/**
 * Predicts when each device runs each operation, and the totals, to draw or to compare plans.
 *
 * @param plan - packs and order of a plan, possibly changed by a host
 * @param lengths - tokens of each sequence
 * @throws PolicyError `invalid_input` for options out of bounds, a pack with a sequence without a length, or an order that would
 * hang
 */
export function predictTimeline(
  plan: PackedPlan,
  lengths: readonly number[],
  options: TimelineOptions = {},
): PlanTimeline {
  const { timing, devicesPerNode } = parse(timelineOptions, options, 'invalid_input');
  const unknown = plan.packs.flatMap((pack) => pack.sequences).find((sequence) => lengths[sequence] === undefined);
  if (unknown !== undefined) {
    const expected = `more than ${unknown} numbers, as sequence ${unknown} is in a pack`;
    refuse('invalid_input', 'lengths', expected, lengths.length);
  }
  const deadlock = findDeadlock(plan);
  if (deadlock !== undefined) {
    refuse('invalid_input', 'order', 'an order in which all collectives can start', deadlock.message);
  }
  const durations = durationsOf(plan.packs, lengths, coefficientsOf(timing), devicesPerNode);
  const times = timesOf(plan, durations, true);
  const schedule = summary(plan, durations, times);
  return {
    schedule,
    devices: Array.from(times.busy, (computeSeconds) => ({
      computeSeconds,
      bubbleSeconds: Math.max(0, schedule.makespanSeconds - computeSeconds),
    })),
    spans: spansOf(durations, times),
  };
}
