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

/** Returns the sum of a number over items. */
export function sumOf<T>(items: readonly T[], value: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += value(item);
  return sum;
}

/** Returns part ÷ whole, and 0 for an empty whole. */
export function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

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
  const keptTokens = sumOf(steps, (step) => step.keptTokens);
  const trainedResponses = sumOf(steps, (step) => step.responses);
  const generating = sumOf(steps, (step) => step.rolloutSeconds - step.reshardSeconds - job.cost.fixedRolloutSeconds);
  const ages = steps.flatMap((step) => step.queueAges);
  const ascending = Float64Array.from(run.lengths).sort();
  return {
    scheduler: run.scheduler,
    seed: run.seed,
    steps,
    engines: rows.map((row, index) => engineResult(row, run.segments[index]!, gpus, generating)),
    totalSeconds: steps[steps.length - 1]?.endSeconds ?? 0,
    rolloutSeconds: sumOf(steps, (step) => step.rolloutSeconds),
    trainedPrompts: sumOf(steps, (step) => step.prompts),
    trainedResponses,
    keptTokens,
    generatedTokens: sumOf(steps, (step) => step.generatedTokens),
    meanResponseTokens: ratio(keptTokens, trainedResponses),
    cappedShare: ratio(
      sumOf(steps, (step) => step.cappedResponses),
      trainedResponses,
    ),
    bubbleRatio: bubble(
      sumOf(rows, (row) => row.busySeconds),
      generating * rows.length,
    ),
    preemptions: sumOf(rows, (row) => row.preemptions),
    meanQueueAge: ratio(
      sumOf(ages, (age) => age),
      ages.length,
    ),
    maxQueueAge: ages.reduce((most, age) => Math.max(most, age), 0),
    lengthQuantiles: Array.from({ length: 101 }, (_, percent) => quantileOf(ascending, percent / 100)),
    kept: run.kept,
    staleTokens: sumOf(steps, (step) => step.staleTokens),
    meanLag: ratio(
      sumOf(steps, (step) => step.laggingTokens),
      keptTokens,
    ),
    maxLag: steps.reduce((most, step) => Math.max(most, step.lag), 0),
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
