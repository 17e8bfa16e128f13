/** The limits that a recommendation has to keep, and the confidence that it needs. */
import { type Book, type Candidate, keptRatio, longestRatio } from './book.ts';
import type { SweepLimits } from './result.ts';

/** Slack of the kept tokens below those of the papers' settings: in the search, and in the confirmation. */
export const keptSlack = Object.freeze({ search: 0.005, confirmation: 0.01 });

/**
 * Share of the papers' time by which settings that speculate less than the papers must be faster for sure than all others: a
 * trace may lack the longest responses, and speculation protects from those.
 */
export const cautionShare = 0.05;

/** Whether any limit is given. */
export const areGiven = (limits: SweepLimits): boolean => Object.values(limits).some((one) => one !== undefined);

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

/** Ratios of the same sums, added up in another order, differ in their last digits. */
const rounding = 1e-9;

/** Whether a candidate is within the limits on these seeds, and keeps as many tokens as the objective needs. */
export function isWithin(
  book: Book,
  one: Candidate,
  published: Candidate,
  seeds: readonly number[],
  { minKept, minTop1 = 0, maxLag = Number.POSITIVE_INFINITY }: SweepLimits,
  slack: number,
): boolean {
  const pairs = book.pairs(one, book.baseline, seeds);
  const least = leastKept(book, published, seeds, minKept) * (1 - (minKept === undefined ? slack : rounding));
  return (
    keptRatio(pairs) >= least &&
    longestRatio(pairs) >= minTop1 * (1 - rounding) &&
    pairs.every((pair) => pair.one.maxLag <= maxLag)
  );
}
