/** Evening out, of flex-ulysses: against the best exchange of all, found by trying every one. */
import { describe, expect, test } from 'vitest';
import { evenOut } from '../../../src/planners/flex-ulysses/search/even-out.ts';
import { Layout } from '../../../src/planners/flex-ulysses/search/layout.ts';
import type { Problem } from '../../../src/planners/flex-ulysses/search/problem.ts';
import { generator, range } from '../../support/basics/numbers.ts';
import { drawProblem, rounded, tally } from '../../support/placement/problems.ts';

/** All ways to take up to three of some items. */
function handfuls(items: readonly number[]): number[][] {
  const found: number[][] = [[]];
  for (const item of items) for (const one of found.slice()) if (one.length < 3) found.push([...one, item]);
  return found;
}

/**
 * The most loaded device gives some items for some of another one, so that the larger load of the two is lowest, again and
 * again until all is within the limits; a device for which there is no such exchange is left until another one has made one.
 */
function evenedOut({ devices }: Problem, size: Float64Array, group: readonly number[]): number[] {
  const where = [...group];
  const on = (device: number) => where.flatMap((one, item) => (one === device ? [item] : []));
  const sum = (items: readonly number[]) => items.reduce((all, item) => all + size[item]!, 0);
  const stuck = new Set<number>();
  for (;;) {
    const loads = range(devices).map((device) => sum(on(device)));
    if (loads.every((load) => load <= 1 + 1e-9)) return where;
    const free = range(devices).filter((device) => !stuck.has(device));
    if (free.length === 0) return where;
    const worst = free.reduce((most, device) => (loads[device]! > loads[most]! ? device : most));
    let best: { partner: number; given: number[]; taken: number[] } | undefined;
    let least = loads[worst]! - 1e-10;
    /** Room beyond the limit hardly counts. */
    const worth = (load: number) => (load < 1 ? 1 - (1 - load) / 1000 : load);
    for (const partner of range(devices)) {
      if (partner === worst) continue;
      for (const given of handfuls(on(worst))) {
        for (const taken of handfuls(on(partner))) {
          const moved = sum(given) - sum(taken);
          const after = Math.max(loads[worst]! - moved, loads[partner]! + moved);
          if (after >= loads[worst]! - 1e-10 || worth(after) >= least) continue;
          least = worth(after);
          best = { partner, given, taken };
        }
      }
    }
    if (best === undefined) {
      stuck.add(worst);
      continue;
    }
    stuck.clear();
    for (const item of best.given) where[item] = best.partner;
    for (const item of best.taken) where[item] = worst;
  }
}

/** A problem of one degree with all its items whole, on devices that are drawn. */
function drawn(seed: number, shape: { items: number; devices: number; work: number; memory: number; ratio: number }) {
  const problem = drawProblem({ ...shape, top: 1, seed });
  const random = generator(seed + 100);
  const layout = new Layout(problem);
  const group = range(problem.items).map(() => Math.floor(random() * problem.devices));
  for (const [item, one] of group.entries()) layout.put(item, 0, one);
  return { problem, layout, group };
}

/** Which items are together, whichever device they are on: to give some is as good as to give all others. */
const partsOf = (group: ArrayLike<number>): string[] => {
  const parts = new Map<number, number[]>();
  for (const [item, one] of Array.from(group).entries()) parts.set(one, [...(parts.get(one) ?? []), item]);
  return [...parts.values()].map((part) => part.join()).sort();
};

describe('where one size alone counts', () => {
  test.each([
    { items: 8, devices: 3, load: 0.9, ratio: 9 },
    { items: 11, devices: 4, load: 0.97, ratio: 4 },
    { items: 9, devices: 3, load: 0.995, ratio: 2 },
    { items: 7, devices: 4, load: 0.9, ratio: 3 },
    { items: 6, devices: 2, load: 1.1, ratio: 6 },
  ])('the best of all exchanges is made, as long as one helps: %j', ({ load, ...shape }) => {
    for (const seed of range(12)) {
      for (const by of ['work', 'memory'] as const) {
        const { problem, layout, group } = drawn(seed, { ...shape, work: 0.1, memory: 0.1, [by]: load });
        const expected = evenedOut(problem, problem[by], group);
        const fits = evenOut(layout, 1e6);
        expect(partsOf(layout.group), `${seed} by ${by}`).toEqual(partsOf(expected));
        expect(fits).toBe(tally(problem, layout).fits);
        expect(rounded(layout[by])).toEqual(rounded(tally(problem, layout)[by]));
      }
    }
  });
});

test('what is sharded stays where it is, and counts', () => {
  const problem = drawProblem({ items: 12, devices: 4, top: 4, work: 0.9, memory: 0.3, ratio: 6, seed: 5 });
  const layout = new Layout(problem);
  for (const item of range(12)) layout.put(item, item < 2 ? 2 : item < 4 ? 1 : 0, 0);
  const { level, group, cost } = layout.keep();
  expect(evenOut(layout, 1e6)).toBe(true);
  expect(layout.fits()).toBe(true);
  expect(layout.level).toEqual(level);
  expect(layout.group.slice(0, 4)).toEqual(group.slice(0, 4));
  expect(layout.cost).toBeCloseTo(cost, 9);
});

describe('where work and tokens count', () => {
  const shape = { items: 24, devices: 6, work: 0.93, memory: 0.93, ratio: 12 };

  test('of a hundred drawn layouts 69 are brought within both limits, and the others end no worse than they began', () => {
    let mended = 0;
    for (const seed of range(100)) {
      const { problem, layout } = drawn(seed, shape);
      const worst = () => Math.max(...range(problem.devices).map((device) => layout.load(device)));
      const before = worst();
      const fits = evenOut(layout, 1e6);
      expect(fits).toBe(tally(problem, layout).fits);
      expect(worst()).toBeLessThanOrEqual(before);
      if (fits) mended += 1;
    }
    expect(mended).toBeGreaterThanOrEqual(69);
  });
});

describe('the budget', () => {
  // The first device has 8 ways to give none to three of three items, the second has none to take.
  const layoutOf = (): Layout => {
    const layout = new Layout(drawProblem({ items: 6, devices: 3, top: 1, work: 1, memory: 0.1, ratio: 1.5, seed: 4 }));
    for (const item of range(6)) layout.put(item, 0, item < 3 ? 0 : 1);
    return layout;
  };
  const exchanges = (budget: number): number => {
    const layout = layoutOf();
    const before = [...layout.group];
    evenOut(layout, budget);
    return before.filter((group, item) => layout.group[item] !== group).length;
  };

  test('nothing is done without one, and one exchange where it is spent by the first look', () => {
    expect(exchanges(0)).toBe(0);
    expect(exchanges(1)).toBeGreaterThan(0);
  });

  test('where all fits nothing is changed', () => {
    const layout = layoutOf();
    for (const item of range(6)) layout.put(item, 0, item % 3);
    const roomy = new Layout({ ...layout.problem, work: layout.problem.work.map((work) => work / 2) });
    for (const item of range(6)) roomy.put(item, 0, item % 3);
    const before = roomy.keep();
    expect(evenOut(roomy, 0)).toBe(true);
    expect(roomy.keep()).toEqual(before);
  });
});
