/** What the searches of micro-batches may look at: counted, so that a plan is the same on every machine. */
import { describe, expect, test } from 'vitest';
import { exchange } from '../../../src/planners/micro-batches/exchange.ts';
import { searchPacking } from '../../../src/planners/micro-batches/pack.ts';
import { addTo, type Item, noLoads, type Part } from '../../../src/planners/micro-batches/parts.ts';
import { generator } from '../../support/numbers.ts';

const partOf = (sizes: readonly number[], ranks = 1, width = 1): Part => ({
  firstRank: 0,
  ranks,
  items: sizes.map((tokens, sequence): Item => {
    return { sequence, first: 0, width, length: tokens * width, tokens, work: tokens, overCap: false };
  }),
});

describe('the search for a packing', () => {
  test('takes a step for each micro-batch of each rank whenever it places a sequence, and gives the others back', () => {
    const four = [5, 5, 5, 5];
    const left = (steps: number, part: Part) => {
      const budget = { left: steps };
      const found = searchPacking(part, 2, 10, budget);
      return [found !== undefined, budget.left];
    };
    // Nothing has to be taken back: four sequences, two micro-batches.
    expect(left(100, partOf(four))).toEqual([true, 92]);
    expect(left(8, partOf(four))).toEqual([true, 0]);
    expect(left(7, partOf(four))).toEqual([false, 0]);
    expect(left(100, partOf(four, 3, 3))).toEqual([true, 76]);
    // More than one search may take.
    expect(left(1e9, partOf(four))).toEqual([true, 1e9 - 8]);
  });

  test('gives up after two million steps, and at once where there is no room', () => {
    const next = generator(12);
    // 25 sequences of a third to a half of the cap: two to a micro-batch, and the sum alone does not tell.
    const sizes = Array.from({ length: 25 }, () => 334 + Math.floor(next() * 160));
    const budget = { left: 1e9 };
    expect(searchPacking(partOf(sizes), 12, 1000, budget)).toBeUndefined();
    expect(budget.left).toBe(1e9 - 2_000_000);
    const full = { left: 1000 };
    expect(searchPacking(partOf([6, 6, 6, 6]), 2, 11, full)).toBeUndefined();
    // It has placed nothing: the tokens are more than the room.
    expect(full.left).toBe(1000 - 2);
  });

  test('is not begun for more than 512 sequences, or 65,536 times the ranks', () => {
    const budget = { left: 1e9 };
    const ones = (count: number) => Array.from({ length: count }, () => 1);
    expect(searchPacking(partOf(ones(512)), 2, 256, budget)).toBeDefined();
    expect(budget.left).toBe(1e9 - 512 * 2);
    expect(searchPacking(partOf(ones(512), 128), 2, 256, budget)).toBeDefined();
    const before = budget.left;
    expect(searchPacking(partOf(ones(513)), 2, 300, budget)).toBeUndefined();
    expect(searchPacking(partOf(ones(512), 129), 2, 300, budget)).toBeUndefined();
    expect(budget.left).toBe(before);
  });
});

describe('moves and swaps', () => {
  /** All sequences in the first of four micro-batches, spread with so many looks; the most work that is left. */
  function spread(looks: number, ranks = 1) {
    const next = generator(31);
    const part = partOf(
      Array.from({ length: 24 }, () => 1 + Math.floor(next() * 1000)),
      ranks,
      ranks,
    );
    const slots = new Int32Array(24);
    const loads = noLoads(part, 4);
    for (const item of part.items) addTo(loads, part, item, 0);
    let seen = 0;
    const items = new Proxy(part.items, {
      get: (target, key) => {
        seen += 1;
        return Reflect.get(target, key);
      },
    });
    exchange({ ...part, items }, slots, loads, { cap: 1e9, looks });
    return { seen, most: Math.max(...loads.work), total: loads.work.reduce((sum, one) => sum + one, 0) / ranks };
  }

  test('are looked at no more often than is allowed, each once for every rank', () => {
    expect(spread(0).seen).toBe(0);
    // Up to three of 24 sequences' places are read for a look, and some more to carry an exchange out.
    for (const looks of [1, 10, 100, 1000]) {
      expect(spread(looks).seen).toBeLessThanOrEqual(3 * looks + 4 * 24);
      expect(spread(4 * looks, 4).seen).toBe(spread(looks).seen);
    }
  });

  test('bring the most work down with every look more, until it is even', () => {
    const most = [0, 100, 1000, 10_000, 1e6].map((looks) => spread(looks).most);
    expect(most).toEqual([...most].sort((a, b) => b - a));
    const { total } = spread(1e6);
    expect(most[0]).toBe(total);
    expect(most.at(-1)).toBeLessThan((total / 4) * 1.05);
  });
});
