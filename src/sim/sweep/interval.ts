/**
 * Intervals for an independent run: the result of a run with other seeds and other prompts, and not only the mean of
 * these runs. Three differences add to the variance:
 *
 * - the runs here are few: S² ÷ n;
 * - a run by itself is not their mean: S², less where it is longer than these;
 * - all runs here draw from the same prompts, which are a sample.
 *
 * S is the deviation between runs; each draws half of the prompts, so that S has the prompts in it.
 */
import { sampleVariance } from 'simple-statistics';
import { ratio, sumOf } from '../metrics.ts';
import type { Interval } from '../result.ts';

type Value<T> = (one: T) => number;

const confidence = 0.95;

/** Variances beside that of the mean of some runs, as shares of the variance between these runs. */
export interface Spread {
  /** Variance of an independent run. */
  readonly run: number;
  /** Variance of the prompts that all runs draw from. */
  readonly prompts: number;
}

/** The spread of an interval for the mean over all runs on these prompts. */
export const ofMean: Spread = Object.freeze({ run: 0, prompts: 0 });

/**
 * The spread of an independent run.
 *
 * @param prompts - distinct prompts that all runs draw from; Infinity where each has its own
 * @param drawn - number of them that a run draws
 * @param used - prompts that a run trains
 * @param independent - prompts that the independent run trains, of as many distinct ones as a run draws at least
 */
export function spreadOf(prompts: number, drawn: number, used: number, independent: number): Spread {
  const distinct = Math.min(drawn, used);
  // Between runs that draw m of N without replacement the variance goes with 1 ÷ m − 1 ÷ N, that of the N with 1 ÷ N. Where
  // all are in every run, nothing is known of others.
  const ofPrompts = Number.isFinite(prompts) && distinct < prompts ? distinct / (prompts - distinct) : 0;
  return { run: distinct / Math.min(drawn, Math.max(used, independent)), prompts: ofPrompts };
}

/**
 * Σ of a number over runs ÷ Σ of another, times further such quotients, with its interval for one more run.
 *
 * @param cases - runs, or pairs of runs on the same prompts; of one alone the interval has no width
 * @param quotients - of each a number above and a number below
 * @param spread - beside the variance of the mean
 */
export function predicted<T>(
  cases: readonly T[],
  quotients: readonly (readonly [over: Value<T>, under: Value<T>])[],
  spread: Spread,
): Interval {
  const means = quotients.map((pair) => pair.map((one) => ratio(sumOf(cases, one), cases.length)));
  const value = means.reduce((product, [over, under]) => product * ratio(over!, under!), 1);
  // To first order, the relative error of a product is the sum of its factors' relative errors.
  const errors = cases.map((one) =>
    sumOf([...quotients.keys()], (at) => {
      const [over, under] = quotients[at]!;
      return ratio(over(one), means[at]![0]!) - ratio(under(one), means[at]![1]!);
    }),
  );
  const n = cases.length;
  const half =
    n < 2 ? 0 : studentQuantile(n - 1) * Math.sqrt(sampleVariance(errors) * (1 / n + spread.run + spread.prompts));
  return { value, low: value * (1 - half), high: value * (1 + half), confidence };
}

/** Returns one minus a number, with its interval. */
export const oneMinus = ({ value, low, high, confidence }: Interval): Interval => ({
  value: 1 - value,
  low: 1 - high,
  high: 1 - low,
  confidence,
});

/** Student's t below which 97.5 % lie. */
export function studentQuantile(freedom: number): number {
  let [low, high] = [0, 2];
  while (within(high, freedom) < confidence) high *= 2;
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (within(middle, freedom) < confidence) low = middle;
    else high = middle;
  }
  return high;
}

/** Probability that |t| is at most `t` (Abramowitz and Stegun 26.7.3 and 26.7.4). */
function within(t: number, freedom: number): number {
  const angle = Math.atan(t / Math.sqrt(freedom));
  const [sine, square] = [Math.sin(angle), Math.cos(angle) ** 2];
  const isOdd = freedom % 2 === 1;
  let term = isOdd ? Math.cos(angle) : 1;
  let sum = 0;
  for (let at = isOdd ? 3 : 2; at <= freedom; at += 2) {
    sum += term;
    term *= (square * (at - 1)) / at;
  }
  return isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
}
