/**
 * The search, coarse to fine, as a generator: it says which runs it wants and is given them back in the same order, so
 * that who makes them, and on how many cores, changes nothing.
 *
 * 1. coarse: all pairs of factors, and each other setting by itself, on few seeds;
 * 2. cross: the best of those together;
 * 3. fine: what lies beside the best, until nothing better is found;
 * 4. finals: successive halving, more seeds for fewer candidates;
 * 5. confirmation: the winners against the papers' setting on seeds that the search has not seen.
 */
import { PolicyError } from '../../errors.ts';
import { besideOne, diagonals, product } from './beside.ts';
import { type Book, type Candidate, difference, gain, gainInterval, keptRatio } from './book.ts';
import type { SweepEffort } from './effort.ts';
import { cautionShare, keptSlack, leastKept } from './floor.ts';
import type { SweepRun, SweepTask } from './run.ts';
import { provisionOf, type SweepSettings } from './settings.ts';
import { changed, isSpeculating, type SweepSpace, settingOf, withoutSpeculation } from './space.ts';

/** The parts of a search. */
export const sweepPhases = ['coarse', 'cross', 'fine', 'finals', 'confirmation'] as const;
/** A part of a search. */
export type SweepPhase = (typeof sweepPhases)[number];

/** Runs that a search wants next: one answer each, in this order. */
export interface SweepBatch {
  /** The part of the search that wants them. */
  readonly phase: SweepPhase;
  /** The runs, in the order in which their results are wanted. */
  readonly tasks: readonly SweepTask[];
  /** Runs that were made before these. */
  readonly doneRuns: number;
  /** With those that are still to come, about. */
  readonly plannedRuns: number;
}

/** What a search is given. */
export interface SearchOptions {
  readonly seed: number;
  readonly effort: SweepEffort;
  /** Least kept-token ratio; that of the papers' setting if absent. */
  readonly minKept?: number | undefined;
}

/** What a search has found. */
export interface SearchResult {
  /** The winner; `reference` where nothing is better. */
  readonly chosen: Candidate;
  /** The papers' setting, or the same without speculation where that keeps too few tokens. */
  readonly reference: Candidate;
  readonly published: Candidate;
  /** `chosen` without tail batching; itself where it has none. */
  readonly plain: Candidate;
  readonly searchSeeds: readonly number[];
  readonly confirmationSeeds: readonly number[];
  readonly runs: number;
}

const semifinalists = 8;
const finalists = 4;
/** Winners of the finals that may try the confirmation, beside the safest. */
const tries = 3;

/** Searches. Throws `PolicyError` `infeasible` where the job cannot run with the papers' setting, nor without speculation. */
export function* searching(
  space: SweepSpace,
  book: Book,
  { seed, effort, minKept }: SearchOptions,
): Generator<SweepBatch, SearchResult, readonly SweepRun[]> {
  const seedsTo = (count: number): number[] => Array.from({ length: count }, (_, index) => seed + index);
  const coarseSeeds = seedsTo(effort.coarseSeeds);
  const searchSeeds = seedsTo(effort.finalSeeds);
  const confirmationSeeds = seedsTo(effort.finalSeeds + effort.confirmationSeeds).slice(effort.finalSeeds);
  const { baseline } = book;
  const { published: settings, axes } = space;
  const published = book.candidate(settings);
  const unspeculative = book.candidate(withoutSpeculation(settings));
  let reference = published;
  let runs = 0;
  function* measure(
    phase: SweepPhase,
    candidates: Iterable<Candidate>,
    seeds: readonly number[],
    later: number,
  ): Generator<SweepBatch, void, readonly SweepRun[]> {
    const always = phase === 'confirmation' ? [baseline, published, reference] : [baseline, published, unspeculative];
    const tasks = book.missing([...always, ...candidates], seeds);
    if (tasks.length === 0) return;
    const results = yield { phase, tasks, doneRuns: runs, plannedRuns: runs + tasks.length + later };
    for (const [index, task] of tasks.entries()) book.note(task, results[index]!);
    runs += tasks.length;
  }
  const floor = (seeds: readonly number[]): number => leastKept(book, published, seeds, minKept);
  const keeps = (one: Candidate, seeds: readonly number[], slack: number): boolean => {
    const kept = keptRatio(book.pairs(one, baseline, seeds));
    return kept >= floor(seeds) * (1 - (minKept === undefined ? slack : 1e-9));
  };
  /** Admissible candidates that have seen all of these seeds, the fastest first; what came first where they tie. */
  const ranked = (seeds: readonly number[], among: readonly Candidate[] = book.all): Candidate[] => {
    const seen = new Set<string>();
    return among
      .filter((one) => one.infeasible === undefined && seeds.every((each) => one.runs.has(each)))
      .filter((one) => keeps(one, seeds, keptSlack.search))
      .filter((one) => {
        // What does the same in every run, such as an adaptive TP that never changes, need not be tried twice.
        const runs = JSON.stringify(seeds.map((each) => one.runs.get(each)));
        return !seen.has(runs) && seen.add(runs);
      })
      .map((one) => ({ one, saved: gain(book.pairs(one, baseline, seeds)) }))
      .sort((a, b) => b.saved - a.saved)
      .map(({ one }) => one);
  };

  // What comes after: each phase is guessed from what the ones before it were.
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
  const first = [...grid, ...alone].map((one) => book.candidate(one));
  yield* measure('coarse', first, coarseSeeds, 8 * effort.coarseSeeds + fine);
  if (published.infeasible !== undefined || !keeps(published, coarseSeeds, keptSlack.search)) {
    reference = unspeculative;
  }
  if (reference.infeasible !== undefined) {
    const expected = "a job that can run with the papers' settings";
    throw new PolicyError('infeasible', { expected, got: reference.infeasible });
  }

  const top = (list: readonly SweepSettings[], most: number): SweepSettings[] =>
    ranked(
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
    const around = ranked(coarseSeeds)
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
  // With the factors of the papers it keeps what they keep, whatever the seeds: it is there if nothing else is confirmed.
  const safest = (seeds: readonly number[]): Candidate[] =>
    ranked(seeds)
      .filter((one) =>
        crossed.every(({ name }) => settingOf(one.settings as SweepSettings, name) === settingOf(settings, name)),
      )
      .slice(0, 1);
  const best = ranked(coarseSeeds).slice(0, semifinalists);
  const semifinal = [...best, ...safest(coarseSeeds), ...best.slice(0, 2).map(plainOf)];
  yield* measure('finals', semifinal, semifinalSeeds, final - 2 * semifinalists);
  const last = ranked(semifinalSeeds).slice(0, finalists);
  const inLast = [...last, ...safest(semifinalSeeds), ...last.slice(0, 1).map(plainOf)];
  yield* measure('finals', inLast, searchSeeds, 6 * effort.confirmationSeeds);

  const inFinals = ranked(searchSeeds);
  const winners = winnersOf(inFinals);
  const inConfirmation = [...new Set([...winners.slice(0, tries), ...safest(searchSeeds)])];
  const confirmed = winners[0] === reference ? [] : inConfirmation;
  yield* measure('confirmation', confirmed, confirmationSeeds, 2 * effort.confirmationSeeds);
  const candidates = confirmed.filter((one) => one !== reference && one.infeasible === undefined);
  const chosen = surest(candidates, confirmationSeeds);
  yield* measure('confirmation', [chosen, plainOf(chosen)], confirmationSeeds, 0);
  const plain = isSpeculating(chosen.settings as SweepSettings) ? plainOf(chosen) : chosen;
  return { chosen, reference, published, plain, searchSeeds, confirmationSeeds, runs };

  /** The best lower end: what is faster for sure, not what may be the fastest; with less speculation, by a margin. */
  function surest(list: readonly Candidate[], seeds: readonly number[]): Candidate {
    let best = { one: reference, low: 0 };
    const asMuch = provisionOf(reference.settings as SweepSettings) - 1e-9;
    for (const isLess of [false, true]) {
      const least = isLess ? best.low + cautionShare : 0;
      for (const one of list) {
        if (
          provisionOf(one.settings as SweepSettings) < asMuch !== isLess ||
          !keeps(one, seeds, keptSlack.confirmation)
        )
          continue;
        const { low } = gainInterval(book.pairs(one, reference, seeds));
        if (low > Math.max(best.low, least)) best = { one, low };
      }
    }
    return best.one;
  }

  /**
   * The one-standard-error rule: nothing is preferred to the reference that is not faster by more than the standard error of
   * the difference; of what is no slower than the fastest by more than that, what keeps the most tokens comes first.
   */
  function winnersOf(list: readonly Candidate[]): Candidate[] {
    const fastest = list[0];
    if (fastest === undefined) return [reference];
    const within = (one: Candidate): boolean => {
      const { mean, error } = difference(book.pairs(fastest, one, searchSeeds));
      return mean <= error;
    };
    const close = list.filter(within);
    if (close.includes(reference)) return [reference];
    const kept = (one: Candidate): number => keptRatio(book.pairs(one, baseline, searchSeeds));
    const preferred = [...close].sort((a, b) => kept(b) - kept(a));
    const rest = list.slice(0, list.indexOf(reference) < 0 ? undefined : list.indexOf(reference));
    return [...new Set([...preferred, ...rest])];
  }
}
