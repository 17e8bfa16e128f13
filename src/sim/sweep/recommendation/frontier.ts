/**
 * Compares time and kept tokens if each prompt comes several times: no speculation, tail batching, and the lossless tail, which
 * learns the lengths of prompts and keeps every response. All rows are runs on the same prompts and samples.
 */
import type { Interval } from '../../comparison/result.ts';
import { fasterText, plainSigns, speedupOf } from '../../report/faster.ts';
import type { Workload } from '../../workload/workload.ts';
import { Book, type Candidate, gainInterval, keptRatio, longestRatio } from '../book.ts';
import { responsesOfRound } from '../plan.ts';
import type { FrontierRow, SweepAdvice, SweepFrontier } from '../result.ts';
import { promptsOf, type SweepRun, type SynchronousProblem, stepsOf } from '../run.ts';
import type { SweepBatch } from '../search/batch.ts';
import { withoutLevers } from '../settings/levers.ts';
import { synchronousChoice } from '../settings/schedulers.ts';
import { labelOf, type SynchronousSettings } from '../settings/settings.ts';
import { sweepSpace, withoutSpeculation } from '../space.ts';
import { mean } from './rows.ts';

const windows = [5, 10, 20];
const factors = [1.125, 1.25, 1.5];
/** W and the factors of partial rollouts that are composed by length. */
const partialWindow = 10;
const partialFactors = [1.25, 1.5];
/** Sums of the same numbers in another order differ in their last digits. */
const rounding = 1e-9;
/** The interval is for one more run on prompts of this trace. */
const oneMoreRun = { run: 1, prompts: 0, rounds: 1 };

/** Returns the rows to measure: other settings are those of the recommendation, or fixed by the host. */
function settingsToTry(
  { job, levers }: SynchronousProblem,
  { recommended, published, objective }: SweepAdvice,
): {
  plain: SynchronousSettings;
  tails: SynchronousSettings[];
  lossless: SynchronousSettings[];
} {
  const chosen = (recommended.settings === 'baseline' ? published : recommended).settings as SynchronousSettings;
  const plain = withoutSpeculation(chosen);
  const { maxLag: maxStaleness = 0 } = objective.limits;
  const isTried = maxStaleness > 0 && (levers?.resumes ?? true);
  const partial = isTried
    ? partialFactors.map((promptSpeculation) => ({ ...plain, promptSpeculation, maxStaleness }))
    : [];
  const fixed = levers === undefined ? {} : withoutLevers(job, levers);
  const tails = factors.map((factor) => {
    return { ...plain, promptSpeculation: factor, responseSpeculation: factor, ...fixed };
  });
  return {
    plain,
    // The first of settings with the same effect gives the name.
    tails: [chosen, ...tails, ...partial],
    lossless: [
      ...windows.map((windowRounds) => ({ ...plain, windowRounds })),
      ...partial.map((one) => ({ ...one, windowRounds: partialWindow })),
    ],
  };
}

/** Where a budget cuts the runs: seeds, those of all rows, and the least steps, in which the longer windows still show. */
const cut = { seeds: 4, ofAll: 2, steps: 20 } as const;

/**
 * Measures the frontier on the seeds of the confirmation. Where that is more work than the budget, some windows and factors are left
 * out, and only the fastest lossless tail and what it is compared with have more than a first few runs.
 *
 * @param budget - simulated responses, about
 */
export function* measuringFrontier(
  problem: SynchronousProblem,
  advice: SweepAdvice,
  epochs: number,
  budget = Number.POSITIVE_INFINITY,
): Generator<SweepBatch, SweepFrontier, readonly SweepRun[]> {
  const { runs: before, confirmationSeeds } = advice.search;
  const workload = problem.workload(confirmationSeeds[0]!);
  const correlationIs =
    workload.resampling === 'marginal' ? 'assumed' : workload.correlation > 0 ? 'measured' : 'unknown';
  const book = new Book(sweepSpace(problem));
  const given = settingsToTry(problem, advice);
  const plain = book.candidate(given.plain);
  // If one recorded response were drawn again and again, every prediction would come true.
  const lossless = correlationIs === 'unknown' ? [] : given.lossless.map((one) => book.candidate(one));
  const tails = given.tails.map((one) => book.candidate(one));
  const whole = [...new Set([book.baseline, plain, ...tails, ...lossless])];
  const usual = stepsOf(problem, 'confirmation');
  const ofStep = (list: readonly Candidate[]): number =>
    list.reduce((sum, { settings }) => sum + responsesOfRound(problem, settings), 0);
  const isCut = ofStep(whole) * usual * confirmationSeeds.length > budget;
  const few = [...new Set([book.baseline, plain, ...tails.slice(0, 1), ...lossless.slice(1)])];
  const candidates = isCut ? few : whole;
  const seeds = isCut ? confirmationSeeds.slice(0, cut.seeds) : confirmationSeeds;
  const runsOfStep = cut.ofAll * ofStep(few) + (seeds.length - cut.ofAll) * ofStep(few.slice(0, 4));
  const steps = isCut ? Math.min(usual, Math.max(cut.steps, Math.floor(budget / runsOfStep))) : usual;
  const more = isCut ? { steps } : {};
  let runs = 0;
  let done = advice.search.responses;
  function* measure(
    list: readonly Candidate[],
    on: readonly number[],
  ): Generator<SweepBatch, void, readonly SweepRun[]> {
    const tasks = on.flatMap((seed) => list.map(({ settings }) => ({ settings, seed, epochs, ...more })));
    const doneRuns = before + runs;
    const next = on.length * steps * ofStep(list);
    const responses = { done, next, planned: Math.max(done + next, advice.search.responses + (isCut ? budget : 0)) };
    const results = yield { phase: 'frontier', tasks, doneRuns, plannedRuns: doneRuns + tasks.length, responses };
    done += next;
    for (const [index, task] of tasks.entries()) book.note(task, results[index]!);
    runs += tasks.length;
  }
  yield* measure(candidates, isCut ? seeds.slice(0, cut.ofAll) : seeds);
  if (isCut) {
    const seconds = (one: Candidate): number =>
      mean(book.pairs(one, book.baseline, seeds), (pair) => pair.one.secondsPerPrompt);
    const ended = few.filter(({ infeasible }) => infeasible === undefined);
    const fastest = lossless.filter((one) => ended.includes(one)).sort((a, b) => seconds(a) - seconds(b));
    const compared = [book.baseline, plain, ...tails.slice(0, 1), ...fastest.slice(0, 1)];
    yield* measure(
      [...new Set(compared)].filter((one) => ended.includes(one)),
      seeds.slice(cut.ofAll),
    );
  }

  const ran = different(candidates);
  const measured = ran.map((one) => {
    const pairs = book.pairs(one, book.baseline, seeds);
    const settings = one.settings as FrontierRow['settings'];
    return {
      settings,
      label: settings === 'baseline' ? 'synchronous' : labelOf(settings),
      secondsPerPrompt: mean(pairs, (pair) => pair.one.secondsPerPrompt),
      gain: settings === 'baseline' ? null : gainInterval(pairs, oneMoreRun),
      keptTokenRatio: keptRatio(pairs),
      longestTrainedRatio: longestRatio(pairs),
      staleShare: mean(pairs, (pair) => pair.one.staleShare),
      maxLag: pairs.reduce((most, { one: { maxLag } }) => Math.max(most, maxLag), 0),
    };
  });
  const rows = measured
    .map((one): FrontierRow => ({ ...one, isOnFrontier: !measured.some((other) => isBetter(other, one)) }))
    .sort((a, b) => keptOf(b) - keptOf(a) || a.secondsPerPrompt - b.secondsPerPrompt);
  const best = rows.find(({ settings }) => settings !== 'baseline' && settings.windowRounds !== undefined);
  const settings = best?.settings as SynchronousSettings | undefined;
  const gain =
    settings === undefined ? null : gainInterval(book.pairs(book.candidate(settings), plain, seeds), oneMoreRun);
  const isSure = correlationIs === 'measured' && gain !== null && gain.low > 0;
  return {
    epochs,
    steps,
    dataSetPrompts: Math.min(Math.ceil((steps * promptsOf(problem)) / epochs), workload.distinctPrompts),
    runs,
    rows,
    losslessGain: gain,
    correlationIs,
    correlation: workload.correlation,
    correlationOfEpochs: workload.correlationOfEpochs ?? null,
    lossless: isSure ? synchronousChoice(problem.job, settings!) : null,
    meaning: best === undefined ? [untold] : meaningOf(workload, best, gain!, isSure, rows),
  };
}

/**
 * Returns the candidates that could run, without those that equal an earlier one in every run, such as a window beyond the data.
 */
function different(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>();
  return candidates.filter(({ infeasible, runs }) => {
    const did = JSON.stringify([...runs]);
    return infeasible === undefined && !seen.has(did) && seen.add(did);
  });
}

type Point = Pick<FrontierRow, 'secondsPerPrompt' | 'keptTokenRatio'>;
/** Tokens beyond the baseline's are luck of the draw, and nothing is kept better. */
const keptOf = ({ keptTokenRatio }: Point): number => (keptTokenRatio > 1 - rounding ? 1 : keptTokenRatio);

function isBetter(one: Point, than: Point): boolean {
  const [faster, keeps] = [than.secondsPerPrompt - one.secondsPerPrompt, keptOf(one) - keptOf(than)];
  return faster >= 0 && keeps >= 0 && (faster > 0 || keeps > 0);
}

const nameOf = ({ windowRounds, maxStaleness, promptSpeculation }: SynchronousSettings): string =>
  `The lossless tail (W ${windowRounds}${maxStaleness === undefined ? '' : `, partial rollout ${promptSpeculation}`})`;

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

const untold =
  'Whether the lossless tail pays cannot be told from this trace: no prompt has two responses, or they have nothing in common. It is not recommended.';

function meaningOf(
  { correlation, correlationOfEpochs, resampling }: Workload,
  { settings, secondsPerPrompt, staleShare, maxLag }: FrontierRow,
  gain: Interval,
  isSure: boolean,
  rows: readonly FrontierRow[],
): string[] {
  const { windowRounds } = settings as SynchronousSettings;
  const stale =
    maxLag === 0
      ? ''
      : ` ${percent(staleShare)} of its tokens are stale, by up to ${maxLag} version${maxLag === 1 ? '' : 's'}.`;
  const saves = `${nameOf(settings as SynchronousSettings)} is ${fasterText(speedupOf(gain), plainSigns, 'without speculation')}, keeps every response, and moves a prompt by at most ${windowRounds! - 1} rounds.${stale}`;
  const rho = correlation.toFixed(2);
  if (resampling === 'marginal') {
    return [
      saves,
      `That follows from an assumption: the trace has no prompts, and responses of a prompt are assumed to correlate by ${rho} (--correlation), in later epochs, too. It is not recommended before that is measured.`,
    ];
  }
  const flatters = resampling.endsWith('within-prompt') ? ', which flatters every prediction: they come again' : '';
  const later =
    correlationOfEpochs === undefined
      ? 'that they do so in later epochs, too, is assumed'
      : `in different steps by ${correlationOfEpochs.toFixed(2)}, measured on the prompts that come again`;
  const basis = `Responses of a prompt correlate by ${rho} in this trace; ${later} (lengths: ${resampling}${flatters}).`;
  if (!isSure) {
    return [saves, basis, 'It is not sure to be faster than no speculation, so it is not recommended.'];
  }
  const [faster] = rows.filter((one) => one.secondsPerPrompt < secondsPerPrompt);
  const advice =
    faster === undefined
      ? 'Nothing is faster here: it is recommended where prompts come back.'
      : `It is recommended where prompts come back and no response may be given up. Of what is faster, ${faster.label} keeps most tokens, ${faster.keptTokenRatio.toFixed(2)}.`;
  return [
    saves,
    basis,
    advice,
    'Its policy is rollpacker with composition in place of tailBatching (--json, frontier.lossless); recipe lossless-tail is that without rewards and training.',
  ];
}
