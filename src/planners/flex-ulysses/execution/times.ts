/** Computes the times of each part of a plan, event by event, looking only at the devices that an event changes. */

import type { SequencePack } from '../../../generated/settings/flex-ulysses.ts';
import { callAt, type Queues, runQueues, shardedOf } from './collectives.ts';
import type { ExecutionOrder } from './schema.ts';
import { allToAllTime, attentionTime, type TimingCoefficients } from './timing.ts';

/** Seconds of the parts of each pack. */
export interface Durations {
  readonly attention: Float64Array;
  /** Seconds per all-to-all; a pack has two. */
  readonly allToAll: Float64Array;
}

/** Returns the least number of group members on any node of the group. */
function fewestOnANode(devices: readonly number[], devicesPerNode: number): number {
  const counts = new Map<number, number>();
  for (const device of devices) {
    const node = Math.floor(device / devicesPerNode);
    counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return Math.min(...counts.values());
}

/** Computes the seconds of the parts of each pack. */
export function durationsOf(
  packs: readonly SequencePack[],
  lengths: ArrayLike<number>,
  timing: TimingCoefficients,
  devicesPerNode: number,
): Durations {
  const attention = Float64Array.from(packs, ({ degree, paddedTokens, sequences }) => {
    const squares = sequences.reduce((sum, sequence) => sum + lengths[sequence]! * lengths[sequence]!, 0);
    return attentionTime(timing, degree, paddedTokens, squares);
  });
  const allToAll = Float64Array.from(packs, ({ degree, paddedTokens, devices }) =>
    degree === 1 ? 0 : allToAllTime(timing, degree, paddedTokens, fewestOnANode(devices, devicesPerNode)),
  );
  return { attention, allToAll };
}

/** Start times, in seconds from the start of the first operation. */
export interface Times {
  /** For each device, the indices of its sharded and of its unsharded packs, in the device's `order` in the plan. */
  readonly sharded: readonly (readonly number[])[];
  readonly unsharded: readonly (readonly number[])[];
  /** Starts of the first and of the second all-to-all of each pack. */
  readonly first: Float64Array;
  readonly second: Float64Array;
  /** For each device: the starts of the attention of its sharded packs, and of the first unsharded pack. */
  readonly attention: readonly Float64Array[];
  readonly unshardedStart: Float64Array;
  /** For each device: the time when it has finished all its packs. */
  readonly end: Float64Array;
  /** Seconds in which a device computes. */
  readonly busy: Float64Array;
}

/**
 * Runs the packs of a plan without a deadlock: with overlap it follows Algorithm 1, unsharded packs first; without overlap,
 * operations run one after the other, unsharded packs last.
 */
export function timesOf(plan: ExecutionOrder, durations: Durations, overlap: boolean): Times {
  const { packs, order } = plan;
  const total = (mine: readonly number[]): number => mine.reduce((sum, pack) => sum + durations.attention[pack]!, 0);
  const sharded = shardedOf(plan);
  const unsharded = order.map((mine) => mine.filter((pack) => packs[pack]!.degree === 1));
  const alone = Float64Array.from(unsharded, total);
  const communicates = new Float64Array(order.length);
  const computes = overlap ? alone.slice() : new Float64Array(order.length);
  const attention = sharded.map((mine) => new Float64Array(mine.length));
  const first = new Float64Array(packs.length);
  const second = new Float64Array(packs.length);
  const queues: Queues = { packs, sharded, overlap };

  /**
   * Returns when a device issues a call: a first all-to-all when the attention of the pack before starts, a second one when the
   * attention of its own pack ends.
   */
  const issued = (device: number, pack: number, call: number): number => {
    const starts = attention[device]!;
    if (call & 1) return starts[call >> 1]! + durations.attention[pack]!;
    return overlap && call > 0 ? starts[(call >> 1) - 1]! : 0;
  };
  runQueues(queues, (one, positions) => {
    const pack = one >> 1;
    const members = packs[pack]!.devices;
    const calls = members.map((device) => callAt(sharded[device]!.length, positions[device]!, overlap));
    let start = 0;
    members.forEach((device, at) => {
      start = Math.max(start, communicates[device]!, issued(device, pack, calls[at]!));
    });
    const end = start + durations.allToAll[pack]!;
    members.forEach((device, at) => {
      communicates[device] = end;
      if (one & 1) return;
      const begins = Math.max(computes[device]!, end);
      attention[device]![calls[at]! >> 1] = begins;
      computes[device] = begins + durations.attention[pack]!;
    });
    (one & 1 ? second : first)[pack] = start;
  });

  const free = communicates.map((until, device) => Math.max(until, computes[device]!));
  return {
    sharded,
    unsharded,
    first,
    second,
    attention,
    unshardedStart: overlap ? new Float64Array(order.length) : free,
    end: overlap ? free : free.map((until, device) => until + alone[device]!),
    busy: Float64Array.from(sharded, (mine, device) => alone[device]! + total(mine)),
  };
}
