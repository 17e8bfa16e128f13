/** Kaplan and Meier: exact lengths, censored ones, and the distribution behind both. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { uniform } from '../../../../src/sim/workload/random.ts';
import { type Observation, survivalQuantile } from '../../../../src/sim/workload/survival.ts';

const exact = (...lengths: number[]): Observation[] => lengths.map((tokens) => ({ tokens, censored: false }));
const aborted = (...lengths: number[]): Observation[] => lengths.map((tokens) => ({ tokens, censored: true }));

describe('without censoring', () => {
  it('is the empirical distribution', () => {
    const { beyond, quantile } = survivalQuantile(exact(5, 1, 3, 3, 2), 100);
    expect([0, 1, 2, 3, 4, 5, 6].map(beyond).map((one) => Math.round(one * 5))).toEqual([5, 4, 3, 1, 1, 0, 0]);
    expect([0.01, 0.19, 0.21, 0.5, 0.79, 0.81, 1].map(quantile)).toEqual([1, 1, 2, 3, 3, 5, 5]);
  });

  it('has its steps exactly where the shares are', () => {
    for (const n of [3, 5, 7, 10, 100]) {
      const { quantile } = survivalQuantile(exact(...Array.from({ length: n }, (_, index) => index + 1)), n + 1);
      for (let rank = 1; rank <= n; rank += 1) expect(quantile(rank / n)).toBe(rank);
    }
  });
});

describe('with censoring', () => {
  it('is the example of the textbook: remission times under 6-MP (Freireich 1963)', () => {
    const seen = [...exact(6, 6, 6, 7, 10, 13, 16, 22, 23), ...aborted(6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35)];
    const { beyond } = survivalQuantile(seen, 100);
    const wanted: [number, number][] = [
      [6, 0.8571],
      [7, 0.8067],
      [10, 0.7529],
      [13, 0.6902],
      [16, 0.6275],
      [22, 0.5378],
      [23, 0.4482],
    ];
    for (const [weeks, share] of wanted) expect(beyond(weeks)).toBeCloseTo(share, 4);
    expect(beyond(1000)).toBe(beyond(23));
  });

  it('takes a completion to come before a censoring of the same length', () => {
    const { beyond } = survivalQuantile([...aborted(4), ...exact(4)], 100);
    expect(beyond(4)).toBeCloseTo(0.5, 12);
  });

  it('gives the cap for what outlives every observation', () => {
    const { quantile, beyond } = survivalQuantile([...exact(3), ...aborted(8, 9)], 50);
    expect(beyond(3)).toBeCloseTo(2 / 3, 12);
    expect([0.2, 0.4, 0.9].map(quantile)).toEqual([3, 50, 50]);
    const nothing = survivalQuantile(aborted(8, 9), 50);
    expect([nothing.beyond(100), nothing.quantile(0.01)]).toEqual([1, 50]);
  });

  it('finds the distribution again from responses that are cut at random', () => {
    const seen = Array.from({ length: 20_000 }, (_, index): Observation => {
      const length = Math.ceil(-1000 * Math.log(1 - uniform(1, index)));
      const cut = Math.ceil(-1500 * Math.log(1 - uniform(2, index)));
      return cut < length ? { tokens: cut, censored: true } : { tokens: length, censored: false };
    });
    const { beyond, quantile } = survivalQuantile(seen, 100_000);
    for (const tokens of [200, 700, 1500, 3000]) {
      expect(Math.abs(beyond(tokens) - Math.exp(-tokens / 1000))).toBeLessThan(0.012);
    }
    expect(Math.abs(quantile(0.5) / (1000 * Math.LN2) - 1)).toBeLessThan(0.03);
  });
});

test('falls from 1, whatever was seen, in whatever order; quantiles are where it has fallen', () => {
  const observation = fc.record({ tokens: fc.integer({ min: 0, max: 30 }), censored: fc.boolean() });
  fc.assert(
    fc.property(fc.array(observation, { minLength: 1, maxLength: 30 }), (seen) => {
      const { beyond, quantile } = survivalQuantile(seen, 40);
      const again = survivalQuantile([...seen].reverse(), 40);
      let last = 1;
      for (let tokens = -1; tokens <= 31; tokens += 1) {
        const share = beyond(tokens);
        expect(share).toBeLessThanOrEqual(last);
        expect(share).toBeGreaterThanOrEqual(0);
        expect(again.beyond(tokens)).toBe(share);
        last = share;
      }
      for (const share of [0.05, 0.35, 0.65, 0.95]) {
        const tokens = quantile(share);
        if (tokens === 40) expect(beyond(30)).toBeGreaterThan(1 - share - 1e-9);
        else {
          expect(1 - beyond(tokens)).toBeGreaterThanOrEqual(share - 1e-9);
          expect(1 - beyond(tokens - 1)).toBeLessThan(share + 1e-9);
        }
      }
    }),
  );
});
