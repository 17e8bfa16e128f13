/**
 * Intervals for an independent run: they predict the result of a run with other seeds and other prompts, not the mean of these
 * runs. Three sources add to the variance:
 *
 * - there are only n runs here: S² ÷ n;
 * - a single run differs from the mean of the runs: S², or less if it is longer than these runs;
 * - all runs here draw from the same prompts, which are a sample.
 *
 * S is the standard deviation between runs. Each run draws half of the prompts, so that S includes the effect of prompts. What of
 * S² comes from the rounds, as they differ within a run, is less in a longer run, whatever prompts that draws; the rest is taken
 * for the effect of prompts.
 */
import { sampleVariance } from 'simple-statistics';
import { ratio, sumOf } from '../comparison/metrics.ts';
import type { Interval } from '../comparison/result.ts';

type Value<T> = (one: T) => number;

const confidence = 0.95;

/**
 * Least share of the variance between runs that is taken for the effect of prompts, however much rounds differ. Rounds of a run
 * share its prompts without coming to one twice, so they differ by more than makes runs differ. Of 96 runs of 60 steps on other
 * prompts, intervals of 8 runs of 5 steps cover all with this share, 99 % with 0.25, 92 % with 0.1 and 82 % with 0
 * (`bench/simulated/interval-coverage.ts`); where prompts make 0.4 of the variance, they cover 92 % with 0.25.
 */
const leastOfPrompts = 0.35;

/** Variances to add to the variance of the mean, as shares of the variance between runs. */
export interface Spread {
  /** Variance of an independent run, of what comes from its prompts. */
  readonly run: number;
  /** Variance from the choice of the prompts that all runs draw from. */
  readonly prompts: number;
  /** Variance of an independent run, of what comes from its rounds. */
  readonly rounds: number;
}

/** The spread for an interval of the mean over all runs on these prompts. */
export const ofMean: Spread = Object.freeze({ run: 0, prompts: 0, rounds: 0 });

/**
 * Returns the spread of an independent run.
 *
 * @param prompts - distinct prompts that all runs draw from; Infinity if each run has its own prompts
 * @param drawn - number of distinct prompts that a run draws
 * @param used - number of prompts that a run trains
 * @param independent - number of prompts that the independent run trains; the independent run draws from at least as many
 * distinct prompts as a run here
 */
export function spreadOf(prompts: number, drawn: number, used: number, independent: number): Spread {
  const distinct = Math.min(drawn, used);
  // If runs draw m of N prompts without replacement, the variance between them is proportional to 1 ÷ m − 1 ÷ N, and the variance
  // from the choice of the N prompts to 1 ÷ N. If every run has all prompts, nothing is known about other prompts.
  const ofPrompts = Number.isFinite(prompts) && distinct < prompts ? distinct / (prompts - distinct) : 0;
  return {
    run: distinct / Math.min(drawn, Math.max(used, independent)),
    prompts: ofPrompts,
    rounds: used / Math.max(used, independent),
  };
}

/**
 * Returns a product of quotients with its interval for one more run. A quotient is the sum of one number over the runs ÷ the sum
 * of another.
 *
 * @param cases - runs, or pairs of runs on the same prompts; for a single case, the interval has no width
 * @param quotients - for each quotient, its numerator and its denominator for a case
 * @param spread - variances to add to that of the mean
 * @param roundVariance - variance of a case's product ÷ its square that comes from its rounds; by default it is not known, and all
 * variance between runs is taken for the effect of prompts
 */
export function predicted<T>(
  cases: readonly T[],
  quotients: readonly (readonly [over: Value<T>, under: Value<T>])[],
  spread: Spread,
  roundVariance: Value<T> = () => 0,
): Interval {
  const means = quotients.map((pair) => pair.map((one) => ratio(sumOf(cases, one), cases.length)));
  const value = means.reduce((product, [over, under]) => product * ratio(over!, under!), 1);
  // To first order, the relative error of a product is the sum of the relative errors of its factors.
  const errors = cases.map((one) =>
    sumOf([...quotients.keys()], (at) => {
      const [over, under] = quotients[at]!;
      return ratio(over(one), means[at]![0]!) - ratio(under(one), means[at]![1]!);
    }),
  );
  const n = cases.length;
  if (n < 2) return { value, low: value, high: value, confidence };
  const between = sampleVariance(errors);
  const ofPrompts = Math.max(leastOfPrompts * between, between - ratio(sumOf(cases, roundVariance), n));
  const more = ofPrompts * (spread.run + spread.prompts) + (between - ofPrompts) * spread.rounds;
  const half = studentQuantile(n - 1) * Math.sqrt(between / n + more);
  return { value, low: value * (1 - half), high: value * (1 + half), confidence };
}

/** Returns one minus a number, with its interval. */
export const oneMinus = ({ value, low, high, confidence }: Interval): Interval => ({
  value: 1 - value,
  low: 1 - high,
  high: 1 - low,
  confidence,
});

/** Returns the number below which a variable with Student's t distribution lies with a probability of 97.5 %. */
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

/** Returns the probability that |t| is at most `t` (Abramowitz and Stegun 26.7.3 and 26.7.4). */
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
