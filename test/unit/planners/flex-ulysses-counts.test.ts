/** The parts of flex-ulysses for nearly equal lengths that go through counts: what is called exact is, by brute force. */
import { describe, expect, test } from 'vitest';
import { annealDevices } from '../../../src/planners/flex-ulysses/search/anneal-devices.ts';
import { choices, placeCounts } from '../../../src/planners/flex-ulysses/search/counts.ts';
import { Layout } from '../../../src/planners/flex-ulysses/search/layout.ts';
import { layGroups, lowerTop } from '../../../src/planners/flex-ulysses/search/lower.ts';
import { finely, largestSum, partition } from '../../../src/planners/flex-ulysses/search/partition.ts';
import { Sequence } from '../../../src/planners/flex-ulysses/search/random.ts';
import { generator, range } from '../../support/basics/numbers.ts';
import { drawProblem, rounded, tally } from '../../support/placement/problems.ts';

const alike = (seed: number, items: number, devices: number, top: number, work = 0.98) =>
  drawProblem({ items, devices, top, work, memory: 0.9, ratio: 1.1, seed });

/** How many items a layout has at each level. */
const countsOf = ({ level, problem }: Layout) =>
  range(problem.levels).map((one) => level.filter((at) => at === one).length);

test('the largest sum below a limit is that of all subsets', () => {
  const random = generator(7);
  for (const count of range(12)) {
    const sizes = range(count).map(() => 1 + random());
    for (const share of [-0.1, 0, 0.3, 0.5, 0.99, 1.1]) {
      const most = share * sizes.reduce((sum, one) => sum + one, 0);
      const sums = range(2 ** count).map((set) => sizes.reduce((sum, one, at) => sum + ((set >> at) & 1) * one, 0));
      const fitting = sums.filter((sum) => sum <= most);
      const chosen = largestSum(sizes, most);
      expect(chosen === undefined).toBe(fitting.length === 0);
      const sum = sizes.reduce((total, one, at) => total + (chosen?.[at] === true ? one : 0), 0);
      if (chosen !== undefined) expect(sum).toBeCloseTo(Math.max(...fitting), 12);
    }
  }
});

describe('layouts', () => {
  test.each([
    [29, 16, 8],
    [40, 16, 4],
    [37, 24, 8],
    [24, 32, 16],
  ] as const)(
    'of %d items on %d devices, up to degree %d, have the counts that were asked for',
    (items, devices, top) => {
      for (const choice of choices) {
        for (const shared of [0, 3, items - 1]) {
          const problem = alike(shared, items, devices, top);
          const layout = new Layout(problem);
          const level = 2;
          const higher = problem.levels > 3 ? [{ level: 3, count: 1 }] : [];
          expect(placeCounts(layout, { level, shared, higher }, choice)).toBe(true);
          const counts = countsOf(layout);
          expect(counts[level]).toBe(shared);
          const { work, cost } = tally(problem, layout);
          expect(rounded(layout.work)).toEqual(rounded(work));
          expect(layout.cost).toBeCloseTo(cost, 7);
          const cooling = { temperature: [0.1, 0.001], price: [30, 3000] } as const;
          annealDevices(layout, { steps: 2000, ...cooling, frozen: 'counts' }, new Sequence(1));
          expect(countsOf(layout)).toEqual(counts);
          partition(layout, level, finely);
          expect(countsOf(layout)).toEqual(counts);
          expect(rounded(layout.work)).toEqual(rounded(tally(problem, layout).work));
        }
      }
    },
  );

  test('too few items for the counts are refused', () => {
    expect(placeCounts(new Layout(alike(1, 10, 8, 8)), { level: 3, shared: 11, higher: [] }, 'even')).toBe(false);
  });

  test('groups that share everything become equal to a part in 1e8, where exchanges leave a part in 1e4', () => {
    for (const seed of range(5)) {
      const problem = alike(seed, 64, 32, 8, 1 - 1e-8);
      const layout = new Layout(problem);
      for (const item of range(64)) layout.put(item, 3, item % 4);
      expect(layout.fits()).toBe(false);
      expect(partition(layout, 3, finely)).toBe(true);
      expect(tally(problem, layout).fits).toBe(true);
    }
  });

  test('equal items become whole in layers where no room is left', () => {
    const drawn = alike(3, 64, 32, 8, 1);
    const sizes = range(64).map((item) => 1 + 0.001 * Math.floor((63 - item) / 16));
    const total = sizes.reduce((sum, one) => sum + one, 0);
    const problem = { ...drawn, work: Float64Array.from(sizes, (one) => (32 * one * (1 - 1e-9)) / total) };
    const layout = new Layout(problem);
    for (const item of range(64)) layout.put(item, 3, item % 4);
    expect(partition(layout, 3, finely)).toBe(true);
    layGroups(layout, 3);
    expect(tally(problem, layout).fits).toBe(true);
    expect(countsOf(layout)[0]).toBeGreaterThan(0);
  });

  test.each([
    [64, 0],
    [66, 2],
  ] as const)('%d items of two top groups without room are shared by exact halves, all but %d', (items, stay) => {
    for (const seed of range(4)) {
      const drawn = alike(seed, items, 32, 16, 1);
      const random = generator(seed + 1);
      const sizes = range(items).map(() => 1 + 0.02 * random());
      const work = Float64Array.from(sizes.sort((a, b) => b - a));
      const layout = new Layout({ ...drawn, work });
      for (const item of range(items)) layout.put(item, 4, item % 2);
      partition(layout, 4, finely);
      const most = Math.max(...layout.work) * (1 + 1e-8);
      const problem = { ...drawn, work: work.map((one) => one / most) };
      const lowered = new Layout(problem);
      for (const item of range(items)) lowered.put(item, 4, layout.group[item]!);
      lowerTop(lowered, 3);
      expect(tally(problem, lowered).fits).toBe(true);
      expect(rounded(lowered.work)).toEqual(rounded(tally(problem, lowered).work));
      expect(countsOf(lowered)[3]).toBe(items - stay);
      expect(countsOf(lowered)[4]).toBe(stay);
    }
  });
});
