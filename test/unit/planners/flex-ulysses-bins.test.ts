/** The parts of flex-ulysses that try all ways, or fill devices one by one, against every placement there is. */
import { describe, expect, test, vi } from 'vitest';
import { Bins } from '../../../src/planners/flex-ulysses/search/bins.ts';
import { complete, isTight } from '../../../src/planners/flex-ulysses/search/complete.ts';
import { cheapest } from '../../../src/planners/flex-ulysses/search/exact.ts';
import { exactBins } from '../../../src/planners/flex-ulysses/search/exact-bins.ts';
import { Layout } from '../../../src/planners/flex-ulysses/search/layout.ts';
import type { Problem } from '../../../src/planners/flex-ulysses/search/problem.ts';
import { Sequence } from '../../../src/planners/flex-ulysses/search/random.ts';
import { generator, range, sum } from '../../support/basics/numbers.ts';
import { drawProblem, type Places, rounded, tally } from '../../support/placement/problems.ts';

/** All placements, one after the other in the same object. */
function* everyPlace({ items, devices, levels }: Problem, only = levels): Generator<Places> {
  const places = { level: new Array<number>(items).fill(0), group: new Array<number>(items).fill(0) };
  function* from(item: number): Generator<Places> {
    if (item === items) {
      yield places;
      return;
    }
    for (let level = 0; level < only; level += 1) {
      for (let group = 0; group < devices >> level; group += 1) {
        places.level[item] = level;
        places.group[item] = group;
        yield* from(item + 1);
      }
    }
  }
  yield* from(0);
}

/** Items of 1 / `parts` of a device each, at equal cost. */
const equals = (items: number, devices: number, top: number, parts: number): Problem => ({
  ...drawProblem({
    items,
    devices,
    top,
    work: items / parts / devices,
    memory: items / parts / devices,
    ratio: 1,
    seed: 1,
  }),
});

describe('all placements of a few items', () => {
  const shapes = [
    { items: 5, devices: 2, top: 2, work: 0.9, memory: 0.6, ratio: 4 },
    { items: 5, devices: 4, top: 2, work: 0.8, memory: 0.7, ratio: 6 },
    { items: 4, devices: 4, top: 4, work: 0.7, memory: 0.9, ratio: 5 },
    { items: 6, devices: 2, top: 2, work: 0.98, memory: 0.9, ratio: 3 },
    { items: 6, devices: 3, top: 1, work: 0.9, memory: 0.85, ratio: 3 },
  ];

  test.each(shapes)('the cheapest that keeps the limits, or none: %j', (shape) => {
    let infeasible = 0;
    for (const seed of range(8)) {
      const problem = drawProblem({ ...shape, seed });
      let least = Number.POSITIVE_INFINITY;
      for (const places of everyPlace(problem)) {
        const { fits, cost } = tally(problem, places);
        if (fits) least = Math.min(least, cost);
      }
      const found = cheapest(problem, Number.POSITIVE_INFINITY, 1e6);
      if (least === Number.POSITIVE_INFINITY) {
        expect(found).toBeUndefined();
        infeasible += 1;
        continue;
      }
      expect(tally(problem, found!).fits).toBe(true);
      expect(found!.cost).toBeCloseTo(least, 9);
      expect(tally(problem, found!).cost).toBeCloseTo(least, 9);
      // Only what is cheaper than asked for is of interest.
      expect(cheapest(problem, least, 1e6)).toBeUndefined();
      expect(cheapest(problem, least + 1e-6, 1e6)?.cost).toBeCloseTo(least, 9);
    }
    expect(infeasible).toBeLessThan(8);
  });

  test('devices and groups that hold the same are tried once', () => {
    // Sixteen halves fill eight devices: with one way each there is nothing to go back from.
    const problem = equals(16, 8, 8, 2);
    expect(cheapest(problem, Number.POSITIVE_INFINITY, 17)?.cost).toBe(0);
    expect(cheapest(problem, Number.POSITIVE_INFINITY, 16)).toBeUndefined();
    // One more half than there is room for, or one item that has no room whole: seen at once, so that little is tried.
    const long = { ...drawProblem({ items: 3, devices: 8, top: 8, work: 0.9, memory: 0.2, ratio: 1.1, seed: 1 }) };
    expect(long.least).toEqual(new Uint8Array([2, 2, 2]));
    expect(cheapest(long, Number.POSITIVE_INFINITY, 40)).toBeDefined();
  });

  /** In how many ways some items can be put on devices whole, where it does not matter which half of a group is which. */
  function waysOf(items: number, { devices, top }: Problem): number {
    const ways = new Set<string>();
    for (let code = 0; code < devices ** items; code += 1) {
      const on = (device: number) =>
        range(items).filter((item) => Math.floor(code / devices ** item) % devices === device);
      const half = (from: number, width: number): string =>
        width === 1
          ? on(from).join(' ')
          : `(${[half(from, width / 2), half(from + width / 2, width / 2)].sort().join('|')})`;
      ways.add(
        range(devices / top)
          .map((group) => half(group * top, top))
          .sort()
          .join(),
      );
    }
    return ways.size;
  }

  test.each([
    { items: 5, devices: 4, top: 4 },
    { items: 4, devices: 8, top: 8 },
    { items: 4, devices: 8, top: 4 },
    { items: 4, devices: 6, top: 2 },
    { items: 5, devices: 3, top: 1 },
  ])('each way is tried once: %j', (shape) => {
    const drawn = drawProblem({ ...shape, items: shape.items + 1, work: 0.1, memory: 0.1, ratio: 3, seed: 4 });
    // Sharding costs more than is asked for, and the last item fits nowhere: so all ways of the others are tried.
    const problem = {
      ...drawn,
      least: drawn.least.map((_, item) => (item === shape.items ? drawn.levels : 0)),
      cost: drawn.cost.map((costs, level) => costs.map(() => level)),
      cheapest: drawn.cheapest.map(() => 0),
    };
    const put = vi.spyOn(Layout.prototype, 'put');
    try {
      expect(cheapest(problem, 0.5, 1e6)).toBeUndefined();
      const tried = put.mock.calls.filter(([, level]) => level === 0).length;
      expect(tried).toBe(sum(range(shape.items).map((before) => waysOf(before + 1, problem))));
    } finally {
      put.mockRestore();
    }
  });

  test('nothing is tried where all items together cost too much at least', () => {
    const problem = drawProblem({ items: 6, devices: 4, top: 4, work: 0.9, memory: 0.5, ratio: 9, seed: 3 });
    const least = problem.cheapest.map((_, item) => item + 1);
    const put = vi.spyOn(Layout.prototype, 'put');
    try {
      expect(cheapest({ ...problem, cheapest: least }, 21, 1e6)).toBeUndefined();
      expect(put).not.toHaveBeenCalled();
    } finally {
      put.mockRestore();
    }
  });

  test('a part that is not found within the budget is not found', () => {
    const problem = drawProblem({ items: 8, devices: 4, top: 4, work: 0.97, memory: 0.5, ratio: 5, seed: 2 });
    const best = cheapest(problem, Number.POSITIVE_INFINITY, 1e6)!.cost;
    let before = Number.POSITIVE_INFINITY;
    for (const budget of [1, 10, 100, 1000, 10_000, 100_000]) {
      const cost = cheapest(problem, Number.POSITIVE_INFINITY, budget)?.cost ?? Number.POSITIVE_INFINITY;
      expect(cost).toBeLessThanOrEqual(before);
      before = cost;
    }
    expect(before).toBeCloseTo(best, 9);
  });
});

describe('the evenest bins', () => {
  const shapes = [
    { items: 6, devices: 3, work: 1, memory: 0.8, ratio: 4 },
    { items: 7, devices: 2, work: 1, memory: 0.9, ratio: 9 },
    { items: 5, devices: 4, work: 1, memory: 0.6, ratio: 2 },
    { items: 6, devices: 3, work: 1, memory: 1, ratio: 1 },
  ];

  test.each(shapes)('the fullest has as little as in any other, and the second size keeps its limit: %j', (shape) => {
    for (const seed of range(8)) {
      const problem = drawProblem({ ...shape, top: 1, seed });
      let least = Number.POSITIVE_INFINITY;
      for (const places of everyPlace(problem)) {
        const { work, memory } = tally(problem, places);
        if (memory.every((load) => load <= 1 + 1e-9)) least = Math.min(least, Math.max(...work));
      }
      const { packed, complete: all } = exactBins(problem, Number.POSITIVE_INFINITY);
      expect(all).toBe(true);
      expect(packed === undefined).toBe(least === Number.POSITIVE_INFINITY);
      if (packed === undefined) continue;
      expect(packed.most).toBeCloseTo(least, 9);
      const { work, memory } = tally(problem, { level: new Array(6).fill(0).concat(0), group: packed.bin });
      expect(Math.max(...work)).toBeCloseTo(least, 9);
      expect(Math.max(...memory)).toBeLessThanOrEqual(1 + 1e-9);
      // Only better ones are of interest.
      expect(exactBins(problem, least)).toEqual({ packed: undefined, complete: true });
      expect(exactBins(problem, least + 1e-6).packed?.most).toBeCloseTo(least, 9);
    }
  });

  test('bins that hold the same are tried once, and no more than a budget is', () => {
    const problem = (items: number, devices: number, ratio: number) =>
      drawProblem({ items, devices, top: 1, work: 1, memory: 0.5, ratio, seed: 3 });
    // Even bins are found at once and no others can be better.
    expect(exactBins(problem(16, 8, 1), Number.POSITIVE_INFINITY)).toMatchObject({ complete: true });
    expect(exactBins(problem(16, 8, 1), Number.POSITIVE_INFINITY).packed!.most).toBeCloseTo(1, 9);
    expect(exactBins(problem(24, 8, 3), Number.POSITIVE_INFINITY).complete).toBe(false);
  });
});

describe('bins', () => {
  const problem = drawProblem({ items: 12, devices: 4, top: 4, work: 0.9, memory: 0.8, ratio: 5, seed: 3 });
  const layoutOf = (): Layout => {
    const layout = new Layout(problem);
    for (const item of range(12)) layout.put(item, item < 3 ? item : 0, item < 3 ? 0 : item % 4);
    return layout;
  };

  test('keep account of the room, and of what is in no bin', () => {
    const layout = layoutOf();
    // The first one is whole, too.
    const whole = [0, ...range(9).map((one) => one + 3)];
    const bins = new Bins(layout);
    const sharded = tally(problem, {
      level: [0, 1, 2, ...new Array(9).fill(0)],
      group: [-1, 0, 0, ...new Array(9).fill(-1)],
    });
    const check = (): void => {
      const depth = bins.filled.filter((one) => one === 1).length;
      const left = range(whole.length).filter((at) => bins.bin[at]! < 0);
      for (const [size, room, spare, rest] of [
        ['work', 'roomWork', 'spareWork', 'restWork'],
        ['memory', 'roomMemory', 'spareMemory', 'restMemory'],
      ] as const) {
        expect(rounded(bins[size])).toEqual(rounded(whole.map((item) => problem[size][item]!)));
        expect(rounded(bins[room])).toEqual(rounded(sharded[size].map((load) => 1 - load)));
        const open = range(4).filter((bin) => bins.filled[bin] === 0);
        expect(bins[spare]).toBeCloseTo(
          sum(open.map((bin) => bins[room][bin]!)) - sum(left.map((at) => bins[size][at]!)),
          9,
        );
        if (depth === 4) continue;
        expect(bins.rest(depth)).toBe(left.length);
        expect([...bins.rests[depth]!.subarray(0, left.length)]).toEqual(left);
        const sums = left.map((_, at) => sum(left.slice(at).map((one) => bins[size][one]!)));
        expect(rounded(bins[rest][depth]!.subarray(0, left.length + 1))).toEqual(rounded([...sums, 0]));
      }
    };
    expect(bins.count).toBe(4);
    check();
    bins.fill(2, Int32Array.of(0, 4, 5, 9), 3);
    check();
    bins.fill(0, Int32Array.of(9, 1), 2);
    check();
    bins.empty(2);
    check();
    bins.fill(3, Int32Array.of(0, 4), 2);
    bins.fill(1, Int32Array.of(2, 3, 5, 6), 4);
    check();
    bins.fill(2, Int32Array.of(7, 8), 2);
    check();
    bins.write();
    const devices = [3, 0, 1, 1, 3, 1, 1, 2, 2, 0];
    expect(whole.map((item) => layout.group[item])).toEqual(devices);
    expect(rounded(layout.work)).toEqual(rounded(tally(problem, layout).work));
  });
});

/**
 * A layout of whole items that can be put so that every device is full: cut from full devices, then mixed up.
 *
 * @param rooms - what each device takes of both sizes, where all else of it is taken by an item sharded over each two
 */
function planted(seed: number, rooms: readonly number[], each: number): Layout {
  const random = generator(seed * 31 + 7);
  for (let skipped = 0; skipped < 9; skipped += 1) random();
  const cut = (room: number): number[] => {
    const parts = range(each).map(() => 0.3 + random());
    return parts.map((part) => (part * room) / sum(parts));
  };
  const whole = rooms.flatMap((room) => {
    const memory = cut(0.9 * room);
    return cut(room).map((work, at) => ({ work, memory: memory[at]! }));
  });
  const sharded = range(rooms.length / 2)
    .map((pair) => 2 * (1 - rooms[2 * pair]!))
    .map((taken) => ({ work: taken, memory: taken }));
  const all = [...sharded, ...whole.sort((a, b) => b.work - a.work)];
  const shape = { devices: rooms.length, top: 2, work: 0.5, memory: 0.5, ratio: 1 };
  const layout = new Layout({
    ...drawProblem({ ...shape, items: all.length, seed }),
    work: Float64Array.from(all, ({ work }) => work),
    memory: Float64Array.from(all, ({ memory }) => memory),
  });
  all.forEach((_, item) => {
    if (item < sharded.length) layout.put(item, 1, item);
    else layout.put(item, 0, Math.floor(random() * rooms.length));
  });
  return layout;
}
const equally = (devices: number, room: number): number[] => new Array<number>(devices).fill(room);

describe('filling devices anew', () => {
  test.each([
    [[1, 1], 3],
    [[0.8, 0.8], 4],
    [[0.995, 0.995, 0.995, 0.995], 3],
    [[1, 1, 1, 1], 3],
    [[0.9, 0.9, 0.6, 0.6], 3],
  ] as const)('with no more than four, it finds the way if and only if there is one: rooms of %j', (rooms, each) => {
    for (const seed of range(8)) {
      for (const factor of [1, 1.0004]) {
        const { problem, level, group } = planted(seed, rooms, each);
        const work = problem.work.map((one, item) => (level[item] === 0 ? one * factor : one));
        const layout = new Layout({ ...problem, work });
        layout.restore({ level, group, cost: 0 });
        const before = layout.keep();
        const { done } = complete(layout, 1e7, new Sequence(1));
        expect(done).toBe(factor === 1);
        expect(layout.fits()).toBe(factor === 1);
        expect(layout.level).toEqual(level);
        if (!done) expect(layout.keep()).toEqual(before);
        expect(rounded(layout.work)).toEqual(rounded(tally(layout.problem, layout).work));
      }
    }
  });

  test('nothing is looked at where the work or the tokens of all are too much', () => {
    const { problem, level, group } = planted(1, equally(4, 1), 3);
    for (const more of [
      { work: problem.work.map((one) => one * 1.001) },
      { memory: problem.memory.map((one) => one * 1.2) },
    ]) {
      const layout = new Layout({ ...problem, ...more });
      layout.restore({ level, group, cost: 0 });
      expect(complete(layout, 1e5, new Sequence(1))).toEqual({ done: false, left: 1e5 });
    }
  });

  test.each([
    [8, 3, 0.997, 7, 4800],
    [12, 3, 0.997, 7, 13_000],
    [6, 4, 1, 6, 9300],
    [8, 4, 1, 5, 15_000],
  ])(
    '%d devices with %d items each: %d full, of ten batches %d are found, in %d steps',
    (devices, each, room, found, most) => {
      const budget = 100_000;
      let steps = 0;
      let filled = 0;
      for (const seed of range(10)) {
        const layout = planted(seed, equally(devices, room), each);
        const { done, left } = complete(layout, budget, new Sequence(1));
        expect(layout.fits()).toBe(done);
        expect(left > 0 || !done).toBe(true);
        if (!done) continue;
        filled += 1;
        steps += budget - left;
      }
      expect(filled).toBeGreaterThanOrEqual(found);
      expect(steps).toBeLessThanOrEqual(most);
    },
  );

  test('it is worth it where few devices have few items each and hardly any room', () => {
    const of = (items: number, devices: number, work: number) =>
      isTight(drawProblem({ items, devices, top: 1, work, memory: 0.5, seed: 1 }));
    expect(of(48, 12, 0.996)).toBe(true);
    expect(of(48, 12, 0.99)).toBe(false);
    expect(of(80, 16, 0.999)).toBe(true);
    expect(of(81, 16, 0.999)).toBe(false);
    expect(of(34, 17, 0.999)).toBe(false);
  });
});
