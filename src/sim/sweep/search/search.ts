/**
 * The search, as a generator: the search yields the runs that it needs, and receives their results in the same order, so that the
 * result depends neither on the caller nor on the number of cores.
 *
 * 1. the baseline and the papers' settings, so that there is a first figure soon;
 * 2. candidates, on few seeds and then fewer of them on more: all that an effort has (`coarse-to-fine.ts`), or what a budget of
 *    work allows (`halving.ts`);
 * 3. confirmation: the winners against the papers' settings in longer runs, on new seeds and prompts (`confirmation.ts`).
 *
 * If prompts come back, the frontier follows (`frontier.ts`).
 */
import { refuse } from '../../../errors.ts';
import type { Book, Candidate } from '../book.ts';
import type { Spread } from '../interval.ts';
import { type SearchPlan, shares } from '../plan.ts';
import type { SweepLimits } from '../result.ts';
import type { SweepProblem, SweepRun } from '../run.ts';
import { type SweepSpace, withoutSpeculation } from '../space.ts';
import type { SweepBatch } from './batch.ts';
import { coarseToFine } from './coarse-to-fine.ts';
import { type Confirmed, confirming, confirmingWithin } from './confirmation.ts';
import { contendersOf, halving } from './halving.ts';
import { Measuring } from './measuring.ts';
import { Rules } from './rules.ts';

/** Options of a search. */
export interface SearchOptions {
  readonly seed: number;
  readonly plan: SearchPlan;
  readonly limits: SweepLimits;
  /** Returns the spread of an independent run, compared with confirmations of so many steps. */
  readonly spreadOf: (steps: number) => Spread;
}

/** The result of a search. */
export interface SearchResult extends Confirmed {
  readonly rules: Rules;
  readonly published: Candidate;
  readonly searchSeeds: readonly number[];
  readonly runs: number;
  /** Simulated responses of these runs, about. */
  readonly responses: number;
}

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
  const seenSeeds = seedsTo(Math.max(plan.firstSeeds, effort.finalSeeds));
  const newSeeds = seedsTo(seenSeeds.length + effort.confirmationSeeds).slice(seenSeeds.length);
  const { baseline } = book;
  const { published: settings } = space;
  const published = book.candidate(settings);
  const unspeculative = book.candidate(withoutSpeculation(settings));
  const rules = new Rules({ book, published, limits, isNoisy: isCut });
  const measuring = new Measuring({ problem, book, rules, plan, spread: spreadOf(plan.confirmationSteps) });

  const steps = isCut ? plan.steps : undefined;
  const always = [baseline, published];
  yield* measuring.measure({ phase: 'coarse', candidates: [], seeds: seedsTo(plan.firstSeeds), always, steps });
  always.push(unspeculative);
  yield* measuring.measure({ phase: 'coarse', candidates: [], seeds: coarseSeeds, always, steps });
  const isFit = published.infeasible === undefined && rules.isWithin(published, coarseSeeds, 'search');
  const reference = isFit ? published : unspeculative;
  if (reference.infeasible !== undefined) {
    const expected = "a job that can run with the papers' settings";
    refuse('infeasible', '', expected, reference.infeasible);
  }
  const given = {
    measuring,
    problem,
    book,
    rules,
    plan,
    published,
    unspeculative,
    reference,
    seeds: newSeeds,
    spreadOf,
  };
  function* searched(): Generator<SweepBatch, Confirmed & { searchSeeds: readonly number[] }, readonly SweepRun[]> {
    if (isCut) {
      const limit = { coarse: shares.coarse * budget, search: shares.search * budget };
      const options = {
        space,
        book,
        limits,
        always: [baseline, published],
        published,
        seeds: seenSeeds,
        steps: plan.steps,
        limit,
      };
      const ranked = yield* halving(measuring, options);
      const confirmed = yield* confirmingWithin(given, contendersOf(ranked, reference));
      return { ...confirmed, searchSeeds: seenSeeds.filter((one) => baseline.runs.has(one)) };
    }
    const searchSeeds = seedsTo(effort.finalSeeds);
    const options = { space, book, rules, effort, always, reference, seeds: searchSeeds };
    const winners = yield* coarseToFine(measuring, options);
    return { ...(yield* confirming(given, winners)), searchSeeds };
  }
  const result = yield* searched();
  return { rules, published, runs: measuring.runs, responses: measuring.responses, ...result };
}
