import { expect, test } from 'vitest';
import { checkPossible, missOf, ratioInterval, studentBound } from '../../../../src/sim/what-if/interval.ts';
import { normal } from '../../../../src/sim/workload/random.ts';

test.each([
  [-0.2, 0.5, 0.9],
  [-0.2, -0.3, -0.1],
  [2e6, 1, 3e6],
  [0.5, 0.1, Number.POSITIVE_INFINITY],
  [Number.NaN, 0, 1],
])('%f (%f to %f) times as long is a time that no run can have', (value, low, high) => {
  expect(() => checkPossible({ value, low, high, confidence: 0.95 })).toThrow(
    expect.objectContaining({ code: 'infeasible', path: 'log' }),
  );
});

test('a time that a run can have is none', () => {
  for (const [value, low, high] of [
    [0, 0, 0],
    [0.7, 0.2, 4],
    [900, 300, 2000],
  ] as const)
    expect(checkPossible({ value, low, high, confidence: 0.95 })).toBeUndefined();
});

const none = { rounds: [], rest: 0 };

test("the bound of Student's distribution is within 1 % of its tables", () => {
  const table = { 1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262, 30: 2.042, 1000: 1.962 };
  for (const [freedom, bound] of Object.entries(table))
    expect(Math.abs(studentBound(Number(freedom)) / bound - 1)).toBeLessThan(0.01);
});

test('of few draws, the interval holds one more draw at least 95 times of 100', () => {
  for (const draws of [3, 10]) {
    let holds = 0;
    for (let seed = 1; seed <= 2000; seed += 1) {
      const all = Array.from({ length: draws + 1 }, (_, index) => Math.exp(0.2 * normal(seed, index)));
      const { low, high } = ratioInterval(all.slice(1), none, 5);
      if (low <= all[0]! && all[0]! <= high) holds += 1;
    }
    expect(holds / 2000).toBeGreaterThan(0.95);
    expect(holds / 2000).toBeLessThan(0.995);
  }
});

test('what the simulation misses of the log makes it wider, in all rounds alike or in single ones', () => {
  const draws = [1.1, 1.1, 1.1];
  const width = (rounds: readonly number[], rest = 0, count = 4) => {
    const { low, high } = ratioInterval(draws, { rounds, rest }, count);
    return Math.log(high / low);
  };
  expect(width([])).toBeCloseTo(0, 9);
  expect(width([0.1, 0.1, 0.1])).toBeGreaterThan(4 * 0.1);
  expect(width([0.1, 0.1, 0.1], 0, 100)).toBeCloseTo(width([0.1, 0.1, 0.1]), 9);
  expect(width([0.1, -0.1, 0.1, -0.1], 0, 100)).toBeLessThan(width([0.1, -0.1, 0.1, -0.1]) / 4);
  expect(width([], 0.3)).toBeGreaterThanOrEqual(2 * 0.3);
  expect(
    missOf([
      [2, 1],
      [0, 1],
      [1, 0],
      [3, 3],
    ]),
  ).toEqual([Math.log(2), 0]);
});
