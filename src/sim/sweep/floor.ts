/** What a recommendation has to keep, and what it has to be sure of. */
import { type Book, type Candidate, keptRatio } from './book.ts';

/** How far the kept tokens may be below the floor: in the search, and on the seeds of the confirmation. */
export const keptSlack = Object.freeze({ search: 0.005, confirmation: 0.01 });

/**
 * Share of the papers' time by which settings that speculate less than the papers must be faster for sure than all others: a
 * trace may lack the longest responses, and speculation is what protects from those.
 */
export const cautionShare = 0.05;

/**
 * The least kept-token ratio of the objective: given, or that of the papers' setting on the same seeds; never above 1, which
 * the baseline keeps. Where the papers' setting cannot run, nothing says how many tokens may be given up.
 */
export function leastKept(
  book: Book,
  published: Candidate,
  seeds: readonly number[],
  minKept: number | undefined,
): number {
  if (minKept !== undefined) return minKept;
  return published.infeasible === undefined ? Math.min(1, keptRatio(book.pairs(published, book.baseline, seeds))) : 1;
}
