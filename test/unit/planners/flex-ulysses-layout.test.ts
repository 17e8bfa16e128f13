/** The books that the search of flex-ulysses keeps of a layout, against what is summed up from scratch. */
import { describe, expect, test } from 'vitest';
import { GroupLayout, none } from '../../../src/planners/flex-ulysses/search/group-layout.ts';
import { emptyLoad } from '../../../src/planners/flex-ulysses/search/group-load.ts';
import { Layout, leastLoaded, leastLoadedOf } from '../../../src/planners/flex-ulysses/search/layout.ts';
import type { Problem } from '../../../src/planners/flex-ulysses/search/problem.ts';
import { generator, range } from '../../support/basics/numbers.ts';
import { drawProblem, rounded, tally } from '../../support/placement/problems.ts';

const pick = (random: () => number, count: number): number => Math.floor(random() * count);
describe('a layout of devices', () => {
  const problem = drawProblem({ items: 9, devices: 8, top: 4, work: 0.8, memory: 0.9, seed: 1 });
  const random = generator(3);
  const place = (layout: Layout, item = pick(random, problem.items)): void => {
    const level = pick(random, problem.levels);
    layout.put(item, level, pick(random, problem.devices >> level));
  };
  const check = (layout: Layout): void => {
    const { work, memory, cost, fits } = tally(problem, layout);
    expect(rounded(layout.work)).toEqual(rounded(work));
    expect(rounded(layout.memory)).toEqual(rounded(memory));
    expect(layout.cost).toBeCloseTo(cost, 9);
    expect(layout.fits()).toBe(fits);
    const loads = work.map((one, device) => Math.max(one, memory[device]!));
    expect(rounded(loads.map((_, device) => layout.load(device)))).toEqual(rounded(loads));
    expect(layout.over()).toBeCloseTo(
      loads.reduce((sum, load) => sum + Math.max(0, load - 1), 0),
      9,
    );
  };

  test('counts what is put, taken away, kept and put back', () => {
    const layout = new Layout(problem);
    check(layout);
    let kept = layout.keep();
    for (let step = 0; step < 300; step += 1) {
      const item = pick(random, problem.items);
      const what = pick(random, 12);
      if (what === 0 && layout.group[item]! >= 0) layout.remove(item);
      else if (what === 1) {
        for (const one of range(problem.items)) if (layout.group[one]! < 0) place(layout, one);
        kept = layout.keep();
        expect(kept.cost).toBeCloseTo(tally(problem, kept).cost, 9);
      } else if (what === 2 && kept.group.every((group) => group >= 0)) {
        const { level, group } = structuredClone(kept);
        layout.restore(kept);
        expect([layout.level, layout.group]).toEqual([level, group]);
        // What was kept is a copy.
        place(layout);
        expect([kept.level, kept.group]).toEqual([level, group]);
      } else place(layout, item);
      check(layout);
    }
    layout.clear();
    expect(layout.group.every((group) => group === -1)).toBe(true);
    expect([...layout.work, ...layout.memory, layout.cost]).toEqual(new Array(17).fill(0));
  });

  test('fits up to its limits, in work and in tokens', () => {
    for (const [work, memory, fits] of [
      [1, 0.5, true],
      [0.5, 1, true],
      [1 + 1e-8, 0.5, false],
      [0.5, 1 + 1e-8, false],
    ] as const) {
      const layout = new Layout(drawProblem({ items: 1, devices: 1, top: 1, work, memory, seed: 1 }));
      layout.put(0, 0, 0);
      expect(layout.fits()).toBe(fits);
    }
  });

  test('the least loaded device is that which has least of what it has most of, with the item; the first of several', () => {
    const layout = new Layout(problem);
    const naive = (item: number, devices: readonly number[]): number => {
      const after = devices.map((device) =>
        Math.max(layout.work[device]! + problem.work[item]!, layout.memory[device]! + problem.memory[item]!),
      );
      return devices[after.indexOf(Math.min(...after))]!;
    };
    for (let step = 0; step < 200; step += 1) {
      const from = pick(random, 8);
      const to = from + 1 + pick(random, 8 - from);
      const item = pick(random, problem.items);
      const some = range(to - from).map((one) => from + one);
      expect(leastLoaded(layout, item, from, to)).toBe(naive(item, some));
      const others = some.filter((one) => one % 2 === 0 || one === from).reverse();
      expect(leastLoadedOf(layout, item, others)).toBe(naive(item, others));
      if (step > 20) place(layout);
    }
  });
});

/** Whole items, most work first, each to the device that has least after it; the first of several. */
function wholeLoads({ work, memory, top }: Problem, items: readonly number[], before = { work: 0, memory: 0 }) {
  const works = new Array<number>(top).fill(before.work);
  const memories = new Array<number>(top).fill(before.memory);
  for (const item of [...items].sort((a, b) => a - b)) {
    const after = works.map((load, one) => Math.max(load + work[item]!, memories[one]! + memory[item]!));
    const device = after.indexOf(Math.min(...after));
    works[device]! += work[item]!;
    memories[device]! += memory[item]!;
  }
  return { works, memories };
}

describe('a layout of top groups', () => {
  const problem = drawProblem({ items: 60, devices: 8, top: 4, work: 1, memory: 1, seed: 2 });
  const { groups, top, items, levels } = problem;
  const random = generator(9);
  /** What a group has, summed up. */
  const expectedOf = (layout: GroupLayout, group: number) => {
    const own = range(items).filter((item) => layout.group[item] === group);
    const whole = own.filter((item) => layout.spread[item] === 0);
    const sum = (of: readonly number[], sizes: Float64Array) => of.reduce((all, item) => all + sizes[item]!, 0);
    const spread = own.filter((item) => layout.spread[item] === 1);
    const { works, memories } = wholeLoads(problem, whole);
    const load = {
      spreadWork: sum(spread, problem.work),
      spreadMemory: sum(spread, problem.memory),
      wholeWork: sum(whole, problem.work),
      wholeMemory: sum(whole, problem.memory),
      peakWork: Math.max(...works),
      peakMemory: Math.max(...memories),
    };
    const above = (spreadOver: number, peak: number) => Math.max(0, spreadOver / top + peak - 1);
    const surplus = (all: number) => Math.max(0, all / top - 1);
    const over =
      above(load.spreadWork, load.peakWork) +
      above(load.spreadMemory, load.peakMemory) +
      layout.surplusWeight *
        (surplus(load.spreadWork + load.wholeWork) + surplus(load.spreadMemory + load.wholeMemory));
    return { load: { ...load, over }, whole };
  };
  const check = (layout: GroupLayout): void => {
    layout.measure();
    let overall = 0;
    for (const group of range(groups)) {
      const { load, whole } = expectedOf(layout, group);
      for (const [name, value] of Object.entries(load)) {
        expect(layout.loads[group]![name as keyof typeof load], name).toBeCloseTo(value, 9);
      }
      expect([...layout.wholeOf(group)]).toEqual(whole);
      overall += load.over;
    }
    expect(layout.overall).toBeCloseTo(overall, 9);
    const spread = range(items).filter((item) => layout.spread[item] === 1);
    expect(layout.cost).toBeCloseTo(
      spread.reduce((sum, item) => sum + problem.cost[levels - 1]![item]!, 0),
      9,
    );
  };
  const put = (layout: GroupLayout, item: number): void => layout.put(item, pick(random, groups), pick(random, 2));

  test.each([0, 0.5, 3])('counts what is put, taken away and turned; a surplus counts %d times', (surplusWeight) => {
    const layout = new GroupLayout(problem);
    layout.surplusWeight = surplusWeight;
    for (const item of range(items).reverse()) put(layout, item);
    for (let step = 0; step < 100; step += 1) {
      check(layout);
      const item = pick(random, items);
      if (step % 3 === 0) {
        const spread = layout.spread[item]!;
        const same = range(items).filter((one) => layout.spread[one] === spread && (one * 7) % 5 === 1);
        layout.turn(Int32Array.from(same), 1 - spread);
      } else {
        layout.take(item);
        put(layout, item);
      }
    }
  });

  test('what a group would have without one whole item and with another, in full or until it is too much', () => {
    const layout = new GroupLayout(problem);
    for (const item of range(items)) layout.put(item, item % 3 === 0 ? 0 : 1, item % 4 === 0 ? 1 : 0);
    const load = emptyLoad();
    const whole = [...layout.wholeOf(0)];
    const others = [...layout.wholeOf(1)];
    for (const leaves of [none, whole[0]!, whole[3]!, whole.at(-1)!]) {
      for (const joins of [none, others[0]!, others[4]!, others.at(-1)!]) {
        const then = whole.filter((item) => item !== leaves);
        const { works, memories } = wholeLoads(problem, joins === none ? then : [...then, joins]);
        layout.findPeaks(0, leaves, joins, 1e9, load);
        expect(load.peakWork).toBeCloseTo(Math.max(...works), 9);
        expect(load.peakMemory).toBeCloseTo(Math.max(...memories), 9);
        for (const cut of [0.3, 0.6].map((share) => share * Math.max(...works))) {
          layout.findPeaks(0, leaves, joins, cut, load);
          expect(load.peakWork).toBeGreaterThan(cut);
        }
        layout.findPeaks(0, leaves, joins, Math.max(...works) * 1.001, load);
        expect(load.peakWork).toBeCloseTo(Math.max(...works), 9);
      }
    }
  });

  test('is written down device by device, beside what its groups have spread', () => {
    const layout = new GroupLayout(problem);
    for (const item of range(items)) put(layout, item);
    const devices = new Layout(problem);
    devices.put(0, 0, 0);
    layout.writeTo(devices);
    const { work, memory } = tally(problem, devices);
    expect(rounded(devices.work)).toEqual(rounded(work));
    expect(rounded(devices.memory)).toEqual(rounded(memory));
    for (const item of range(items)) {
      const level = layout.spread[item] === 1 ? levels - 1 : 0;
      expect(devices.level[item]).toBe(level);
      expect(Math.floor((devices.group[item]! * 2 ** level) / top)).toBe(layout.group[item]);
    }
    for (const group of range(groups)) {
      const { load, whole } = expectedOf(layout, group);
      const { works } = wholeLoads(problem, whole, { work: load.spreadWork / top, memory: load.spreadMemory / top });
      expect(rounded(work.slice(group * top, (group + 1) * top))).toEqual(rounded(works));
    }
  });

  test('nothing is left when all is taken away', () => {
    const layout = new GroupLayout(problem);
    for (const item of range(items)) put(layout, item);
    layout.clear();
    layout.measure();
    expect(layout.loads).toEqual(range(groups).map(emptyLoad));
    expect([layout.cost, layout.overall]).toEqual([0, 0]);
    expect(range(groups).flatMap((group) => [...layout.wholeOf(group)])).toEqual([]);
  });
});
