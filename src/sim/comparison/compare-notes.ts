/** Texts of a comparison: the workload, the settings, and notes for the reader. */

import { oracleWindowRounds } from '../bounds/oracle.ts';
import { unmetSentences } from '../colocated/policy-scheduler.ts';
import { predictionText } from '../workload/predicted.ts';
import type { Workload } from '../workload/workload.ts';
import type { CompareOptions } from './compare-options.ts';
import { meanOf, mostOf, quantileOf } from './metrics.ts';
import type { ComparisonResult, SchedulerResult } from './result.ts';

/**
 * Returns the description of a workload for results.
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
    ...(workload.caveat === undefined ? {} : { caveat: workload.caveat }),
    prompts: Math.min(prompts, workload.distinctPrompts),
    resampling: workload.resampling,
    correlation: workload.correlation,
    ...(workload.predict === undefined ? {} : { predict: predictionText(workload) }),
    capTokens: workload.capTokens,
    meanTokens: meanOf(lengths),
    quantiles: { p50: at(0.5), p75: at(0.75), p90: at(0.9), p99: at(0.99), max: at(1) },
  };
}

/** Returns the settings of a comparison for results. */
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

/** Returns the notes on what policies ask for and do not get, which say how far a comparison is one of them. */
export const unmetNotes = (results: readonly SchedulerResult[]): string[] =>
  unmetSentences(results.map(({ label, runs: [run] }) => ({ label, unmet: run?.unmet ?? [] })));

/** Returns the notes that a reader of the results needs, in sentences. */
export function notesOn(options: CompareOptions, results: readonly SchedulerResult[]): string[] {
  const { job, seeds, steps } = options;
  const others = results.slice(1);
  const nameOf = ({ label, variant }: SchedulerResult): string => variant?.adds ?? label;
  const about = (fits: (result: SchedulerResult) => boolean): string => others.filter(fits).map(nameOf).join(', ');
  const notes = [
    `Every scheduler trains the same ${steps * job.promptsPerRound} prompts once; queues are flushed at the end.`,
  ];
  notes.push(...unmetNotes(results));
  const shorter = ({ keptTokenRatio }: SchedulerResult): number => Math.round(100 * (1 - keptTokenRatio));
  for (const percent of new Set(others.map(shorter))) {
    if (percent <= 0) continue;
    const labels = about((one) => shorter(one) === percent);
    const what = `the mean kept response is ${percent} % shorter than the baseline's`;
    notes.push(
      `${labels}: every prompt is kept, but not every response; ${what}. Compare the speedups at equal tokens.`,
    );
  }
  // Variants of an ablation often defer in the same way, so variants with equal texts share one note.
  const redrawn = others.filter((one) => one.redrawnShare > 0).map((one) => ({ one, what: redrawing(one) }));
  for (const text of new Set(redrawn.map(({ what }) => what))) {
    const labels = redrawn.filter(({ what }) => what === text).map(({ one }) => nameOf(one));
    notes.push(`${labels.join(', ')}: deferred prompts are drawn again, so that bad luck is thrown away: ${text}.`);
  }
  const stale = about((one) => one.maxLag > 0);
  if (stale !== '' || (results[0]?.maxLag ?? 0) > 0) {
    const most = mostOf(results, 'maxLag');
    const who = stale === '' ? 'The baseline' : stale;
    notes.push(`${who}: tokens come from weights up to ${most} version${most === 1 ? '' : 's'} old.`);
  }
  const smaller = about(({ runs }) => runs.some((run) => run.steps.some((step) => step.prompts < job.promptsPerRound)));
  if (smaller !== '') {
    notes.push(
      `${smaller}: the last step has fewer than ${job.promptsPerRound} prompts. More steps make it count for less.`,
    );
  }
  if (options.oracle ?? true) {
    notes.push(
      `The oracle knows all lengths, groups prompts within ${oracleWindowRounds} rounds by their longest response, and keeps every response.`,
    );
    const faster = about((one) => (one.ofOracle ?? 0) > 1);
    if (faster !== '') notes.push(`${faster}: faster than the oracle at equal tokens, on responses of its own choice.`);
  }
  if (seeds.length < 2) notes.push('One seed only: the intervals have no width. Use several seeds.');
  const workload = options.workload(seeds[0]!);
  if (workload.prompt(0).sample(0).correct === undefined) {
    notes.push(
      'Even groups: nobody has recorded which responses are correct, so that is drawn by prompt, whatever their length.',
    );
  }
  const { distinctPrompts, caveat, predict } = workload;
  if (predict !== undefined) notes.push(`Prompts come with predicted lengths: ${predictionText(workload)}.`);
  if (caveat !== undefined) notes.push(caveat);
  if (distinctPrompts < steps * job.promptsPerRound) {
    notes.push(`The workload has ${distinctPrompts} prompts: they are used again, with resampled responses.`);
  }
  return notes;
}

/** Describes the effect of redrawn prompts: their share of the responses, and the tokens lost or gained. */
function redrawing({ redrawnShare, redrawnLoss }: SchedulerResult): string {
  const loss = Math.round(100 * Math.abs(redrawnLoss));
  const less = loss === 0 ? 'about as many' : `${loss} % ${redrawnLoss < 0 ? 'more' : 'fewer'}`;
  const tokens = `${less} tokens ${loss === 0 ? 'as' : 'than'} the baseline's by this alone`;
  return `${Math.round(100 * redrawnShare)} % of the responses, and ${tokens}`;
}
