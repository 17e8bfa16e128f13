/** Choices that runs do not tell apart. */
import { expect, test } from 'vitest';
import { isTie, savedOver, tiedWith } from '../../../../src/sim/comparison/tie.ts';

const of = (...totals: number[]) => ({
  runs: totals.map((totalSeconds) => ({ totalSeconds })),
  speedup: { confidence: 0.95 },
});

test('what is faster on every seed is no tie, however much the seeds differ', () => {
  const [slow, fast] = [of(100, 300, 50, 900), of(98, 291, 49, 870)];
  expect(savedOver(fast, slow).low).toBeGreaterThan(0);
  expect(tiedWith(fast, [slow, fast])).toEqual([]);
});

test('what is faster on some seeds only is a tie, and is told in the order of the others', () => {
  const [one, other, third] = [of(100, 110, 90, 100), of(104, 104, 96, 95), of(200, 200, 200, 200)];
  expect(tiedWith(one, [third, other, one])).toEqual([other]);
});

test('one seed tells nothing of ties, and equal runs are none', () => {
  expect(isTie(savedOver(of(100), of(101)))).toBe(false);
  expect(tiedWith(of(1, 2), [of(1, 2)])).toEqual([]);
});
