/** Statistics of simulation results, with the library `simple-statistics`. */
import { quantileSorted } from 'simple-statistics';
import { refuse } from '../../errors.ts';
import { pickIndex } from '../workload/random.ts';
import { type Reading, ratio, ratioOf, sumOf } from './metrics.ts';
import type { Interval } from './result.ts';

/** Options for a bootstrap. */
export interface BootstrapOptions {
  /** Seed, a safe whole number. */
  readonly seed: number;
  /** Number of resamples, a whole number >= 1; by default 2000. */
  readonly resamples?: number;
  /** Confidence level, above 0 and below 1; by default 0.95. */
  readonly confidence?: number;
}

/** Checks a confidence level. Throws `PolicyError` `invalid_input`. */
export function checkConfidence(confidence: number): void {
  if (confidence > 0 && confidence < 1) return;
  refuse('invalid_input', 'confidence', 'a number above 0 and below 1', confidence);
}

/**
 * Returns a statistic with its bootstrap percentile interval. Cases are resampled as a whole, so that pairs stay together: common
 * variation of two schedulers on the same seeds does not widen the interval of their ratio.
 *
 * @throws PolicyError `invalid_input` without cases, and for options out of range
 */
export function bootstrap<T>(
  cases: readonly T[],
  statistic: (cases: readonly T[]) => number,
  options: BootstrapOptions,
): Interval {
  const { seed, resamples = 2000, confidence = 0.95 } = options;
  if (cases.length === 0) refuse('invalid_input', 'cases', 'at least one case', cases);
  if (!Number.isSafeInteger(seed)) refuse('invalid_input', 'seed', 'a whole number', seed);
  if (!Number.isSafeInteger(resamples) || resamples < 1)
    refuse('invalid_input', 'resamples', 'a whole number >= 1', resamples);
  checkConfidence(confidence);
  if (cases.length === 1) {
    // With one case, every resample equals the sample.
    const only = statistic(cases);
    return { value: only, low: only, high: only, confidence };
  }
  const values = Array.from({ length: resamples }, (_, resample) =>
    statistic(cases.map((_case, index) => cases[pickIndex(cases.length, seed, resample, index)]!)),
  ).sort((a, b) => a - b);
  const tail = (1 - confidence) / 2;
  const value = statistic(cases);
  return { value, low: quantileSorted(values, tail), high: quantileSorted(values, 1 - tail), confidence };
}

/** Statistics over seeds of a scheduler's runs beside those of a baseline, each with its interval. */
export interface PairedStatistics<R> {
  interval(statistic: (runs: readonly R[], baseline: readonly R[]) => number): Interval;
  /** One number of the scheduler's runs ÷ another. */
  mean(of: Reading<R>, per: Reading<R>): Interval;
  /** A number of the baseline's runs ÷ that of the scheduler's. */
  speedup(of: Reading<R>): Interval;
  /** The share of the baseline's number by which the scheduler's is smaller; below 0 if it is larger. */
  saved(of: Reading<R>): Interval;
}

/** Returns statistics of runs and those of a baseline with the same prompts and samples, in the same order: they are resampled as pairs. */
export function pairedStatistics<R>(
  runs: readonly R[],
  baseline: readonly R[],
  confidence = 0.95,
): PairedStatistics<R> {
  const pairs = runs.map((run, index) => ({ run, base: baseline[index]! }));
  const interval: PairedStatistics<R>['interval'] = (statistic) =>
    bootstrap(
      pairs,
      (cases) =>
        statistic(
          cases.map(({ run }) => run),
          cases.map(({ base }) => base),
        ),
      { seed: 1, confidence },
    );
  return {
    interval,
    mean: (of, per) => interval((some) => ratioOf(some, of, per)),
    speedup: (of) => interval((some, base) => ratio(sumOf(base, of), sumOf(some, of))),
    saved: (of) => interval((some, base) => 1 - ratio(sumOf(some, of), sumOf(base, of))),
  };
}
