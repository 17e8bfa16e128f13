/**
 * Summarizes the runs of a scheduler, compared with those of the baseline; `docs/metrics.md` is the only definition of each number.
 */
import { keptShares } from './kept-shares.ts';
import { ratio, sumOf } from './metrics.ts';
import type { Interval, RunResult, SchedulerResult } from './result.ts';
import { bootstrap } from './statistics.ts';

/** Runs to compare with, on the same seeds and in the same order. */
export interface Beside {
  readonly baseline: readonly RunResult[];
  /** The oracle schedule, if it was run. */
  readonly oracle?: readonly RunResult[];
  /** Confidence level of the intervals. */
  readonly confidence: number;
}

/** A run, and that of the baseline with the same prompts and samples. */
interface Pair<R> {
  readonly run: R;
  readonly base: R;
}

/** Returns intervals of statistics over seeds, which are resampled as pairs of runs. */
export function pairedStatistics<R>(runs: readonly R[], baseline: readonly R[], confidence?: number) {
  const pairs = runs.map((run, index): Pair<R> => ({ run, base: baseline[index]! }));
  const interval = (statistic: (cases: readonly Pair<R>[]) => number): Interval =>
    bootstrap(pairs, statistic, { seed: 1, ...(confidence === undefined ? {} : { confidence }) });
  const quotient = (over: (pair: Pair<R>) => number, under: (pair: Pair<R>) => number): Interval =>
    interval((cases) => ratio(sumOf(cases, over), sumOf(cases, under)));
  return { interval, quotient };
}

/** Summarizes one scheduler over all seeds. */
export function schedulerResult(
  { id, label, variant }: Pick<SchedulerResult, 'label' | 'variant'> & { readonly id: string },
  runs: readonly RunResult[],
  { baseline, oracle, confidence }: Beside,
): SchedulerResult {
  const { interval, quotient } = pairedStatistics(runs, baseline, confidence);
  const share = (part: (run: RunResult) => number, whole: (run: RunResult) => number): number =>
    ratio(sumOf(runs, part), sumOf(runs, whole));
  const ages = runs.flatMap((run) => run.steps.flatMap((step) => step.queueAges));
  return {
    scheduler: id,
    label,
    ...(variant === undefined ? undefined : { variant }),
    runs,
    stepSeconds: quotient(
      ({ run }) => run.totalSeconds,
      ({ run }) => run.steps.length,
    ),
    rolloutSeconds: quotient(
      ({ run }) => run.rolloutSeconds,
      ({ run }) => run.steps.length,
    ),
    speedup: quotient(
      ({ base }) => base.totalSeconds,
      ({ run }) => run.totalSeconds,
    ),
    equalTokenSpeedup: interval((cases) =>
      ratio(secondsPerToken(cases.map(({ base }) => base)), secondsPerToken(cases.map(({ run }) => run))),
    ),
    rolloutSpeedup: quotient(
      ({ base }) => base.rolloutSeconds,
      ({ run }) => run.rolloutSeconds,
    ),
    ...(oracle === undefined ? undefined : { ofOracle: ratio(secondsPerToken(oracle), secondsPerToken(runs)) }),
    keptTokenRatio: ratio(meanTokens(runs), meanTokens(baseline)),
    ...keptShares(runs.map(({ kept }) => kept)),
    redrawnShare: share(
      ({ kept }) => kept.redrawnResponses,
      (run) => run.trainedResponses,
    ),
    redrawnLoss: ratio(
      sumOf(runs, ({ kept }) => kept.redrawnFixedTokens - kept.redrawnTokens),
      sumOf(baseline, (run) => run.keptTokens),
    ),
    staleShare: share(
      (run) => run.staleTokens,
      (run) => run.keptTokens,
    ),
    meanLag: share(
      (run) => run.meanLag * run.keptTokens,
      (run) => run.keptTokens,
    ),
    maxLag: runs.reduce((most, run) => Math.max(most, run.maxLag), 0),
    cappedShare: share(
      (run) => run.cappedShare * run.trainedResponses,
      (run) => run.trainedResponses,
    ),
    bubbleRatio: share(
      (run) => run.bubbleRatio * run.rolloutSeconds,
      (run) => run.rolloutSeconds,
    ),
    meanQueueAge: ratio(
      sumOf(ages, (age) => age),
      ages.length,
    ),
    maxQueueAge: runs.reduce((most, run) => Math.max(most, run.maxQueueAge), 0),
  };
}

/** Returns the seconds of all runs ÷ their trained tokens. */
function secondsPerToken(runs: readonly RunResult[]): number {
  return ratio(
    sumOf(runs, (run) => run.totalSeconds),
    sumOf(runs, (run) => run.keptTokens),
  );
}

function meanTokens(runs: readonly RunResult[]): number {
  return ratio(
    sumOf(runs, (run) => run.keptTokens),
    sumOf(runs, (run) => run.trainedResponses),
  );
}
