/** What flex-ulysses makes of an earlier plan before it searches: replayed assignment by assignment. */
import { describe, expect, test } from 'vitest';
import type { FlexUlyssesSettings } from '../../../src/planners/flex-ulysses/index.ts';
import { Layout } from '../../../src/planners/flex-ulysses/search/layout.ts';
import { lowerStrays, putPrevious, rebuild } from '../../../src/planners/flex-ulysses/search/previous.ts';
import type { Problem } from '../../../src/planners/flex-ulysses/search/problem.ts';
import { range } from '../../support/basics/numbers.ts';
import { drawProblem, rounded, tally } from '../../support/placement/problems.ts';

type Assignment = NonNullable<FlexUlyssesSettings['previous']>['assignments'][number];

const argmin = (values: readonly number[]): number => values.indexOf(Math.min(...values));
const at = (sequence: number, degree: number, first: number): Assignment => ({
  sequence,
  degree,
  devices: range(degree).map((rank) => first + rank),
});

/** What each device would have most of, with a whole item. */
function loadsWith(problem: Problem, layout: Layout, item: number): number[] {
  const { work, memory } = tally(problem, layout);
  return work.map((load, device) => Math.max(load + problem.work[item]!, memory[device]! + problem.memory[item]!));
}

describe('putting items where they were', () => {
  const problem = drawProblem({ items: 14, devices: 8, top: 4, work: 0.9, memory: 0.7, ratio: 40, seed: 8 });
  const { sequence, least, cost, levels } = problem;
  const place = (layout: Layout, item: number) => [layout.level[item], layout.group[item]];
  const put = (assignments: readonly Assignment[]): Layout => {
    const layout = new Layout(problem);
    layout.put(3, 0, 5);
    putPrevious(layout, { assignments: [...assignments] });
    expect(layout.group.every((group) => group >= 0)).toBe(true);
    expect(rounded(layout.work)).toEqual(rounded(tally(problem, layout).work));
    return layout;
  };
  /** The level from which on an item fits, at which it is cheapest. */
  const cheapestLevel = (item: number): number => {
    const fit = range(levels).filter((level) => level >= least[item]!);
    return fit.reduce((best, level) => (cost[level]![item]! < cost[best]![item]! ? level : best));
  };

  test('the problem has items that fit on no device alone', () => {
    expect(least[0]).toBe(2);
    expect(least.filter((level) => level === 0).length).toBeGreaterThan(8);
  });

  test('an item stays on its group', () => {
    const last = sequence[13]!;
    for (const [degree, first] of [
      [1, 0],
      [1, 7],
      [2, 6],
      [4, 4],
      [4, 0],
    ] as const) {
      expect(place(put([at(last, degree, first)]), 13)).toEqual([Math.log2(degree), first / degree]);
    }
    // Both of two items, the first assignment of one that comes twice, and none that is not in the batch.
    const layout = put([at(last, 2, 4), at(sequence[12]!, 1, 3), at(last, 1, 0), at(99, 1, 1)]);
    expect([place(layout, 13), place(layout, 12)]).toEqual([
      [1, 2],
      [0, 3],
    ]);
  });

  test('an item that no longer fits there is spread further, at the cheapest degree, over devices around', () => {
    for (const item of range(14)) {
      if (least[item] === 0) continue;
      const level = cheapestLevel(item);
      expect(place(put([at(sequence[item]!, 1, 6)]), item)).toEqual([level, 6 >> level]);
      expect(place(put([at(sequence[item]!, 4, 4)]), item)).toEqual([2, 1]);
    }
  });

  test('what was elsewhere than groups are, or is new, goes to the least loaded device, longest first', () => {
    const wrong: Assignment[] = [
      { sequence: sequence[13]!, degree: 2, devices: [1, 2] },
      { sequence: sequence[13]!, degree: 8, devices: range(8) },
      { sequence: sequence[13]!, degree: 3, devices: [0, 1, 2] },
      { sequence: sequence[13]!, degree: 4, devices: [4, 5] },
      { sequence: sequence[13]!, degree: 1, devices: [8] },
      { sequence: sequence[13]!, degree: 4, devices: [8, 9, 10, 11] },
    ];
    for (const kept of [[], [at(sequence[4]!, 1, 2), at(sequence[0]!, 4, 4)]]) {
      const expected = new Layout(problem);
      for (const { sequence: one, degree, devices } of kept)
        expected.put(sequence.indexOf(one), Math.log2(degree), devices[0]! / degree);
      for (const item of range(14)) {
        if (expected.group[item]! >= 0) continue;
        const level = least[item] === 0 ? 0 : cheapestLevel(item);
        expected.put(item, level, argmin(loadsWith(problem, expected, item)) >> level);
      }
      for (const one of wrong) {
        const layout = put([one, ...kept]);
        expect([...layout.level]).toEqual([...expected.level]);
        expect([...layout.group]).toEqual([...expected.group]);
      }
    }
  });
});

describe('what is sharded needlessly', () => {
  const problem = drawProblem({ items: 120, devices: 8, top: 4, work: 0.8, memory: 0.7, ratio: 30, seed: 5 });
  const sharded = (items: readonly number[]): Layout => {
    const layout = new Layout(problem);
    for (const item of range(120)) layout.put(item, 0, item % 8);
    for (const item of items) layout.put(item, item % 2 === 0 ? 2 : 1, 1);
    return layout;
  };

  test('goes whole to the least loaded of its devices, where it is at most 2 % of the items', () => {
    for (const strays of [[], [7], [110, 33]]) {
      const layout = sharded(strays);
      const expected = sharded(strays);
      lowerStrays(layout);
      for (const item of [...strays].sort((a, b) => a - b)) {
        const degree = 2 ** expected.level[item]!;
        const own = loadsWith(problem, expected, item).slice(degree, 2 * degree);
        expected.put(item, 0, degree + argmin(own));
      }
      expect(layout.level).toEqual(new Uint8Array(120));
      expect([...layout.group]).toEqual([...expected.group]);
    }
  });

  test('stays sharded where it is more, and where an item does not fit whole', () => {
    const layout = sharded([7, 33, 110]);
    const before = layout.keep();
    lowerStrays(layout);
    expect(layout.keep()).toEqual(before);
    const long = new Layout({ ...problem, least: problem.least.map((_, item) => (item === 4 ? 1 : 0)) });
    for (const item of range(120)) long.put(item, item === 4 || item === 9 ? 1 : 0, 0);
    lowerStrays(long);
    expect([long.level[4], long.level[9]]).toEqual([1, 0]);
  });
});

describe('top groups that are over', () => {
  /** Four top groups of two devices, on which items stand as they are told. */
  const layoutOf = (work: readonly number[], places: readonly (readonly [level: number, group: number])[]): Layout => {
    const items = work.length;
    const base = drawProblem({ items, devices: 8, top: 2, work: 0.5, memory: 0.5, ratio: 1, seed: 1 });
    const layout = new Layout({
      ...base,
      work: Float64Array.from(work),
      memory: Float64Array.from(work, (one) => one / 9),
    });
    for (const [item, [level, group]] of places.entries()) layout.put(item, level, group);
    return layout;
  };
  const places = (layout: Layout) => [...layout.level].map((level, item) => [level, layout.group[item]]);

  test('are filled anew, together with as many others as have room; what is sharded stays', () => {
    const work = [0.8, 0.7, 0.6, 0.6, 0.5, 0.4, 0.3, 0.2, 0.2];
    // Device 2 has 1.4. Its group and the first one have 0.7 of room, less than two halves of the usual 0.925.
    const before = [
      [0, 2],
      [0, 0],
      [0, 2],
      [1, 3],
      [0, 3],
      [0, 1],
      [0, 3],
      [0, 4],
      [0, 5],
    ] as const;
    const layout = layoutOf(work, before);
    expect(layout.load(2)).toBeCloseTo(1.4, 9);
    rebuild(layout);
    const expected = layoutOf(work, before);
    const moved = [0, 1, 2, 4, 5, 6, 7, 8];
    const devices = [2, 3, 0, 1, 4, 5];
    for (const item of moved) expected.remove(item);
    for (const item of moved) {
      const loads = loadsWith(expected.problem, expected, item);
      expected.put(item, 0, devices[argmin(devices.map((device) => loads[device]!))]!);
    }
    expect(places(layout)).toEqual(places(expected));
    expect(layout.fits()).toBe(true);
    expect(layout.level).toEqual(expected.level);
  });

  test('alone, where they have half of the usual room', () => {
    const work = [0.7, 0.7, 0.3, 0.9, 0.9];
    const before = [
      [0, 6],
      [0, 6],
      [0, 0],
      [0, 1],
      [0, 3],
    ] as const;
    const layout = layoutOf(work, before);
    rebuild(layout);
    expect(layout.fits()).toBe(true);
    expect(places(layout).slice(2)).toEqual(before.slice(2).map((place) => [...place]));
    expect([layout.group[0], layout.group[1]]).toEqual([6, 7]);
  });

  test('are none where all fits', () => {
    const work = [0.7, 0.7, 0.3];
    const layout = layoutOf(work, [
      [0, 6],
      [0, 5],
      [0, 6],
    ]);
    const before = layout.keep();
    rebuild(layout);
    expect(layout.keep()).toEqual(before);
  });
});
