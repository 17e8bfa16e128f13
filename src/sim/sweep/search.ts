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
 * If prompts come back, the frontier follows (`frontier.ts`).
 */
import { refuse } from '../../errors.ts';
import type { Book, Candidate } from './book.ts';
import type { SweepEffort } from './effort.ts';
import type { Spread } from './interval.ts';
import { besideOne, diagonals, product } from './neighbours.ts';
import type { SweepLimits } from './result.ts';
import { Rules } from './rules.ts';
import type { SweepRun, SweepTask } from './run.ts';
import type { SweepSettings } from './settings/settings.ts';
import { changed, isSpeculating, type SweepSpace, settingOf, withoutSpeculation } from './space.ts';

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
}

/** Options of a search. */
export interface SearchOptions {
  readonly seed: number;
  readonly effort: SweepEffort;
  readonly limits: SweepLimits;
  /** Whether the job has an oracle schedule. */
  readonly hasOracle: boolean;
  /** Spread of an independent run. */
  readonly spread: Spread;
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
  readonly runs: number;
}

const semifinalists = 8;
const finalists = 4;
/** Number of winners of the finals that enter the confirmation, beside the safest candidate. */
const tries = 2;
/** Number of confirmation seeds on which the oracle runs; the oracle's share has no interval. */
const oracleSeeds = 3;

/** Searches. Throws `PolicyError` `infeasible` if the job can run neither with the papers' settings nor without speculation. */
export function* searching(
  space: SweepSpace,
  book: Book,
  { seed, effort, limits, hasOracle, spread }: SearchOptions,
): Generator<SweepBatch, SearchResult, readonly SweepRun[]> {
  const seedsTo = (count: number): number[] => Array.from({ length: count }, (_, index) => seed + index);
  const coarseSeeds = seedsTo(effort.coarseSeeds);
  const searchSeeds = seedsTo(effort.finalSeeds);
  const confirmationSeeds = seedsTo(effort.finalSeeds + effort.confirmationSeeds).slice(effort.finalSeeds);
  const { baseline } = book;
  const { published: settings, axes } = space;
  const published = book.candidate(settings);
  const unspeculative = book.candidate(withoutSpeculation(settings));
  const rules = new Rules({ book, published, limits, spread });
  let runs = 0;
  function* measure(
    phase: SweepPhase,
    candidates: Iterable<Candidate>,
    seeds: readonly number[],
    later: number,
    more: readonly SweepTask[] = [],
  ): Generator<SweepBatch, void, readonly SweepRun[]> {
    const part = phase === 'confirmation' ? phase : 'search';
    const always = part === 'confirmation' ? [baseline, published] : [baseline, published, unspeculative];
    const tasks = [...book.missing([...always, ...candidates], seeds, part), ...more];
    if (tasks.length === 0) return;
    const results = yield { phase, tasks, doneRuns: runs, plannedRuns: runs + tasks.length + later };
    for (const [index, task] of tasks.entries()) book.note(task, results[index]!);
    runs += tasks.length;
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
  const first = [...grid, ...alone].map((one) => book.candidate(one));
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

  const winners = rules.winners(rules.ranked(searchSeeds), reference, searchSeeds);
  const inConfirmation = [...new Set([...winners.slice(0, tries), ...safest(searchSeeds)])];
  const confirmed = winners[0] === reference ? [] : inConfirmation;
  yield* measure('confirmation', [reference, ...confirmed], confirmationSeeds, 2 * effort.confirmationSeeds);
  if (!rules.isWithin(reference, confirmationSeeds, 'confirmation')) {
    reference = unspeculative;
    yield* measure('confirmation', [reference], confirmationSeeds, effort.confirmationSeeds);
  }
  const candidates = confirmed.filter((one) => one !== reference && one.infeasible === undefined);
  const chosen = rules.surest(candidates, reference, confirmationSeeds);
  // Both kinds of runs are in one batch, so that threads can share them.
  const byOracle = book.missing(
    hasOracle ? [book.oracle] : [],
    confirmationSeeds.slice(0, oracleSeeds),
    'confirmation',
  );
  yield* measure('confirmation', [chosen, plainOf(chosen)], confirmationSeeds, 0, byOracle);
  const plain = isSpeculating(chosen.settings as SweepSettings) ? plainOf(chosen) : chosen;
  return { rules, chosen, reference, published, plain, searchSeeds, confirmationSeeds, runs };
}
