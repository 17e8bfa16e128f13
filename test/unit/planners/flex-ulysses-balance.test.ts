/** The best balance of flex-ulysses and its bounds, against every way to put sequences into top groups. */
import { describe, expect, test } from 'vitest';
import { communicationBound, computeBound } from '../../../src/planners/flex-ulysses/bounds.ts';
import { descending, type Instance } from '../../../src/planners/flex-ulysses/instance.ts';
import { bestBalance, computeLimit } from '../../../src/planners/flex-ulysses/search/balance.ts';
import { generator, range, sum } from '../../support/basics/numbers.ts';

/** A batch on so many top groups of two devices; tokens and work of a sequence have nothing to do with each other. */
function instanceOf(lengths: readonly number[], work: readonly number[], groups: number, slack: number): Instance {
  const works = Float64Array.from(work);
  return {
    sequences: lengths.length,
    devices: 2 * groups,
    levels: 2,
    lengths: Float64Array.from(lengths),
    work: works,
    byWork: descending(works),
    splitCost: [new Float64Array(lengths.length), Float64Array.from(lengths, (one) => one / 4)],
    memoryCap: (slack * sum(lengths)) / (2 * groups),
  };
}

function drawn(seed: number, sequences: number, groups: number, slack: number, ratio = 30): Instance {
  const random = generator(seed * 977 + 5);
  for (let skipped = 0; skipped < 9; skipped += 1) random();
  const size = () => Math.round(100 * ratio ** random());
  return instanceOf(range(sequences).map(size), range(sequences).map(size), groups, slack);
}

/** Compute and tokens of the fullest devices, of every way to put the sequences into the top groups. */
function* everyWay({ sequences, devices, lengths, work }: Instance): Generator<{ compute: number; memory: number }> {
  const groups = devices / 2;
  const works = new Array<number>(groups).fill(0);
  const tokens = new Array<number>(groups).fill(0);
  function* from(i: number): Generator<{ compute: number; memory: number }> {
    if (i === sequences) {
      yield { compute: Math.max(...works) / 2, memory: Math.max(...tokens) / 2 };
      return;
    }
    for (let group = 0; group < groups; group += 1) {
      works[group]! += work[i]!;
      tokens[group]! += lengths[i]!;
      yield* from(i + 1);
      works[group]! -= work[i]!;
      tokens[group]! -= lengths[i]!;
    }
  }
  yield* from(0);
}

/** The least memory of any way if the one that is asked for is too little, and the least compute within it. */
function optimum(instance: Instance) {
  const ways = [...everyWay(instance)];
  const least = Math.min(...ways.map(({ memory }) => memory));
  const cap = Math.max(instance.memoryCap, least);
  const compute = (within: number) =>
    Math.min(...ways.filter(({ memory }) => memory <= within * (1 + 1e-9)).map((one) => one.compute));
  return { memory: cap, compute: compute(cap) };
}

const shapes = [
  [5, 2, 1.1],
  [6, 3, 1.2],
  [7, 3, 1.02],
  [8, 2, 1],
  [4, 4, 1.5],
  [7, 2, 0.9],
] as const;

describe('the best balance', () => {
  test.each(shapes)(
    'of %d sequences in %d groups with slack %d is that of the best of all ways',
    (sequences, groups, slack) => {
      for (const seed of range(12)) {
        const instance = drawn(seed, sequences, groups, slack);
        const best = optimum(instance);
        const { compute, bound, leastCompute, memoryCap, group } = bestBalance(instance);
        expect(memoryCap).toBeCloseTo(best.memory, 6);
        expect(compute).toBeCloseTo(best.compute, 6);
        expect(leastCompute).toBeCloseTo(best.compute, 6);
        expect(bound).toBeCloseTo(computeBound(instance, memoryCap), 9);
        const loads = (sizes: Float64Array) =>
          range(groups).map((one) => sum(sizes.filter((_, i) => group[i] === one)) / 2);
        expect(Math.max(...loads(instance.work))).toBeCloseTo(compute, 6);
        expect(Math.max(...loads(instance.lengths))).toBeLessThanOrEqual(memoryCap * (1 + 1e-9));
        expect(group).toHaveLength(sequences);
      }
    },
  );

  test('of sixteen sequences is found by trying all ways, of more it is as near to the bound as these', () => {
    expect(bestBalance(drawn(1, 16, 2, 1.1)).leastCompute).toBe(bestBalance(drawn(1, 16, 2, 1.1)).compute);
    const ratios = range(12).map((seed) => {
      const { compute, bound, leastCompute } = bestBalance(drawn(seed, 40, 4, 1.05));
      expect(leastCompute).toBe(bound);
      return compute / bound;
    });
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(1 - 1e-9);
    expect(Math.max(...ratios)).toBeLessThan(1.0003);
  });

  test('with many sequences and hardly any memory it keeps the limit, and is near to the bound', () => {
    for (const [slack, most] of [
      [1.005, 1.005],
      [1.0005, 1.015],
    ] as const) {
      for (const seed of range(6)) {
        const instance = drawn(seed, 40, 4, slack, 8);
        const { compute, bound, memoryCap } = bestBalance(instance);
        expect(memoryCap).toBe(instance.memoryCap);
        expect(compute / bound).toBeLessThan(most);
      }
    }
  });

  test('too little memory is raised to hardly more than the mean', () => {
    for (const seed of range(6)) {
      const instance = drawn(seed, 20, 3, 0.5);
      const { memoryCap, compute, bound, group } = bestBalance(instance);
      const tokens = sum(instance.lengths);
      const most = (sizes: Float64Array) =>
        Math.max(...range(3).map((one) => sum(sizes.filter((_, i) => group[i] === one)) / 2));
      expect(most(instance.work)).toBeCloseTo(compute, 6);
      expect(most(instance.lengths)).toBeLessThanOrEqual(memoryCap * (1 + 1e-9));
      expect(memoryCap).toBeGreaterThanOrEqual(tokens / 6);
      expect(memoryCap).toBeLessThan((tokens / 6) * 1.003);
      expect(compute).toBeGreaterThanOrEqual(bound);
    }
    const one = instanceOf([1000, 10, 10], [5, 4, 3], 2, 1);
    expect(bestBalance(one)).toMatchObject({ memoryCap: 500, compute: 3.5 });
  });

  test('nothing, or nothing but empty sequences, is even', () => {
    expect(bestBalance(instanceOf([], [], 2, 1))).toMatchObject({ compute: 0, bound: 0 });
    expect(bestBalance(instanceOf([0, 0, 0], [0, 0, 0], 2, 1))).toMatchObject({ compute: 0, bound: 0 });
  });
});

test('the limit is the tolerance above the least compute; where that is not known well, above what is known of it', () => {
  const balance = { compute: 100, bound: 90, leastCompute: 100, memoryCap: 1, group: new Int32Array() };
  expect(computeLimit(balance, 0)).toBe(100);
  expect(computeLimit(balance, 0.05)).toBeCloseTo(105, 9);
  // 0.04 % above the bound is known well enough.
  expect(computeLimit({ ...balance, leastCompute: 99.97 }, 0.05)).toBeCloseTo(105, 9);
  expect(computeLimit({ ...balance, leastCompute: 98 }, 0.05)).toBeCloseTo(98 * 1.0004 * 1.05, 9);
  expect(computeLimit({ ...balance, leastCompute: 90 }, 0.05)).toBe(100);
});

describe('the bound of compute', () => {
  test('is never above the optimum, and of 120 small batches 28 meet it', () => {
    let met = 0;
    for (const [sequences, groups, slack] of shapes) {
      for (const seed of range(20)) {
        const instance = drawn(seed, sequences, groups, slack);
        const { compute, memory } = optimum(instance);
        const bound = computeBound(instance, memory);
        expect(bound).toBeLessThanOrEqual(compute * (1 + 1e-9));
        if (bound > compute * (1 - 1e-6)) met += 1;
      }
    }
    expect(met).toBeGreaterThanOrEqual(28);
  });

  const bound = (lengths: readonly number[], work: readonly number[], groups: number, cap: number) =>
    computeBound(instanceOf(lengths, work, groups, 1), cap);
  const large = 1e9;

  test('is the mean where all can be even, and half of the longest where that is more', () => {
    expect(bound([1, 1, 1, 1], [4, 4, 4, 4], 2, large)).toBe(4);
    expect(bound([1, 1, 1], [40, 2, 2], 2, large)).toBe(20);
    expect(bound([], [], 2, large)).toBe(0);
    expect(bound([0, 0], [0, 0], 2, large)).toBe(0);
  });

  test('two of the three longest are together in one of two groups, three of the five longest', () => {
    expect(bound([1, 1, 1], [9, 8, 8], 2, large)).toBe(8);
    expect(bound([1, 1, 1, 1, 1], [9, 9, 8, 8, 8], 2, large)).toBe(12);
    expect(bound([1, 1, 1, 1], [9, 9, 8, 8], 2, large)).toBe(8.5);
    // Three groups: two of the four longest, three of the seven longest.
    expect(bound(new Array(4).fill(1), [9, 8, 7, 6], 3, large)).toBe(6.5);
    expect(bound(new Array(7).fill(1), [9, 9, 9, 9, 9, 8, 8], 3, large)).toBe(12.5);
  });

  test('the group of the longest must hold the tokens that fit nowhere else', () => {
    // Two groups with room for 20 tokens each: of 36, the group of the longest (10) holds 6 more, at 1 each at least.
    expect(bound([10, 6, 10, 10], [100, 6, 20, 30], 2, 10)).toBe(53);
    // Where all others fit into the other one, it holds nothing else.
    expect(bound([10, 6, 4, 8], [100, 6, 20, 30], 2, 10)).toBe(50);
    // Part of a sequence is enough for a bound: 4 tokens at 1 each; 8 of them, and 2 at 2 each.
    expect(bound([10, 8, 16], [100, 8, 32], 2, 10)).toBe(52);
    expect(bound([10, 8, 16], [100, 8, 32], 2, 7)).toBe(56);
  });
});

describe('the bound of communication', () => {
  test('is what each sequence costs where it fits, at the cheapest degree', () => {
    const random = generator(4);
    for (let run = 0; run < 30; run += 1) {
      const sequences = 6;
      const base = drawn(run, sequences, 4, 1);
      const splitCost = range(4).map((level) =>
        Float64Array.from({ length: sequences }, () => (level === 0 ? 0 : 1 + random())),
      );
      const instance: Instance = { ...base, devices: 8, levels: 4, splitCost };
      for (const [limit, cap] of [
        [200, 1e9],
        [1e9, 300],
        [700, 500],
        [50, 60],
      ] as const) {
        const each = range(sequences).map((i) => {
          const fit = range(4).filter(
            (level) => base.work[i]! / 2 ** level <= limit && base.lengths[i]! / 2 ** level <= cap,
          );
          return Math.min(...(fit.length === 0 ? [3] : fit).map((level) => splitCost[level]![i]!));
        });
        expect(communicationBound(instance, limit, cap)).toBeCloseTo(sum(each), 9);
      }
    }
  });
});
