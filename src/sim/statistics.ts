/** Statistics of simulation results, over the library `simple-statistics`. */
import { mean, quantileSorted } from 'simple-statistics';
import { pickIndex } from './random.ts';
import type { Interval } from './result.ts';

/** Values at 0, 1, …, 100 %. */
export function percentiles(values: readonly number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b);
  return Array.from({ length: 101 }, (_, percent) => (sorted.length === 0 ? 0 : quantileSorted(sorted, percent / 100)));
}

/** The mean, or 0 of nothing. */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : mean([...values]);
}

/** How a bootstrap is made. */
export interface BootstrapOptions {
  readonly seed: number;
  /** Resamples, by default 2000. */
  readonly resamples?: number;
  /** Confidence in (0, 1), by default 0.95. */
  readonly confidence?: number;
}

/**
 * A statistic of a sample with its bootstrap percentile interval. Cases are resampled whole, so that pairs stay
 * pairs: a ratio of two schedulers on the same seeds keeps what they have in common.
 */
export function bootstrap<T>(
  cases: readonly T[],
  statistic: (cases: readonly T[]) => number,
  options: BootstrapOptions,
): Interval {
  const { seed, resamples = 2000, confidence = 0.95 } = options;
  const values = Array.from({ length: resamples }, (_, resample) =>
    statistic(cases.map((_case, index) => cases[pickIndex(cases.length, seed, resample, index)]!)),
  ).sort((a, b) => a - b);
  const tail = (1 - confidence) / 2;
  const value = statistic(cases);
  return { value, low: quantileSorted(values, tail), high: quantileSorted(values, 1 - tail), confidence };
}
