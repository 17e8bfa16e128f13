/** From what a search has measured to a recommendation. */
import { ratio, sumOf } from '../metrics.ts';
import type { Interval } from '../result.ts';
import { bootstrap } from '../statistics.ts';
import { type Book, type Candidate, gain, gainInterval, keptRatio, type Pair } from './book.ts';
import { keptSlack, leastKept } from './floor.ts';
import { meaningOf } from './meaning.ts';
import { notModelled } from './not-modelled.ts';
import type { ConfirmedSettings, SweepAdvice, SweepVerdict, TriedSettings } from './result.ts';
import type { SweepProblem } from './run.ts';
import { type PolicyChoice, poolsChoice, synchronousChoice } from './schedulers.ts';
import type { SearchOptions, SearchResult } from './search.ts';
import { labelOf, type PoolsSettings, type SweepSettings, type SynchronousSettings } from './settings.ts';

const interval = (pairs: readonly Pair[], statistic: (pairs: readonly Pair[]) => number): Interval =>
  bootstrap(pairs, statistic, { seed: 1 });
const mean = (pairs: readonly Pair[], value: (pair: Pair) => number): number =>
  ratio(sumOf(pairs, value), pairs.length);

/** Concludes. */
export function conclude(
  problem: SweepProblem,
  book: Book,
  result: SearchResult,
  { seed, effort, minKept }: SearchOptions,
): SweepAdvice {
  const { baseline } = book;
  const { reference, published, plain, chosen, confirmationSeeds } = result;
  const pairs = (one: Candidate, other: Candidate): Pair[] => book.pairs(one, other, confirmationSeeds);
  // The baseline is a candidate, too: as any other, it must be faster for sure to be preferred.
  const recommended = gainInterval(pairs(baseline, chosen)).low > 0 ? baseline : chosen;
  const verdict = verdictOf(recommended, result, baseline);
  const confirmed = (one: Candidate): ConfirmedSettings => {
    const both = pairs(one, baseline);
    return {
      settings: one.settings,
      label: one.settings === 'baseline' ? baselineLabel(problem) : labelOf(one.settings),
      secondsPerPrompt: interval(both, (cases) => mean(cases, (pair) => pair.one.secondsPerPrompt)),
      gain: gainInterval(both),
      keptTokenRatio: interval(both, keptRatio),
      cappedShare: mean(both, (pair) => pair.one.cappedShare),
    };
  };
  const compared = published.infeasible === undefined ? published : reference;
  const floor = leastKept(book, published, confirmationSeeds, minKept);
  const bounds = pairs(baseline, baseline);
  const boundSeconds = mean(bounds, ({ one }) => one.boundSecondsPerPrompt ?? 0);
  const workload = problem.workload(seed);
  const { name, source, resampling, correlation, capTokens, distinctPrompts } = workload;
  const facts = {
    verdict,
    job: problem.kind,
    recommended: confirmed(recommended),
    gainOverPublished: gainInterval(pairs(recommended, compared)),
    ...(recommended === chosen && plain !== chosen ? { gainOfTailBatching: gainInterval(pairs(chosen, plain)) } : {}),
    published: confirmed(compared),
    baseline: confirmed(baseline),
    clairvoyant: {
      secondsPerPrompt: boundSeconds,
      gain:
        1 -
        ratio(
          boundSeconds,
          mean(bounds, ({ one }) => one.secondsPerPrompt),
        ),
    },
    objective: { minimize: 'secondsPerPrompt' as const, leastKeptTokenRatio: floor, given: minKept !== undefined },
  };
  const found = triedOf(book, result, minKept);
  const promptsPerRound = problem.kind === 'pools' ? problem.job.groupsPerRound : problem.job.promptsPerRound;
  return {
    ...choiceOf(problem, recommended.settings),
    ...facts,
    meaning: meaningOf({ ...facts, tried: found.tried }),
    workload: {
      name,
      source,
      prompts: Number.isFinite(distinctPrompts) ? distinctPrompts : null,
      resampling,
      correlation,
      capTokens,
    },
    ...found,
    notModelled: notModelled(problem, seed, promptsPerRound),
    search: {
      seed,
      effort,
      steps: problem.steps,
      runs: result.runs,
      searchSeeds: result.searchSeeds,
      confirmationSeeds,
    },
    simulated: simulatedOf(problem),
  };
}

function verdictOf(recommended: Candidate, { published, reference }: SearchResult, baseline: Candidate): SweepVerdict {
  if (recommended === baseline) return 'baseline';
  if (recommended === published) return 'published';
  return recommended === reference ? 'unspeculative' : 'tuned';
}

const baselineLabel = ({ kind }: SweepProblem): string => (kind === 'pools' ? 'serial' : 'synchronous');

function choiceOf(problem: SweepProblem, settings: SweepSettings | 'baseline'): PolicyChoice {
  return problem.kind === 'pools'
    ? poolsChoice(problem.job, settings as PoolsSettings | 'baseline')
    : synchronousChoice(problem.job, settings as SynchronousSettings | 'baseline');
}

function triedOf(
  book: Book,
  { published, searchSeeds }: SearchResult,
  minKept: number | undefined,
): Pick<SweepAdvice, 'tried' | 'infeasible'> {
  const tried: TriedSettings[] = [];
  const infeasible: { settings: SweepSettings; why: string }[] = [];
  for (const one of book.all) {
    const settings = one.settings as SweepSettings;
    if (one.infeasible !== undefined) {
      infeasible.push({ settings, why: one.infeasible });
      continue;
    }
    const pairs = book.pairs(one, book.baseline, searchSeeds);
    if (pairs.length === 0) continue;
    const seen = searchSeeds.filter((seed) => one.runs.has(seed));
    const own = keptRatio(pairs);
    const least = leastKept(book, published, seen, minKept);
    tried.push({
      settings,
      label: labelOf(settings),
      seeds: pairs.length,
      secondsPerPrompt: mean(pairs, (pair) => pair.one.secondsPerPrompt),
      gain: gain(pairs),
      keptTokenRatio: own,
      cappedShare: mean(pairs, (pair) => pair.one.cappedShare),
      admissible: own >= least * (1 - (minKept === undefined ? keptSlack.search : 1e-9)),
    });
  }
  return { tried: tried.sort((a, b) => b.gain - a.gain), infeasible };
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
