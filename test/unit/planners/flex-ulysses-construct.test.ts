/** Layouts that flex-ulysses makes in one pass, replayed item by item; and how long and where from its search looks. */
import { describe, expect, test } from 'vitest';
import {
  construct,
  constructGroups,
  constructLayers,
  readGroups,
  spreadLayers,
} from '../../../src/planners/flex-ulysses/search/construct.ts';
import { effortFor, isCrowded } from '../../../src/planners/flex-ulysses/search/effort.ts';
import { GroupLayout } from '../../../src/planners/flex-ulysses/search/group-layout.ts';
import { Layout } from '../../../src/planners/flex-ulysses/search/layout.ts';
import { type Problem, problemOf } from '../../../src/planners/flex-ulysses/search/problem.ts';
import { rank } from '../../../src/planners/flex-ulysses/search/ranking.ts';
import { again, isFew, startsFor } from '../../../src/planners/flex-ulysses/search/starts.ts';
import { range, sum } from '../../support/basics/numbers.ts';
import { drawProblem, rounded, tally } from '../../support/placement/problems.ts';

const argmin = (values: readonly number[]): number => values.indexOf(Math.min(...values));

/** Gives items to groups: to the fullest that has room for them up to a fill, else to the least loaded one. */
function giver({ work, memory, groups, top }: Problem) {
  const works = new Array<number>(groups).fill(0);
  const memories = new Array<number>(groups).fill(0);
  return (items: readonly number[], fill: number): number => {
    const moreWork = sum(items.map((item) => work[item]!)) / top;
    const moreMemory = sum(items.map((item) => memory[item]!)) / top;
    const after = works.map((load, group) => Math.max(load + moreWork, memories[group]! + moreMemory));
    const room = after.filter((load) => load <= fill);
    const group = room.length > 0 ? after.indexOf(Math.max(...room)) : argmin(after);
    works[group]! += moreWork;
    memories[group]! += moreMemory;
    return group;
  };
}

const problems = [
  { items: 30, devices: 16, top: 4, work: 0.8, memory: 0.9, ratio: 60, seed: 1 },
  { items: 12, devices: 16, top: 2, work: 0.7, memory: 0.7, ratio: 20, seed: 2 },
  { items: 50, devices: 8, top: 2, work: 1, memory: 1, ratio: 90, seed: 3 },
];

describe.each(problems)('in one pass: %j', (shape) => {
  const problem = drawProblem(shape);
  const { items, levels, devices, least, top } = problem;

  test.each([
    [0, 0],
    [3, 0.6],
    [8, 1],
    [8, 0.3],
  ])(
    'the %d longest, and what fits on no device, are spread with fill %d; then each to the least loaded device',
    (spread, fill) => {
      const layout = new Layout(problem);
      layout.put(items - 1, 0, devices - 1);
      construct(layout, spread, fill);
      const give = giver(problem);
      const expected = { level: new Array<number>(items).fill(0), group: new Array<number>(items).fill(-1) };
      const isSpread = (item: number) => item < spread || least[item]! > 0;
      for (const item of range(items).filter(isSpread)) {
        expected.level[item] = levels - 1;
        expected.group[item] = give([item], fill);
      }
      for (const item of range(items).filter((one) => !isSpread(one))) {
        const { work, memory } = tally(problem, expected);
        expected.group[item] = argmin(
          work.map((load, device) => Math.max(load + problem.work[item]!, memory[device]! + problem.memory[item]!)),
        );
      }
      expect([...layout.level]).toEqual(expected.level);
      expect([...layout.group]).toEqual(expected.group);
      expect(rounded(layout.work)).toEqual(rounded(tally(problem, expected).work));
    },
  );

  const placesOf = (layout: GroupLayout) => [[...layout.group], [...layout.spread]];
  const overallOf = (layout: GroupLayout): number => {
    const copy = new GroupLayout(problem);
    for (const item of range(items)) copy.put(item, layout.group[item]!, layout.spread[item]!);
    copy.measure();
    return copy.overall;
  };

  test.each([0, 0.6, 1])('into groups, item by item, with fill %d for what must be spread', (fill) => {
    const layout = new GroupLayout(problem);
    layout.put(0, 1, 1);
    constructGroups(layout, fill);
    const give = giver(problem);
    expect(placesOf(layout)).toEqual([
      range(items).map((item) => give([item], least[item]! > 0 ? fill : -1)),
      Array.from(least, (level) => (level > 0 ? 1 : 0)),
    ]);
    expect(layout.overall).toBeCloseTo(overallOf(layout), 9);
  });

  test.each([0, 0.6, 1])('into groups by layers of as many items as a group has devices, with fill %d', (fill) => {
    const layout = new GroupLayout(problem);
    layout.put(0, 1, 1);
    constructLayers(layout, fill);
    const give = giver(problem);
    const group = new Array<number>(items).fill(-1);
    for (const item of range(items)) if (least[item]! > 0) group[item] = give([item], fill);
    const whole = range(items).filter((item) => least[item] === 0);
    for (let at = 0; at < whole.length; at += top) {
      const layer = whole.slice(at, at + top);
      const own = give(layer, -1);
      for (const item of layer) group[item] = own;
    }
    expect(placesOf(layout)).toEqual([group, Array.from(least, (level) => (level > 0 ? 1 : 0))]);
    expect(layout.overall).toBeCloseTo(overallOf(layout), 9);
  });

  test('groups are read out of a layout of devices: what is not whole is spread', () => {
    const devicesLayout = new Layout(problem);
    for (const item of range(items)) devicesLayout.put(item, item % levels, (item * 5) % (devices >> (item % levels)));
    const layout = new GroupLayout(problem);
    layout.put(0, 1, 1);
    readGroups(layout, devicesLayout);
    expect(placesOf(layout)).toEqual([
      range(items).map((item) =>
        Math.floor((((item * 5) % (devices >> (item % levels))) * 2 ** (item % levels)) / top),
      ),
      range(items).map((item) => (item % levels === 0 ? 0 : 1)),
    ]);
    expect(layout.overall).toBeCloseTo(overallOf(layout), 9);
  });

  test('runs of neighbours are spread until no group is over, what relieves most for its cost first', () => {
    const layout = new GroupLayout(problem);
    constructGroups(layout, 0);
    const naive = new GroupLayout(problem);
    constructGroups(naive, 0);
    spreadLayers(layout);
    const costs = problem.cost[levels - 1]!;
    for (const group of range(problem.groups)) {
      for (;;) {
        const over = naive.measureGroup(group);
        if (over <= 1e-9) break;
        const whole = range(items).filter((item) => naive.group[item] === group && naive.spread[item] === 0);
        const runs = whole.flatMap((_, at) =>
          [1, 2, 3, 4, top, 2 * top, whole.length - at]
            .filter((count) => at + count <= whole.length)
            .map((count) => whole.slice(at, at + count)),
        );
        const rates = runs.map((run) => {
          naive.turn(Int32Array.from(run), 1);
          const relieved = over - naive.measureGroup(group);
          naive.turn(Int32Array.from(run), 0);
          return relieved <= 1e-9 ? 0 : relieved / (sum(run.map((item) => costs[item]!)) + 1e-9);
        });
        if (Math.max(0, ...rates) === 0) break;
        naive.turn(Int32Array.from(runs[rates.indexOf(Math.max(...rates))]!), 1);
      }
    }
    expect(placesOf(layout)).toEqual(placesOf(naive));
    expect(layout.overall).toBeCloseTo(overallOf(layout), 9);
  });

  test('fills are ranked by what is over', () => {
    const layout = new Layout(problem);
    const seen: number[] = [];
    const { spread, fills, cost } = rank(layout, 6, () => {
      seen.push(layout.over());
      return false;
    });
    expect([spread, fills.length, new Set(fills.map(({ fill }) => fill)).size]).toEqual([6, 10, 10]);
    expect(seen[0]).toBe(fills.find(({ fill }) => fill === 0)!.over);
    for (const [at, { fill, over }] of fills.entries()) {
      construct(layout, 6, fill);
      expect(over).toBeCloseTo(layout.over(), 12);
      expect(cost).toBeCloseTo(layout.cost, 9);
      expect(over).toBeGreaterThanOrEqual(fills[at - 1]?.over ?? 0);
    }
    // The first two that are tried are none and 0.6; then it was told to stop.
    let calls = 0;
    const stopped = rank(layout, 6, () => {
      calls += 1;
      return calls === 2;
    });
    expect(stopped.fills.map(({ fill }) => fill).sort()).toEqual([0, 0.6]);
  });
});

describe('a problem', () => {
  const instance = {
    sequences: 4,
    devices: 4,
    levels: 3,
    lengths: Float64Array.of(10, 0, 40, 8),
    work: Float64Array.of(30, 7, 5, 2),
    byWork: [0, 1, 2, 3],
    splitCost: [new Float64Array(4), Float64Array.of(6, 0, 12, 3), Float64Array.of(2, 0, 4, 2)],
    memoryCap: 20,
  };

  test('has limits of 1, no empty sequence, and the least degrees and costs at which its items fit', () => {
    const problem = problemOf(instance, 10, 20);
    expect(problem).toMatchObject({ items: 3, sequence: [0, 2, 3], devices: 4, levels: 3, top: 4, groups: 1 });
    expect([...problem.work]).toEqual([3, 0.5, 0.2]);
    expect([...problem.memory]).toEqual([0.5, 2, 0.4]);
    // Everything at the top costs 8: 2 a device.
    expect(problem.cost.map((costs) => [...costs])).toEqual([
      [0, 0, 0],
      [3, 6, 1.5],
      [1, 2, 1],
    ]);
    expect([...problem.least]).toEqual([2, 1, 0]);
    expect([...problem.cheapest]).toEqual([1, 2, 0]);
    expect(problem.bound).toBe(3);
  });

  test('without costs costs nothing', () => {
    const free = instance.splitCost.map((costs) => costs.map(() => 0));
    expect(problemOf({ ...instance, splitCost: free }, 10, 20)).toMatchObject({ bound: 0 });
  });

  test('what takes just a limit fits', () => {
    expect([...problemOf(instance, 30, 40).least]).toEqual([0, 0, 0]);
    expect([...problemOf(instance, 30 / (1 + 1e-10), 40).least]).toEqual([0, 0, 0]);
    expect([...problemOf(instance, 29.999, 40).least]).toEqual([1, 0, 0]);
    expect([...problemOf(instance, 30, 39.999).least]).toEqual([0, 1, 0]);
  });
});

describe('efforts', () => {
  /** Items of a batch, one in `every` of which is long. */
  const sized = (items: number, devices: number, ratio = 3000): Problem =>
    drawProblem({ items, devices, top: 1, work: 0.9, memory: 0.9, ratio, seed: 1 });
  const effort = (items: number, devices: number, name: 'fast' | 'default' | 'thorough' = 'default') =>
    effortFor(name, sized(items, devices));
  const steps = ['deviceSteps', 'groupSteps', 'polishSteps'] as const;

  test('three sequences a device are many', () => {
    expect([isCrowded(24, 8), isCrowded(23, 8)]).toEqual([true, false]);
  });

  test('every effort has whole numbers of steps, and takes more than the one before', () => {
    for (const [items, devices] of [
      [1, 1],
      [20, 16],
      [64, 8],
      [200, 16],
      [300, 128],
      [2100, 512],
    ] as const) {
      const [fast, usual, thorough] = (['fast', 'default', 'thorough'] as const).map((name) =>
        effort(items, devices, name),
      );
      for (const one of [fast!, usual!, thorough!]) {
        for (const [name, count] of Object.entries(one)) expect(count >= 0, `${name} is ${count}`).toBe(true);
        for (const name of [...steps, 'starts', 'prefixes', 'shakes', 'enumerated'] as const) {
          expect(Number.isInteger(one[name])).toBe(true);
        }
      }
      for (const name of Object.keys(fast!) as (keyof NonNullable<typeof fast>)[]) {
        if (name === 'coarseTimes') continue;
        expect(usual![name], name).toBeGreaterThanOrEqual(fast![name]);
        expect(thorough![name], name).toBeGreaterThanOrEqual(usual![name]);
      }
      for (const name of [...steps, 'exchanges', 'completion', 'enumerated'] as const) {
        expect(thorough![name], name).toBeGreaterThan(usual![name]);
        expect(usual![name], name).toBeGreaterThan(fast![name]);
      }
    }
  });

  test('up to twice as many steps are taken for few items, the usual ones for 256 to 512, beyond in proportion', () => {
    for (const name of steps) {
      // Devices have few items each; of many items 0.7 as many steps.
      const of = (items: number) => effort(items, items)[name];
      expect(of(8)).toBe(of(128));
      expect(of(8) / of(400)).toBeCloseTo(2 / 0.7, 3);
      expect(of(192) / of(400)).toBeCloseTo(256 / 192, 3);
      expect(of(512)).toBe(of(300));
      expect(of(1024) / of(512)).toBeCloseTo(2, 3);
      expect(of(1536) / of(512)).toBeCloseTo(3, 3);
    }
  });

  test('where devices have many items, more steps and fewer exchanges are taken, unless items are few or very many', () => {
    const crowded = (items: number) => effort(items, 2);
    const loose = (items: number) => effort(items, items);
    expect(crowded(128).deviceSteps).toBe(loose(128).deviceSteps);
    expect(crowded(128).groupSteps).toBe(2 * loose(128).groupSteps);
    expect(crowded(129).deviceSteps / loose(129).deviceSteps).toBeCloseTo(4 / 0.7, 2);
    expect(crowded(400).polishSteps / loose(400).polishSteps).toBeCloseTo(4 / 0.7, 2);
    expect(crowded(2048).deviceSteps / loose(2048).deviceSteps).toBeCloseTo(4 / 0.7, 2);
    expect(crowded(2049).deviceSteps / loose(2049).deviceSteps).toBeCloseTo(1 / 0.7, 2);
    expect(crowded(128).exchanges).toBe(8 * crowded(129).exchanges);
    expect(loose(128).exchanges).toBe(crowded(129).exchanges);
    expect(loose(129).exchanges).toBe(crowded(129).exchanges);
    // A quarter of the prefixes, one fill of each; shaken only where few.
    expect(crowded(100).prefixes).toBe(4 * loose(100).prefixes);
    expect([loose(100).polished, crowded(100).polished]).toEqual([1, 3]);
    expect([crowded(64).shakes, crowded(65).shakes, loose(64).shakes, loose(65).shakes]).toEqual([4, 1, 1, 0]);
  });

  test('very many items leave time for three starts', () => {
    expect([effort(2048, 512).starts, effort(2049, 512).starts, effort(2049, 512, 'fast').starts]).toEqual([24, 3, 3]);
  });

  test('the fast one takes four times as many steps over groups where hardly any item is short', () => {
    const groupSteps = (ratio: number, name: 'fast' | 'default') => effortFor(name, sized(32, 16, ratio)).groupSteps;
    expect(groupSteps(2, 'fast')).toBe(4 * groupSteps(100_000, 'fast'));
    expect(groupSteps(2, 'default')).toBe(groupSteps(100_000, 'default'));
    // An eighth of the items must be below a 32nd of a device.
    const base = sized(16, 16, 1);
    const short = (count: number): Problem => ({
      ...base,
      work: base.work.map((_, item) => (item < 16 - count ? 0.9 : 1 / 32)),
    });
    expect(effortFor('fast', short(1)).groupSteps).toBe(4 * effortFor('fast', short(2)).groupSteps);
    expect(effortFor('fast', { ...base, items: 0, work: new Float64Array() }).groupSteps).toBe(4000);
  });
});

describe('starts', () => {
  const of = (items: number, devices: number, effort: 'fast' | 'default' = 'default') =>
    startsFor(drawProblem({ items, devices, top: 1, work: 0.9, memory: 0.9, seed: 1 }), effort);

  test('each says what is moved, from where, and how it cools', () => {
    for (const start of [
      ...of(300, 10),
      ...of(100, 10),
      ...of(100, 50),
      ...of(300, 200),
      ...of(300, 200, 'fast'),
      again,
    ]) {
      const { over, from, fill, temperature, price, surplusWeight, patience } = start;
      expect(['devices', 'groups']).toContain(over);
      expect(over === 'devices' ? ['items', 'flat'] : ['items', 'layers', 'flat', 'layout']).toContain(from);
      expect(typeof fill === 'number' ? fill >= 0 && fill <= 1 : ['best', 'second'].includes(fill)).toBe(true);
      expect(temperature[0]).toBeGreaterThan(temperature[1]);
      expect(temperature[1]).toBeGreaterThan(0);
      expect(price[0]).toBeGreaterThan(0);
      expect(price[1]).toBeGreaterThanOrEqual(price[0]);
      expect(surplusWeight).toBeGreaterThanOrEqual(0);
      expect(patience).toBeGreaterThanOrEqual(1);
    }
  });

  test('many long items have one long annealing over groups; few, and many on a device, have many ways', () => {
    expect(isFew(drawProblem({ items: 128, devices: 64, top: 1, work: 1, memory: 1, seed: 1 }))).toBe(true);
    expect(isFew(drawProblem({ items: 129, devices: 64, top: 1, work: 1, memory: 1, seed: 1 }))).toBe(false);
    expect(of(129, 64)).toMatchObject([{ over: 'groups', from: 'layers', patience: 6 }]);
    expect(of(129, 64, 'fast')).toMatchObject([{ over: 'groups', from: 'layers', patience: 6 }]);
    expect(of(129, 64, 'fast')[0]!.surplusWeight).toBeGreaterThan(of(129, 64)[0]!.surplusWeight);
    // A batch of few items is tried from all sides twice, as luck has a part in it.
    const few = of(128, 64);
    expect(few.slice(few.length / 2)).toEqual(few.slice(0, few.length / 2));
    expect(new Set(few).size).toBe(few.length / 2);
    expect(new Set(few.map(({ over, from }) => `${over} ${from}`)).size).toBe(5);
    const crowded = of(300, 100);
    expect(new Set(crowded).size).toBe(crowded.length);
    expect(of(120, 40)).toEqual([...crowded, ...of(120, 40).slice(crowded.length)]);
    expect(of(120, 40).length).toBe(crowded.length + 2);
    expect(again).toMatchObject({ over: 'groups', from: 'layout' });
    expect(again.temperature[0]).toBeLessThan(of(129, 64)[0]!.temperature[0]);
  });
});
