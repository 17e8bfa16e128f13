/** Computes the metrics of a simulated run. `docs/metrics.md` is the only definition of each metric. */
import type { EngineRow } from '../cluster/engines/engine-rows.ts';
import type { Job } from '../colocated/job.ts';
import type { EngineResult, KeptCounts, RunResult, Segment, StepResult, Unmet } from './result.ts';

/** The records of a completed run. */
export interface FinishedRun {
  readonly job: Job;
  readonly scheduler: string;
  readonly seed: number;
  readonly steps: readonly StepResult[];
  /** Tokens of every trained response. */
  readonly lengths: readonly number[];
  /** Rows of GPUs: one row per engine, or per part of an engine with higher tensor parallelism. */
  readonly rows: readonly EngineRow[];
  /** Segments of each row, in the same order. */
  readonly segments: readonly (readonly Segment[])[];
  readonly kept: KeptCounts;
  /** What the policy asked for and did not get. */
  readonly unmet?: readonly Unmet[];
}

/** Fields with a number. */
type NumberKey<T> = { [K in keyof T & string]: T[K] extends number ? K : never }[keyof T & string];
/** What is read of an item: a field with a number, or what a function returns. */
export type Reading<T> = NumberKey<T> | ((item: T) => number);

/** Returns what is read of an item. */
export const read = <T>(item: T, value: Reading<T>): number =>
  typeof value === 'function' ? value(item) : (item[value] as number);

/** Returns the sum of a number over items. */
export function sumOf<T>(items: readonly T[], value: Reading<T>): number {
  let sum = 0;
  for (const item of items) sum += read(item, value);
  return sum;
}

/** Returns part ÷ whole, and 0 for an empty whole. */
export function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** Returns the sum of one number over items ÷ the sum of another, and 0 if that is 0. */
export const ratioOf = <T>(items: readonly T[], part: Reading<T>, whole: Reading<T>): number =>
  ratio(sumOf(items, part), sumOf(items, whole));

/** Returns the mean of numbers, and 0 without any. */
export const meanOf = (values: readonly number[]): number => ratio(sumOf(values, Number), values.length);

/** Returns the means of fields over items, in this order. */
export const meansOf = <T, K extends NumberKey<T>>(items: readonly T[], ...keys: readonly K[]): Record<K, number> =>
  Object.fromEntries(keys.map((key) => [key, ratio(sumOf(items, key), items.length)])) as Record<K, number>;

/** Returns the largest value of a number over items, and 0 if all are below. */
export const mostOf = <T>(items: readonly T[], value: Reading<T>): number =>
  items.reduce((most, item) => Math.max(most, read(item, value)), 0);

/** Returns the value below which a share (0 to 1) of sorted numbers lies, interpolated; 0 for an empty list. */
export function quantileOf(ascending: ArrayLike<number>, share: number): number {
  if (ascending.length === 0) return 0;
  const rank = share * (ascending.length - 1);
  const below = Math.floor(rank);
  const above = Math.min(below + 1, ascending.length - 1);
  return ascending[below]! + (ascending[above]! - ascending[below]!) * (rank - below);
}

/** Computes the totals of a run. */
export function summarizeRun(run: FinishedRun): RunResult {
  const { job, steps, rows } = run;
  const gpus = (job.engines * job.cost.gpus) / rows.length;
  const keptTokens = sumOf(steps, 'keptTokens');
  const trainedResponses = sumOf(steps, 'responses');
  const generating = sumOf(steps, (step) => step.rolloutSeconds - step.reshardSeconds - job.cost.fixedRolloutSeconds);
  const ages = steps.flatMap((step) => step.queueAges);
  const ascending = Float64Array.from(run.lengths).sort();
  return {
    scheduler: run.scheduler,
    seed: run.seed,
    steps,
    engines: rows.map((row, index) => engineResult(row, run.segments[index]!, gpus, generating)),
    totalSeconds: steps[steps.length - 1]?.endSeconds ?? 0,
    rolloutSeconds: sumOf(steps, 'rolloutSeconds'),
    trainedPrompts: sumOf(steps, 'prompts'),
    trainedResponses,
    keptTokens,
    generatedTokens: sumOf(steps, 'generatedTokens'),
    meanResponseTokens: ratio(keptTokens, trainedResponses),
    cappedShare: ratio(sumOf(steps, 'cappedResponses'), trainedResponses),
    bubbleRatio: bubble(sumOf(rows, 'busySeconds'), generating * rows.length),
    preemptions: sumOf(rows, 'preemptions'),
    meanQueueAge: meanOf(ages),
    maxQueueAge: mostOf(ages, Number),
    lengthQuantiles: Array.from({ length: 101 }, (_, percent) => quantileOf(ascending, percent / 100)),
    kept: run.kept,
    staleTokens: sumOf(steps, 'staleTokens'),
    meanLag: ratio(sumOf(steps, 'laggingTokens'), keptTokens),
    maxLag: mostOf(steps, 'lag'),
    ...(run.unmet === undefined || run.unmet.length === 0 ? {} : { unmet: run.unmet }),
  };
}

function engineResult(
  row: EngineRow,
  timeline: readonly Segment[],
  gpus: number,
  generatingSeconds: number,
): EngineResult {
  return {
    engineId: row.rowId,
    gpus,
    busySeconds: row.busySeconds,
    bubbleRatio: bubble(row.busySeconds, generatingSeconds),
    preemptions: row.preemptions,
    timeline,
  };
}

/** Returns the bubble ratio. By rounding errors, an engine may be busy slightly longer than the rollout. */
function bubble(busySeconds: number, offeredSeconds: number): number {
  return offeredSeconds > 0 ? Math.max(0, 1 - busySeconds / offeredSeconds) : 0;
}
