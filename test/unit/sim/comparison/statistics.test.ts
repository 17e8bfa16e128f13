/** The bootstrap interval: made again it is the same, and it holds the truth about as often as it says. */
import { describe, expect, it } from 'vitest';
import { bootstrap } from '../../../../src/sim/comparison/statistics.ts';
import { normal } from '../../../../src/sim/workload/random.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
const sample = (size: number, seed: number): number[] =>
  Array.from({ length: size }, (_, index) => 10 + 2 * normal(seed, index));

describe('bootstrap', () => {
  it('is fixed by its seed, and moves with it', () => {
    const cases = sample(12, 1);
    const first = bootstrap(cases, mean, { seed: 1 });
    expect(bootstrap(cases, mean, { seed: 1 })).toEqual(first);
    const other = bootstrap(cases, mean, { seed: 2 });
    expect(other.value).toBe(first.value);
    expect(other.low).not.toBe(first.low);
    expect(Math.abs(other.low - first.low)).toBeLessThan(0.2);
  });

  it('gives the statistic of the cases themselves, between the bounds', () => {
    const cases = sample(30, 2);
    const { value, low, high, confidence } = bootstrap(cases, mean, { seed: 1 });
    expect(value).toBe(mean(cases));
    expect(confidence).toBe(0.95);
    expect(low).toBeLessThan(value);
    expect(high).toBeGreaterThan(value);
    // About ± 1.96 standard errors.
    const error = Math.sqrt(mean(cases.map((one) => (one - value) ** 2)) / cases.length);
    expect((high - low) / (2 * 1.96 * error)).toBeGreaterThan(0.93);
    expect((high - low) / (2 * 1.96 * error)).toBeLessThan(1.07);
  });

  // A percentile interval of few cases is a little narrow: 0.95 is 0.93 for 25 of them.
  it.each([
    [0.95, 0.89, 0.97],
    [0.8, 0.72, 0.86],
    [0.5, 0.42, 0.58],
  ])('of confidence %s holds the truth in about that share of samples', (confidence, least, most) => {
    const trials = 150;
    let hits = 0;
    for (let trial = 0; trial < trials; trial += 1) {
      const { low, high } = bootstrap(sample(25, 1000 + trial), mean, { seed: trial, confidence, resamples: 200 });
      if (low <= 10 && 10 <= high) hits += 1;
    }
    expect(hits / trials).toBeGreaterThan(least);
    expect(hits / trials).toBeLessThan(most);
  });

  it('is wider with more confidence and with fewer cases', () => {
    const width = (size: number, confidence: number): number => {
      const { low, high } = bootstrap(sample(size, 5), mean, { seed: 1, confidence });
      return high - low;
    };
    expect(width(40, 0.99)).toBeGreaterThan(width(40, 0.9));
    expect(width(10, 0.9)).toBeGreaterThan(1.4 * width(40, 0.9));
  });

  it('resamples cases whole: what is equal within every pair stays equal', () => {
    const pairs = sample(9, 4).map((one) => ({ over: one, under: one / 2 }));
    const ratio = (cases: readonly (typeof pairs)[number][]) =>
      mean(cases.map((one) => one.over)) / mean(cases.map((one) => one.under));
    const { value, low, high } = bootstrap(pairs, ratio, { seed: 3 });
    for (const one of [value, low, high]) expect(one).toBeCloseTo(2, 12);
  });

  it('draws as many cases as there are, with replacement', () => {
    const sizes = new Set<number>();
    let repeated = 0;
    bootstrap(
      [1, 2, 3, 4, 5],
      (cases) => {
        sizes.add(cases.length);
        if (new Set(cases).size < 5) repeated += 1;
        return 0;
      },
      { seed: 1, resamples: 500 },
    );
    expect([...sizes]).toEqual([5]);
    // 5! ÷ 5⁵ = 3.8 % of them are permutations.
    expect(repeated).toBeGreaterThan(460);
    expect(repeated).toBeLessThan(495);
  });

  it('has no width for one case, or one resample', () => {
    expect(bootstrap([7], mean, { seed: 1 })).toEqual({ value: 7, low: 7, high: 7, confidence: 0.95 });
    const { low, high } = bootstrap([7, 9], mean, { seed: 1, resamples: 1 });
    expect(low).toBe(high);
  });

  it('leaves the cases as they were', () => {
    const cases = Object.freeze([3, 1, 2]);
    bootstrap(cases, mean, { seed: 1, resamples: 10 });
    expect(cases).toEqual([3, 1, 2]);
  });

  it.each([
    ['cases', [], {}],
    ['seed', [1], { seed: 0.5 }],
    ['resamples', [1], { resamples: 0 }],
    ['resamples', [1], { resamples: 2.5 }],
    ['confidence', [1], { confidence: 0 }],
    ['confidence', [1], { confidence: 1 }],
    ['confidence', [1], { confidence: 95 }],
    ['confidence', [1], { confidence: Number.NaN }],
  ])('refuses bad %s', (path, cases, bad) => {
    const act = () => bootstrap(cases as number[], mean, { seed: 1, ...bad });
    expect(refusal(act)).toMatchObject({ code: 'invalid_input', path });
  });
});
