/** The data for the charts on VLM schedulers in a report: the stages of a step, and plans in reduced size. */
import type { PlanPicture, Shard, VlmComparison, VlmSchedulerResult } from '../vlm-formulas/result.ts';
import { lengthOf } from '../vlm-formulas/workload/sample.ts';

/** First and last device, start and end in seconds, and the index of a sequence or one of {@link notShards}. */
export type PlanBar = readonly [first: number, last: number, start: number, end: number, what: number];

/** Bars that are not a shard of a sequence. */
export const notShards = { vision: -1, 'all-to-all': -2 } as const;

/** Stages of a step, in the order of drawing. */
export const stages = ['load', 'rollout', 'old', 'reference', 'update'] as const;

/** One scheduler, for charts. */
export interface VlmRunData {
  readonly label: string;
  readonly stages: readonly number[];
  /** Only for schedulers with a picture. */
  readonly plan?: { readonly seconds: number; readonly bars: readonly PlanBar[]; readonly degrees: readonly number[] };
}

/** One workload, for charts. */
export interface VlmData {
  readonly name: string;
  readonly devices: number;
  /** Tokens and kind of each sequence of the first batch. */
  readonly sequences: readonly (readonly [tokens: number, kind: string])[];
  /** The longest sequences, each of which has its own colour. */
  readonly longest: readonly number[];
  readonly runs: readonly VlmRunData[];
}

/** Number of colours: readers could not distinguish more. */
export const sequenceColours = 6;

const round = (seconds: number): number => Math.round(seconds * 1e5) / 1e5;

/** Merges the bars of neighbouring devices that do the same at the same time. */
function barsOf(shards: readonly Shard[]): PlanBar[] {
  const bars: PlanBar[] = [];
  const open = new Map<string, number>();
  for (const { device, startSeconds, endSeconds, sequence, activity } of [...shards].sort(
    (a, b) => a.device - b.device,
  )) {
    const what = activity === 'shard' ? sequence! : notShards[activity];
    const [start, end] = [round(startSeconds), round(endSeconds)];
    if (end <= start) continue;
    const key = `${what} ${start} ${end}`;
    const at = open.get(key);
    if (at !== undefined && bars[at]![1] === device - 1) bars[at] = [bars[at]![0], device, start, end, what];
    else {
      open.set(key, bars.length);
      bars.push([device, device, start, end, what]);
    }
  }
  return bars;
}

const planOf = ({ seconds, shards, degrees }: PlanPicture) => ({ seconds, bars: barsOf(shards), degrees });

/**
 * Returns the schedulers with a picture: the first for each kind of placement, but for FlexUlysses the last, which has all
 * mechanisms.
 */
export function pictured(schedulers: readonly VlmSchedulerResult[]): number[] {
  const kinds = schedulers.map((one) => one.placement);
  const found = [kinds.indexOf('bucketing'), kinds.indexOf('ulysses'), kinds.lastIndexOf('flex-ulysses')];
  return found.filter((index) => index >= 0).sort((a, b) => a - b);
}

/** Returns the data of a comparison for charts. */
export function vlmData({ workload, job, batch, schedulers }: VlmComparison): VlmData {
  const lengths = batch.map(lengthOf);
  const shown = pictured(schedulers);
  return {
    name: workload.name,
    devices: job.gpus,
    sequences: batch.map((one, index) => [lengths[index]!, one.kind]),
    longest: lengths
      .map((_, index) => index)
      .sort((a, b) => lengths[b]! - lengths[a]! || a - b)
      .slice(0, sequenceColours),
    runs: schedulers.map((one, index) => ({
      label: one.label,
      stages: [one.exposedLoadSeconds, one.rolloutSeconds, one.oldSeconds, one.referenceSeconds, one.updateSeconds].map(
        (seconds) => Math.round(seconds * 100) / 100,
      ),
      ...(shown.includes(index) ? { plan: planOf(one.picture) } : {}),
    })),
  };
}
