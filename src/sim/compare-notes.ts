/** What stands around the numbers of a comparison: the workload, the settings, and what a reader must know. */
import type { CompareOptions } from './compare-options.ts';
import { quantileOf, ratio, sumOf } from './metrics.ts';
import type { ComparisonResult, RunResult, SchedulerResult } from './result.ts';
import type { Workload } from './workload/workload.ts';

/** Mean over runs of the seconds of the whole job. */
export const meanTotalSeconds = (runs: readonly RunResult[]): number =>
  ratio(
    sumOf(runs, (run) => run.totalSeconds),
    runs.length,
  );

/**
 * A workload, as results show it.
 *
 * @param lengths - tokens of the responses that the baseline trains on
 */
export function describeWorkload(
  workload: Workload,
  prompts: number,
  lengths: readonly number[],
): ComparisonResult['workload'] {
  const ascending = Float64Array.from(lengths).sort();
  const at = (share: number): number => Math.round(quantileOf(ascending, share));
  return {
    name: workload.name,
    source: workload.source,
    prompts: Math.min(prompts, workload.distinctPrompts),
    resampling: workload.resampling,
    correlation: workload.correlation,
    capTokens: workload.capTokens,
    meanTokens: ratio(
      sumOf(lengths, (one) => one),
      lengths.length,
    ),
    quantiles: { p50: at(0.5), p75: at(0.75), p90: at(0.9), p99: at(0.99), max: at(1) },
  };
}

/** The settings of a comparison, as results show them. */
export function settingsOf({ job, steps, seeds }: CompareOptions): ComparisonResult['settings'] {
  return {
    job: job.name,
    engines: job.engines,
    gpus: job.engines * job.cost.gpus,
    promptsPerRound: job.promptsPerRound,
    responsesPerPrompt: job.responsesPerPrompt,
    trainedPrompts: steps * job.promptsPerRound,
    seeds: seeds.length,
    kvCapacityTokens: job.cost.kvCapacityTokens,
    trainBaseSeconds: job.cost.trainBaseSeconds,
    rewardTailSeconds: job.cost.rewardTailSeconds,
    weightSyncSeconds: job.cost.weightSyncSeconds,
  };
}

/** What a reader of the numbers must know. */
export function notesOn(options: CompareOptions, results: readonly SchedulerResult[], boundSeconds: number): string[] {
  const { job, seeds, steps } = options;
  const notes = [
    `Every scheduler trains the same ${steps * job.promptsPerRound} prompts once; queues are flushed at the end.`,
  ];
  const about = (fits: (result: SchedulerResult) => boolean): string =>
    results
      .slice(1)
      .filter(fits)
      .map(({ label, rung }) => rung?.adds ?? label)
      .join(', ');
  const shorter = ({ keptTokenRatio }: SchedulerResult): number => Math.round(100 * (1 - keptTokenRatio));
  for (const percent of new Set(results.slice(1).map(shorter))) {
    if (percent <= 0) continue;
    const labels = about((one) => shorter(one) === percent);
    const what = `the mean kept response is ${percent} % shorter than the baseline's`;
    notes.push(`${labels}: every prompt is kept, but not every response; ${what}.`);
  }
  const faster = about(({ runs }) => meanTotalSeconds(runs) < boundSeconds);
  if (faster !== '') {
    notes.push(
      `${faster}: faster than the lower bound. That is no error: the bound fixes the samples beforehand, and a short round chooses the shorter ones.`,
    );
  }
  const smaller = about(({ runs }) => runs.some((run) => run.steps.some((step) => step.prompts < job.promptsPerRound)));
  if (smaller !== '') {
    notes.push(
      `${smaller}: the last step has fewer than ${job.promptsPerRound} prompts. More steps make it count for less.`,
    );
  }
  if (results.length > 2 && options.baseline?.trains) {
    notes.push(
      'The clairvoyant bound is for the engines of the baseline; with another parallelism, engines may be faster than it.',
    );
  }
  if (seeds.length < 2) notes.push('One seed only: the intervals have no width. Use several seeds.');
  const { distinctPrompts, caveat } = options.workload(seeds[0]!);
  if (caveat !== undefined) notes.push(caveat);
  if (distinctPrompts < steps * job.promptsPerRound) {
    notes.push(`The workload has ${distinctPrompts} prompts: they are used again, with resampled responses.`);
  }
  return notes;
}
