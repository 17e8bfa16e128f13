/**
 * The search, coarse to fine, as a generator: the search yields the runs that it needs, and receives their results in the same
 * order, so that the result depends neither on the caller nor on the number of cores.
 *
 * 1. coarse: all pairs of factors, and each other setting alone, on few seeds;
 * 2. cross: combinations of the best of these;
 * 3. fine: the neighbours of the best settings, until they have no untried neighbours or the rounds are used up;
 * 4. finals: successive halving, more seeds for fewer candidates;
 * 5. confirmation: the winners against the papers' setting in longer runs, on new seeds and prompts.
 *
 * The first runs are those of the baseline and of the papers' settings, so that there is a first figure soon. A plan with a budget
 * leaves out the last candidates of a part that would exceed its share, and the confirmation takes what is left.
 *
 * If prompts come back, the frontier follows (`frontier.ts`).
 */
import { refuse } from '../../errors.ts';
import type { Interval } from '../comparison/result.ts';
import { type Book, type Candidate, gain, gainInterval } from './book.ts';
import type { Spread } from './interval.ts';
import { besideOne, diagonals, product } from './neighbours.ts';
import { confirmationWithin, responsesOf, responsesOfRound, type SearchPlan, shares } from './plan.ts';
import type { SweepLimits } from './result.ts';
import { Rules } from './rules.ts';
import type { SweepProblem, SweepRun, SweepTask } from './run.ts';
import { labelOf, type SweepSettings } from './settings/settings.ts';
import { changed, isSpeculating, type SweepSpace, settingOf, withoutSpeculation } from './space.ts';
import type { SweepPart } from './split.ts';

/** The parts of a search. */
export const sweepPhases = ['coarse', 'cross', 'fine', 'finals', 'confirmation', 'frontier'] as const;
/** A part of a search. */
export type SweepPhase = (typeof sweepPhases)[number];

/** The next runs of a search; the caller answers with one result per run, in this order. */
export interface SweepBatch {
  /** The part of the search. */
  readonly phase: SweepPhase;
  /** The runs, in the order in which the search expects their results. */
  readonly tasks: readonly SweepTask[];
  /** Number of runs before this batch. */
  readonly doneRuns: number;
  /** Estimated number of all runs, including later ones. */
  readonly plannedRuns: number;
  /** Simulated responses before this batch, of this batch, and of all runs, about. */
  readonly responses: { readonly done: number; readonly next: number; readonly planned: number };
  /** The best settings so far; absent before the first runs. */
  readonly found?: FoundSettings;
}

/** The best settings of a search that goes on. */
export interface FoundSettings {
  /** Short text of the settings, for readers. */
  readonly label: string;
  /** Share of the baseline's time per trained prompt that they save, so far. */
  readonly gain: Interval;
  /** Number of runs of it. */
  readonly seeds: number;
}

/** Options of a search. */
export interface SearchOptions {
  readonly seed: number;
  readonly plan: SearchPlan;
  readonly limits: SweepLimits;
  /** Returns the spread of an independent run, compared with confirmations of so many steps. */
  readonly spreadOf: (steps: number) => Spread;
}

/** The result of a search. */
export interface SearchResult {
  readonly rules: Rules;
  /** The best candidate; `reference` if nothing is better. */
  readonly chosen: Candidate;
  /** The papers' settings, or the same without speculation if the papers' are not within the limits. */
  readonly reference: Candidate;
  readonly published: Candidate;
  /** `chosen` without tail batching; the same as `chosen` if that has none. */
  readonly plain: Candidate;
  readonly searchSeeds: readonly number[];
  readonly confirmationSeeds: readonly number[];
  /** Steps of a run of the confirmation. */
  readonly confirmationSteps: number;
  /** Spread of an independent run, compared with runs of the confirmation. */
  readonly spread: Spread;
  readonly runs: number;
  /** Simulated responses of these runs, about. */
  readonly responses: number;
}

const semifinalists = 8;
const finalists = 4;
/** Number of winners of the finals that enter the confirmation, beside the safest candidate. */
const tries = 2;
/** Number of confirmation seeds on which the oracle runs; the oracle's share has no interval. */
const oracleSeeds = 3;
/** The same where a budget cuts the search. */
const cutOracleSeeds = 2;

/** Searches. Throws `PolicyError` `infeasible` if the job can run neither with the papers' settings nor without speculation. */
export function* searching(
  problem: SweepProblem,
  space: SweepSpace,
  book: Book,
  { seed, plan, limits, spreadOf }: SearchOptions,
): Generator<SweepBatch, SearchResult, readonly SweepRun[]> {
  const { effort, budget } = plan;
  const isCut = budget < Number.POSITIVE_INFINITY;
  const seedsTo = (count: number): number[] => Array.from({ length: count }, (_, index) => seed + index);
  const coarseSeeds = seedsTo(effort.coarseSeeds);
  const searchSeeds = seedsTo(effort.finalSeeds);
  const firstSeeds = seedsTo(plan.firstSeeds);
  const seenSeeds = seedsTo(Math.max(plan.firstSeeds, effort.finalSeeds));
  let confirmationSeeds = seedsTo(seenSeeds.length + effort.confirmationSeeds).slice(seenSeeds.length);
  let { confirmationSteps } = plan;
  let spread = spreadOf(confirmationSteps);
  const { baseline } = book;
  const { published: settings, axes } = space;
  const published = book.candidate(settings);
  const unspeculative = book.candidate(withoutSpeculation(settings));
  const rules = new Rules({ book, published, limits });
  let runs = 0;
  let responses = 0;
  const work = (tasks: readonly SweepTask[]): number =>
    tasks.reduce((sum, task) => sum + responsesOf(problem, task), 0);

  /** Returns the best settings that have run on two seeds or more. */
  function found(part: SweepPart): FoundSettings | undefined {
    const seeds = part === 'confirmation' ? confirmationSeeds : seenSeeds;
    const seen = book.all
      .map((one) => ({ one, pairs: book.pairs(one, baseline, seeds) }))
      .filter(({ pairs }) => pairs.length > 1);
    const most = Math.max(...seen.map(({ pairs }) => pairs.length));
    const [best] = seen
      .filter(({ one, pairs }) => pairs.length === most && rules.isWithin(one, seeds, 'search'))
      .sort((a, b) => gain(b.pairs) - gain(a.pairs));
    if (best === undefined) return part === 'confirmation' ? found('search') : undefined;
    const label = labelOf(best.one.settings as SweepSettings);
    return { label, gain: gainInterval(best.pairs, spread), seeds: most };
  }

  function* measure(
    phase: SweepPhase,
    candidates: Iterable<Candidate>,
    seeds: readonly number[],
    later: number,
    more: readonly SweepTask[] = [],
  ): Generator<SweepBatch, void, readonly SweepRun[]> {
    const part = phase === 'confirmation' ? phase : 'search';
    const always = part === 'confirmation' ? [baseline, published] : [baseline, published, unspeculative];
    const steps = isCut ? (part === 'confirmation' ? confirmationSteps : plan.steps) : undefined;
    const missing = (list: Iterable<Candidate>): SweepTask[] => book.missing(list, seeds, part, steps);
    // The first candidates of a part come first: what exceeds its share of the budget is left out.
    const within = new Set(always);
    let left =
      part === 'search' ? shares[phase] * budget - responses - work(missing(always)) : Number.POSITIVE_INFINITY;
    for (const one of candidates) {
      if (within.has(one)) continue;
      left -= work(missing([one]));
      if (left < 0) break;
      within.add(one);
    }
    const tasks = [...missing(within), ...more];
    if (tasks.length === 0) return;
    const best = found(part);
    const planned = { doneRuns: runs, plannedRuns: runs + tasks.length + later };
    const next = work(tasks);
    const amounts = { done: responses, next, planned: Math.max(plan.expected, responses + next) };
    const results = yield {
      phase,
      tasks,
      ...planned,
      responses: amounts,
      ...(best === undefined ? {} : { found: best }),
    };
    for (const [index, task] of tasks.entries()) book.note(task, results[index]!);
    runs += tasks.length;
    responses += next;
  }

  // The number of runs in later parts is estimated from the earlier ones.
  const final =
    2 * semifinalists + finalists * (effort.finalSeeds - effort.semifinalSeeds) + 6 * effort.confirmationSeeds;
  const fine = 12 * effort.coarseSeeds * effort.fineRounds + final;

  const crossed = axes.filter((axis) => axis.crossed);
  const single = axes.filter((axis) => !axis.crossed);
  const grid = product(
    settings,
    crossed.map(({ name, coarse }) => [name, coarse] as const),
  );
  const alone = single.flatMap(({ name, coarse }) => coarse.map((value) => changed(settings, name, value)));
  const order = isCut ? [...alone, ...nearest(grid, settings, crossed)] : [...grid, ...alone];
  const first = order.map((one) => book.candidate(one));
  const laterThanFirst = first.length * effort.coarseSeeds + 8 * effort.coarseSeeds + fine;
  yield* measure('coarse', [], firstSeeds, laterThanFirst);
  yield* measure('coarse', first, coarseSeeds, 8 * effort.coarseSeeds + fine);
  const isFit = published.infeasible === undefined && rules.isWithin(published, coarseSeeds, 'search');
  let reference = isFit ? published : unspeculative;
  if (reference.infeasible !== undefined) {
    const expected = "a job that can run with the papers' settings";
    refuse('infeasible', '', expected, reference.infeasible);
  }

  const top = (list: readonly SweepSettings[], most: number): SweepSettings[] =>
    rules
      .ranked(
        coarseSeeds,
        list.map((one) => book.candidate(one)),
      )
      .slice(0, most)
      .map((one) => one.settings as SweepSettings);
  const bestFactors = top(grid, 3);
  const others = single.map(
    ({ name, coarse }) =>
      [
        name,
        top(
          coarse.map((value) => changed(settings, name, value)),
          2,
        ).map((one) => settingOf(one, name)),
      ] as const,
  );
  const cross = bestFactors.flatMap((one) => product(one, others)).map((one) => book.candidate(one));
  yield* measure('cross', cross, coarseSeeds, fine);

  const looked = new Set<Candidate>();
  for (let round = 0; round < effort.fineRounds; round += 1) {
    const around = rules
      .ranked(coarseSeeds)
      .slice(0, 2)
      .filter((one) => !looked.has(one));
    if (around.length === 0) break;
    for (const one of around) looked.add(one);
    const beside = around
      .flatMap(({ settings: at }) => [
        ...besideOne(at as SweepSettings, axes),
        ...diagonals(at as SweepSettings, crossed),
      ])
      .map((one) => book.candidate(one));
    yield* measure('fine', beside, coarseSeeds, 12 * effort.coarseSeeds * (effort.fineRounds - round - 1) + final);
  }

  const semifinalSeeds = seedsTo(effort.semifinalSeeds);
  const plainOf = (one: Candidate): Candidate => book.candidate(withoutSpeculation(one.settings as SweepSettings));
  // Settings with the papers' factors keep as many tokens on all seeds, so they are the fallback if no other settings are
  // confirmed.
  const safest = (seeds: readonly number[]): Candidate[] =>
    rules
      .ranked(seeds)
      .filter((one) =>
        crossed.every(({ name }) => settingOf(one.settings as SweepSettings, name) === settingOf(settings, name)),
      )
      .slice(0, 1);
  const best = rules.ranked(coarseSeeds).slice(0, semifinalists);
  const semifinal = [...best, ...safest(coarseSeeds), ...best.slice(0, 2).map(plainOf)];
  yield* measure('finals', semifinal, semifinalSeeds, final - 2 * semifinalists);
  const last = rules.ranked(semifinalSeeds).slice(0, finalists);
  const inLast = [...last, ...safest(semifinalSeeds), ...last.slice(0, 1).map(plainOf)];
  yield* measure('finals', inLast, searchSeeds, 6 * effort.confirmationSeeds);

  const ranked = rules.ranked(searchSeeds);
  const winners = rules.winners(ranked, reference, searchSeeds);
  // A cut search sees differences less clearly: what looks faster is left to the confirmation.
  const faster = ranked.slice(0, Math.max(0, ranked.indexOf(reference)));
  const entering = isCut && winners[0] === reference ? faster : winners.filter((one) => one !== reference);
  const inConfirmation = [...new Set([...entering.slice(0, tries), ...safest(searchSeeds)])];
  let confirmed = entering.length === 0 ? [] : inConfirmation;
  if (isCut) {
    const contenders = confirmed.filter((one) => one !== reference);
    const stepsOf = (one: Candidate): number => responsesOfRound(problem, one.settings);
    // All of them run on the first half of the seeds, the likeliest on the others, and the same without tail batching on half.
    const ofStep = (seeds: number): number => {
      const half = Math.ceil(seeds / 2);
      const most = Math.max(0, ...contenders.map(stepsOf));
      const all = contenders.reduce((sum, one) => sum + stepsOf(one), 0);
      const fixed = new Set([baseline, published, reference]);
      const always = [...fixed].reduce((sum, one) => sum + stepsOf(one), 0);
      return (
        seeds * always + half * (all + stepsOf(unspeculative)) + (seeds - half) * most + oracleRuns * stepsOf(baseline)
      );
    };
    const oracleRuns = problem.kind === 'synchronous' ? cutOracleSeeds : 0;
    const { seeds, steps } = confirmationWithin(plan, budget - responses, ofStep);
    confirmationSeeds = confirmationSeeds.slice(0, seeds);
    confirmationSteps = steps;
    spread = spreadOf(steps);
    const raced = confirmationSeeds.slice(0, Math.ceil(seeds / 2));
    yield* measure('confirmation', [reference, ...confirmed], raced, 4 * seeds);
    const likeliest = rules.likeliest(
      contenders.filter((one) => one.infeasible === undefined),
      reference,
      raced,
    );
    confirmed = likeliest === undefined ? [] : [likeliest];
  }
  yield* measure('confirmation', [reference, ...confirmed], confirmationSeeds, 2 * effort.confirmationSeeds);
  if (!rules.isWithin(reference, confirmationSeeds, 'confirmation')) {
    reference = unspeculative;
    yield* measure('confirmation', [reference], confirmationSeeds, effort.confirmationSeeds);
  }
  const candidates = confirmed.filter((one) => one !== reference && one.infeasible === undefined);
  const chosen = rules.surest(candidates, reference, confirmationSeeds, spread);
  // Both kinds of runs are in one batch, so that threads can share them.
  const byOracle = book.missing(
    problem.kind === 'synchronous' ? [book.oracle] : [],
    confirmationSeeds.slice(0, isCut ? cutOracleSeeds : oracleSeeds),
    'confirmation',
    isCut ? confirmationSteps : undefined,
  );
  const plainSeeds = isCut ? confirmationSeeds.slice(0, Math.ceil(confirmationSeeds.length / 2)) : confirmationSeeds;
  yield* measure('confirmation', [chosen, plainOf(chosen)], plainSeeds, 0, byOracle);
  const plain = isSpeculating(chosen.settings as SweepSettings) ? plainOf(chosen) : chosen;
  const sizes = { searchSeeds, confirmationSeeds, confirmationSteps, spread, runs, responses };
  return { rules, chosen, reference, published, plain, ...sizes };
}

/** Returns settings, the nearest to some settings first; equally near ones keep their order. */
function nearest(
  list: readonly SweepSettings[],
  to: SweepSettings,
  crossed: readonly { readonly name: string }[],
): SweepSettings[] {
  const distance = (one: SweepSettings): number =>
    crossed.reduce((sum, { name }) => sum + Math.abs(Number(settingOf(one, name)) - Number(settingOf(to, name))), 0);
  return [...list].sort((a, b) => distance(a) - distance(b));
}
