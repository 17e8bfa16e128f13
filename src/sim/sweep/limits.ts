/** The limits of a recommendation, and the confidence that it needs. */
import { type Book, type Candidate, keptRatio, longestRatio, type Pair } from './book.ts';
import type { SweepLimits } from './result.ts';

/** Share by which kept tokens may be below those of the papers' settings, in the search and in the confirmation. */
export const keptSlack = Object.freeze({ search: 0.005, confirmation: 0.01 });

/**
 * Settings that speculate less than the papers' settings must surely be faster than these by this share of their time: a trace
 * may lack the longest responses, against which speculation protects.
 */
export const cautionShare = 0.05;

/** Whether any limit is given. */
export const areGiven = (limits: SweepLimits): boolean => Object.values(limits).some((one) => one !== undefined);

/**
 * Returns the least kept-token ratio: the given one, or that of the papers' settings on the same seeds, at most 1 (the ratio of the
 * baseline). If the papers' settings cannot run, it is 1.
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

/** Sums of the same numbers in another order differ in their last digits. */
const rounding = 1e-9;

/** Whether a candidate is within the limits on these seeds, and keeps enough tokens. */
export function isWithin(
  book: Book,
  one: Candidate,
  published: Candidate,
  seeds: readonly number[],
  limits: SweepLimits,
  slack: number,
): boolean {
  const { minKept } = limits;
  const pairs = book.pairs(one, book.baseline, seeds);
  const least = leastKept(book, published, seeds, minKept) * (1 - (minKept === undefined ? slack : rounding));
  return keptRatio(pairs) >= least && keepsLimits(pairs, limits);
}

/** Whether runs are within the limits of the longest responses and of stale tokens. */
export const keepsLimits = (
  pairs: readonly Pair[],
  { minTop1 = 0, maxLag = Number.POSITIVE_INFINITY }: SweepLimits,
): boolean =>
  (minTop1 === 0 || longestRatio(pairs) >= minTop1 * (1 - rounding)) &&
  pairs.every((pair) => pair.one.maxLag <= maxLag);
