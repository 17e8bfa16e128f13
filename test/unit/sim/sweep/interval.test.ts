/** Intervals for an independent run cover as often as they say, where the truth is known. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ofMean, oneMinus, predicted, studentQuantile } from '../../../../src/sim/sweep/interval.ts';
import { normal } from '../../../../src/sim/workload/random.ts';

interface Case {
  readonly seconds: number;
  readonly base: number;
}
const ratioOf = (cases: readonly Case[], spread = { run: 1, prompts: 0, rounds: 1 }) =>
  predicted(cases, [[(one) => one.seconds, (one) => one.base]], spread);

describe('intervals', () => {
  test("Student's t is that of the tables", () => {
    const known = { 1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 7: 2.365, 23: 2.069, 30: 2.042, 120: 1.98 };
    for (const [freedom, t] of Object.entries(known)) expect(studentQuantile(Number(freedom))).toBeCloseTo(t, 3);
  });

  test.each([
    ['a run like the others', { run: 1, prompts: 0, rounds: 1 }, 0],
    ['prompts that are a sample', { run: 1, prompts: 1, rounds: 1 }, 1],
  ])('cover 95 of 100 runs: %s', (_, spread, ofPrompts) => {
    let covered = 0;
    const trials = 2000;
    for (let trial = 0; trial < trials; trial += 1) {
      // What the prompts of this trial have in common is unseen by the deviation between runs.
      const common = 0.03 * Math.sqrt(ofPrompts) * normal(7, trial, 1);
      const one = (index: number, shift: number): Case => {
        const base = 1 + 0.1 * normal(7, trial, 2, index);
        return { base, seconds: base * (0.7 + shift + 0.03 * normal(7, trial, 3, index)) };
      };
      const { low, high } = ratioOf(
        Array.from({ length: 6 }, (_unused, index) => one(index, common)),
        spread,
      );
      const next = one(99, 0);
      if (low <= next.seconds / next.base && next.seconds / next.base <= high) covered += 1;
    }
    expect(covered / trials).toBeGreaterThan(0.93);
    expect(covered / trials).toBeLessThan(0.98);
  });

  test.each([0, 0.4, 1])('a run of twelve times as many rounds, where prompts make %d of the variance', (ofPrompts) => {
    const [trials, rounds, sd] = [1000, 5, 0.06];
    let covered = 0;
    let narrower = 0;
    for (let trial = 0; trial < trials; trial += 1) {
      const run = (index: number, count: number) => {
        const shift = sd * Math.sqrt(ofPrompts) * normal(9, trial, index);
        const noise = Array.from({ length: count }, (_, round) => normal(9, trial, index, round));
        const of = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;
        const scale = sd * Math.sqrt((1 - ofPrompts) * rounds);
        const variance = (scale ** 2 * of(noise.map((one) => (one - of(noise)) ** 2))) / (count - 1);
        return { seconds: 1 + shift + scale * of(noise), base: 1, variance };
      };
      const cases = Array.from({ length: 8 }, (_, index) => run(index, rounds));
      const spread = { run: 1, prompts: 0, rounds: 1 / 12 };
      const interval = predicted(cases, [[(one) => one.seconds, (one) => one.base]], spread, (one) => one.variance);
      const [all, next] = [ratioOf(cases), run(99, 12 * rounds)];
      if (interval.low <= next.seconds && next.seconds <= interval.high) covered += 1;
      narrower += (interval.high - interval.low) / (all.high - all.low) / trials;
    }
    expect(covered / trials).toBeGreaterThan(0.93);
    expect(narrower).toBeLessThan(ofPrompts === 1 ? 1 + 1e-9 : 0.85);
  });

  const positive = fc.double({ min: 0.1, max: 10, noNaN: true });
  const some = fc.array(fc.record({ seconds: positive, base: positive }), { minLength: 2, maxLength: 8 });
  test('hold their value, scale with it, and are wider for one run than for the mean', () => {
    fc.assert(
      fc.property(some, (cases) => {
        const { value, low, high } = ratioOf(cases);
        expect(low).toBeLessThanOrEqual(value);
        expect(high).toBeGreaterThanOrEqual(value);
        const mean = ratioOf(cases, ofMean);
        expect(mean.high - mean.low).toBeLessThanOrEqual(high - low);
        const doubled = ratioOf(cases.map(({ seconds, base }) => ({ seconds: 2 * seconds, base })));
        expect(doubled.high).toBeCloseTo(2 * high, 9);
        const saved = oneMinus({ value, low, high, confidence: 0.95 });
        expect([saved.low, saved.high]).toEqual([1 - high, 1 - low]);
      }),
    );
  });

  test('of one run there is no width, and of none no number', () => {
    expect(ratioOf([{ seconds: 1, base: 2 }])).toEqual({ value: 0.5, low: 0.5, high: 0.5, confidence: 0.95 });
    expect(ratioOf([]).value).toBe(0);
  });
});
