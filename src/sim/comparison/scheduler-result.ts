/**
 * Summarizes the runs of a scheduler, compared with those of the baseline; `docs/metrics.md` is the only definition of each number.
 */
import { keptShares } from './kept-shares.ts';
import { meanOf, mostOf, ratio, ratioOf, sumOf } from './metrics.ts';
import type { RunResult, SchedulerResult } from './result.ts';
import { pairedStatistics } from './statistics.ts';

/** Runs to compare with, on the same seeds and in the same order. */
export interface Beside {
  readonly baseline: readonly RunResult[];
  /** The oracle schedule, if it was run. */
  readonly oracle?: readonly RunResult[];
  /** Confidence level of the intervals. */
  readonly confidence: number;
}

/** Summarizes one scheduler over all seeds. */
export function schedulerResult(
  { id, label, variant }: Pick<SchedulerResult, 'label' | 'variant'> & { readonly id: string },
  runs: readonly RunResult[],
  { baseline, oracle, confidence }: Beside,
): SchedulerResult {
  const { interval, mean, speedup } = pairedStatistics(runs, baseline, confidence);
  const steps = (run: RunResult): number => run.steps.length;
  /** The mean of a share over runs, each counted by a number of it. */
  const weighted = (
    share: 'meanLag' | 'cappedShare' | 'bubbleRatio',
    by: 'keptTokens' | 'trainedResponses' | 'rolloutSeconds',
  ) => ratioOf(runs, (run) => run[share] * run[by], by);
  const redrawn = sumOf(runs, ({ kept }) => kept.redrawnFixedTokens - kept.redrawnTokens);
  return {
    scheduler: id,
    label,
    ...(variant === undefined ? undefined : { variant }),
    runs,
    stepSeconds: mean('totalSeconds', steps),
    rolloutSeconds: mean('rolloutSeconds', steps),
    speedup: speedup('totalSeconds'),
    equalTokenSpeedup: interval((some, base) => ratio(secondsPerToken(base), secondsPerToken(some))),
    rolloutSpeedup: speedup('rolloutSeconds'),
    ...(oracle === undefined ? undefined : { ofOracle: ratio(secondsPerToken(oracle), secondsPerToken(runs)) }),
    keptTokenRatio: ratio(meanTokens(runs), meanTokens(baseline)),
    ...keptShares(runs.map(({ kept }) => kept)),
    redrawnShare: ratioOf(runs, ({ kept }) => kept.redrawnResponses, 'trainedResponses'),
    redrawnLoss: ratio(redrawn, sumOf(baseline, 'keptTokens')),
    staleShare: ratioOf(runs, 'staleTokens', 'keptTokens'),
    meanLag: weighted('meanLag', 'keptTokens'),
    maxLag: mostOf(runs, 'maxLag'),
    cappedShare: weighted('cappedShare', 'trainedResponses'),
    bubbleRatio: weighted('bubbleRatio', 'rolloutSeconds'),
    meanQueueAge: meanOf(runs.flatMap((run) => run.steps.flatMap((step) => step.queueAges))),
    maxQueueAge: mostOf(runs, 'maxQueueAge'),
  };
}

/** Returns the seconds of all runs ÷ their trained tokens. */
const secondsPerToken = (runs: readonly RunResult[]): number => ratioOf(runs, 'totalSeconds', 'keptTokens');

const meanTokens = (runs: readonly RunResult[]): number => ratioOf(runs, 'keptTokens', 'trainedResponses');
