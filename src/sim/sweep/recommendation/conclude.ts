/** Turns the measurements of a search into a recommendation. */

import { usualSchedulers } from '../../colocated/ablation.ts';
import { basisOf } from '../../colocated/basis.ts';
import { compare } from '../../comparison/compare.ts';
import { usualRuns } from '../../comparison/compare-options.ts';
import type { Interval } from '../../comparison/result.ts';
import { type Book, type Candidate, gain, gainInterval, type Pair } from '../book.ts';
import { areGiven, leastKept } from '../limits.ts';
import { stepsWithin } from '../plan.ts';
import type { ConfirmedSettings, SweepAdvice, SweepVerdict } from '../result.ts';
import { promptsOf, type SweepProblem, type SynchronousProblem } from '../run.ts';
import type { SearchOptions, SearchResult } from '../search/search.ts';
import { type PolicyChoice, poolsChoice, synchronousChoice } from '../settings/schedulers.ts';
import { labelOf, type PoolsSettings, type SweepSettings, type SynchronousSettings } from '../settings/settings.ts';
import { splitOf } from '../split.ts';
import { meaningOf } from './explanation.ts';
import { notModelled } from './not-modelled.ts';
import { confirmedRow, mean, speedupOf, triedRows } from './rows.ts';

/** Share of a budget for the steps of the baseline. */
const stepsShare = 0.05;

/** Returns the recommendation. */
export function conclude(
  problem: SweepProblem,
  book: Book,
  result: SearchResult,
  { seed, plan, limits, thorough }: Omit<SearchOptions, 'spreadOf'> & { readonly thorough: number },
): SweepAdvice {
  const { baseline, oracle } = book;
  const { rules, reference, published, plain, chosen, searchSeeds, confirmationSeeds: seeds, spread } = result;
  const { minKept } = limits;
  const pairs = (one: Candidate, other: Candidate): Pair[] => book.pairs(one, other, seeds);
  const over = (one: Candidate, other: Candidate): Interval => gainInterval(pairs(one, other), spread);
  // The baseline is also a candidate: like any other candidate, it is preferred only if it is surely faster. The baseline is
  // within every limit, so if limits are given, settings must surely be faster than the baseline.
  const isOut = areGiven(limits) && (over(chosen, baseline).low <= 0 || !rules.isWithin(chosen, seeds, 'confirmation'));
  const recommended = isOut || over(baseline, chosen).low > 0 ? baseline : chosen;
  const confirmed = (one: Candidate): ConfirmedSettings =>
    confirmedRow(book, one, { label: labelFor(problem, one), seeds, spread });
  const compared = published.infeasible === undefined ? published : reference;
  const oraclePairs = pairs(oracle, baseline);
  const workload = problem.workload(seed);
  const { name, source, resampling, correlation, capTokens, distinctPrompts } = workload;
  const facts = {
    verdict: verdictOf(recommended, result, baseline),
    job: problem.kind,
    recommended: confirmed(recommended),
    gainOverPublished: over(recommended, compared),
    ...(recommended === chosen && plain !== chosen ? { gainOfTailBatching: over(chosen, plain) } : {}),
    published: confirmed(compared),
    baseline: confirmed(baseline),
    ...(oraclePairs.length === 0
      ? {}
      : {
          oracle: {
            secondsPerPrompt: mean(oraclePairs, ({ one }) => one.secondsPerPrompt),
            gain: gain(oraclePairs),
            equalTokenSpeedup: speedupOf(oraclePairs),
          },
        }),
    objective: {
      minimize: 'secondsPerPrompt' as const,
      leastKeptTokenRatio: leastKept(book, published, seeds, minKept),
      given: minKept !== undefined,
      limits,
    },
    ...triedRows(book, rules, searchSeeds),
    search: {
      seed,
      effort: { ...plan.effort, confirmationSeeds: seeds.length },
      steps: plan.steps,
      confirmationSteps: result.confirmationSteps,
      prompts: splitOf(workload),
      runs: result.runs,
      responses: Math.round(result.responses),
      thoroughResponses: Math.round(thorough),
      searchSeeds,
      confirmationSeeds: seeds,
    },
  };
  const isConfirmed = (one: SweepSettings): boolean => book.pairs(book.candidate(one), baseline, seeds).length > 0;
  return {
    ...choiceOf(problem, recommended.settings as SweepSettings | 'baseline'),
    ...facts,
    meaning: meaningOf({ ...facts, isConfirmed }),
    workload: {
      name,
      source,
      prompts: Number.isFinite(distinctPrompts) ? distinctPrompts : null,
      resampling,
      correlation,
      capTokens,
    },
    notModelled: notModelled(problem, seed, promptsOf(problem)),
    simulated: simulatedOf(problem),
    ...(problem.kind === 'synchronous' ? { basis: basisOf(problem.job) } : {}),
  };
}

/**
 * Returns the seconds of a baseline step on all prompts.
 *
 * @param budget - simulated responses of the whole sweep, about
 */
export function stepSecondsOf({ job, workload }: SynchronousProblem, seed: number, budget: number): Interval {
  const seeds = Array.from({ length: usualRuns.seeds }, (_, index) => seed + index);
  const [baseline] = usualSchedulers(job);
  const options = {
    job,
    workload,
    steps: stepsWithin(stepsShare * budget, usualRuns.seeds * job.promptsPerRound * job.responsesPerPrompt),
    seeds,
    baseline,
    schedulers: [],
    timeline: false,
    oracle: false,
  };
  return compare(options).schedulers[0]!.stepSeconds;
}

function verdictOf(recommended: Candidate, { published, reference }: SearchResult, baseline: Candidate): SweepVerdict {
  if (recommended === baseline) return 'baseline';
  if (recommended === published) return 'published';
  return recommended === reference ? 'unspeculative' : 'tuned';
}

function labelFor({ kind }: SweepProblem, { settings }: Candidate): string {
  if (typeof settings !== 'string') return labelOf(settings);
  return kind === 'pools' ? 'serial' : 'synchronous';
}

function choiceOf(problem: SweepProblem, settings: SweepSettings | 'baseline'): PolicyChoice {
  return problem.kind === 'pools'
    ? poolsChoice(problem.job, settings as PoolsSettings | 'baseline')
    : synchronousChoice(problem.job, settings as SynchronousSettings | 'baseline');
}

function simulatedOf(problem: SweepProblem): Record<string, number | string> {
  const { job } = problem;
  const shared = { job: job.name, engines: job.engines, gpus: job.engines * job.cost.gpus };
  const { responsesPerPrompt } = job;
  if (problem.kind === 'synchronous') {
    return { ...shared, promptsPerRound: problem.job.promptsPerRound, responsesPerPrompt };
  }
  const { groupsPerRound, globalBatchSamples, trainerGpus } = problem.job;
  return { ...shared, trainerGpus, promptsPerRound: groupsPerRound, responsesPerPrompt, globalBatchSamples };
}
