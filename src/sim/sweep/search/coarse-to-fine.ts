/**
 * The search of all that an effort has: all pairs of factors, and each other setting alone, on few seeds; combinations of the best of
 * these; the neighbours of the best settings, until they have no untried neighbours or the rounds are used up; then more seeds for
 * fewer candidates (successive halving).
 */
import type { Book, Candidate } from '../book.ts';
import type { SweepEffort } from '../effort.ts';
import type { SweepRun } from '../run.ts';
import type { SweepSettings } from '../settings/settings.ts';
import { changed, type SweepSpace, settingOf, withoutSpeculation } from '../space.ts';
import type { SweepBatch, SweepPhase } from './batch.ts';
import type { Measuring } from './measuring.ts';
import { besideOne, diagonals, product } from './neighbours.ts';
import type { Rules } from './rules.ts';

/** Options of a search from coarse to fine. */
export interface CoarseToFineOptions {
  readonly space: SweepSpace;
  readonly book: Book;
  readonly rules: Rules;
  readonly effort: SweepEffort;
  readonly always: readonly Candidate[];
  /** The papers' settings, or what stands for them. */
  readonly reference: Candidate;
  /** Seeds of the finals; the first parts have the first of them. */
  readonly seeds: readonly number[];
}

const semifinalists = 8;
const finalists = 4;
/** Number of winners of the finals that enter the confirmation, beside the safest candidate. */
const tries = 2;

/** Searches, and returns the candidates for the confirmation; none if nothing is faster than the reference. */
export function* coarseToFine(
  measuring: Measuring,
  { space: { published, axes }, book, rules, effort, always, reference, seeds: searchSeeds }: CoarseToFineOptions,
): Generator<SweepBatch, readonly Candidate[], readonly SweepRun[]> {
  const { coarseSeeds, semifinalSeeds, finalSeeds, confirmationSeeds, fineRounds } = effort;
  const seeds = searchSeeds.slice(0, coarseSeeds);
  // The number of runs in later parts is estimated from the earlier ones.
  const confirmation = 6 * confirmationSeeds;
  const finals = finalists * (finalSeeds - semifinalSeeds) + confirmation;
  const later = 2 * semifinalists + finals;
  const measure = (phase: SweepPhase, settings: readonly SweepSettings[], more: number) =>
    measuring.measure({
      phase,
      candidates: settings.map((one) => book.candidate(one)),
      seeds,
      always,
      later: more * coarseSeeds + later,
    });
  const crossed = axes.filter((axis) => axis.crossed);
  const single = axes.filter((axis) => !axis.crossed);
  const grid = product(
    published,
    crossed.map(({ name, coarse }) => [name, coarse] as const),
  );
  const alone = single.flatMap(({ name, coarse }) => coarse.map((value) => changed(published, name, value)));
  yield* measure('coarse', [...grid, ...alone], 8 + 12 * fineRounds);

  const top = (list: readonly SweepSettings[], most: number): SweepSettings[] =>
    rules
      .ranked(
        seeds,
        list.map((one) => book.candidate(one)),
      )
      .slice(0, most)
      .map((one) => one.settings as SweepSettings);
  const others = single.map(({ name, coarse }) => {
    const best = top(
      coarse.map((value) => changed(published, name, value)),
      2,
    );
    return [name, best.map((one) => settingOf(one, name))] as const;
  });
  const cross = top(grid, 3).flatMap((one) => product(one, others));
  yield* measure('cross', cross, 12 * fineRounds);

  const looked = new Set<Candidate>();
  for (let round = 0; round < fineRounds; round += 1) {
    const around = rules
      .ranked(seeds)
      .slice(0, 2)
      .filter((one) => !looked.has(one));
    if (around.length === 0) break;
    for (const one of around) looked.add(one);
    const beside = around.flatMap(({ settings: at }) => [
      ...besideOne(at as SweepSettings, axes),
      ...diagonals(at as SweepSettings, crossed),
    ]);
    yield* measure('fine', beside, 12 * (fineRounds - round - 1));
  }

  // Settings with the papers' factors keep as many tokens on all seeds, so they are the fallback if no other settings are
  // confirmed.
  const safest = (on: readonly number[]): Candidate[] =>
    rules
      .ranked(on)
      .filter((one) =>
        crossed.every(({ name }) => settingOf(one.settings as SweepSettings, name) === settingOf(published, name)),
      )
      .slice(0, 1);
  const plainOf = (one: Candidate): Candidate => book.candidate(withoutSpeculation(one.settings as SweepSettings));
  const semifinal = searchSeeds.slice(0, semifinalSeeds);
  const best = rules.ranked(seeds).slice(0, semifinalists);
  const inSemifinal = [...best, ...safest(seeds), ...best.slice(0, 2).map(plainOf)];
  yield* measuring.measure({ phase: 'finals', candidates: inSemifinal, seeds: semifinal, always, later: finals });
  const last = rules.ranked(semifinal).slice(0, finalists);
  const inFinal = [...last, ...safest(semifinal), ...last.slice(0, 1).map(plainOf)];
  yield* measuring.measure({ phase: 'finals', candidates: inFinal, seeds: searchSeeds, always, later: confirmation });
  const winners = rules.winners(rules.ranked(searchSeeds), reference, searchSeeds).filter((one) => one !== reference);
  return winners.length === 0 ? [] : [...new Set([...winners.slice(0, tries), ...safest(searchSeeds)])];
}
