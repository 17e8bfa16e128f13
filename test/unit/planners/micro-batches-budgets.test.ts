/** What the searches of micro-batches may look at: counted, so that a plan is the same on every machine. */
import { describe, expect, test } from 'vitest';
import { microBatches, runPlanner } from '../../../src/index.ts';
import { exchange } from '../../../src/planners/micro-batches/exchange.ts';
import { searchPacking } from '../../../src/planners/micro-batches/pack.ts';
import { addTo, type Item, noLoads, type RankGroup } from '../../../src/planners/micro-batches/packed-ranks.ts';
import { generator } from '../../support/basics/numbers.ts';

const groupOf = (sizes: readonly number[], ranks = 1, width = 1): RankGroup => ({
  firstRank: 0,
  ranks,
  items: sizes.map((tokens, sequence): Item => {
    return { sequence, first: 0, width, length: tokens * width, tokens, work: tokens, overCap: false };
  }),
});

describe('the search for a packing', () => {
  test('takes a step for each micro-batch of each rank whenever it places a sequence, and gives the others back', () => {
    const four = [5, 5, 5, 5];
    const left = (steps: number, group: RankGroup) => {
      const budget = { left: steps };
      const found = searchPacking(group, 2, 10, budget);
      return [found !== undefined, budget.left];
    };
    // Nothing has to be taken back: four sequences, two micro-batches.
    expect(left(100, groupOf(four))).toEqual([true, 92]);
    expect(left(8, groupOf(four))).toEqual([true, 0]);
    expect(left(7, groupOf(four))).toEqual([false, 0]);
    expect(left(100, groupOf(four, 3, 3))).toEqual([true, 76]);
    // More than one search may take.
    expect(left(1e9, groupOf(four))).toEqual([true, 1e9 - 8]);
  });

  test('gives up after two million steps, and at once where there is no room', () => {
    const next = generator(12);
    // 25 sequences of a third to a half of the cap: two to a micro-batch, and the sum alone does not tell.
    const sizes = Array.from({ length: 25 }, () => 334 + Math.floor(next() * 160));
    const budget = { left: 1e9 };
    expect(searchPacking(groupOf(sizes), 12, 1000, budget)).toBeUndefined();
    expect(budget.left).toBe(1e9 - 2_000_000);
    const full = { left: 1000 };
    expect(searchPacking(groupOf([6, 6, 6, 6]), 2, 11, full)).toBeUndefined();
    // It has placed nothing: the tokens are more than the room.
    expect(full.left).toBe(1000 - 2);
  });

  test('is not begun for more than 512 sequences, or 65,536 times the ranks', () => {
    const budget = { left: 1e9 };
    const ones = (count: number) => Array.from({ length: count }, () => 1);
    expect(searchPacking(groupOf(ones(512)), 2, 256, budget)).toBeDefined();
    expect(budget.left).toBe(1e9 - 512 * 2);
    expect(searchPacking(groupOf(ones(512), 128), 2, 256, budget)).toBeDefined();
    const before = budget.left;
    expect(searchPacking(groupOf(ones(513)), 2, 300, budget)).toBeUndefined();
    expect(searchPacking(groupOf(ones(512), 129), 2, 300, budget)).toBeUndefined();
    expect(budget.left).toBe(before);
  });
});

describe('moves and swaps', () => {
  /** All sequences in the first of four micro-batches, spread with so many looks; the most work that is left. */
  function spread(looks: number, ranks = 1) {
    const next = generator(31);
    const group = groupOf(
      Array.from({ length: 24 }, () => 1 + Math.floor(next() * 1000)),
      ranks,
      ranks,
    );
    const slots = new Int32Array(24);
    const loads = noLoads(group, 4);
    for (const item of group.items) addTo(loads, group, item, 0);
    let seen = 0;
    const items = new Proxy(group.items, {
      get: (target, key) => {
        seen += 1;
        return Reflect.get(target, key);
      },
    });
    exchange({ ...group, items }, slots, loads, { cap: 1e9, looks });
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

describe('an exchange', () => {
  const item = (sequence: number, [first, width, tokens, work]: readonly [number, number, number, number]): Item => {
    return { sequence, first, width, length: tokens * width, tokens, work, overCap: false };
  };
  const exchanged = (ranks: number, items: readonly Item[], slots: number[], cap: number) => {
    const group = { firstRank: 0, ranks, items };
    const loads = noLoads(group, 3);
    for (const [index, slot] of slots.entries()) addTo(loads, group, items[index]!, slot);
    const after = Int32Array.from(slots);
    exchange(group, after, loads, { cap, looks: 1e6 });
    return [...after];
  };

  test('of several that are as good is the first: by the sequence that leaves, then by the micro-batch', () => {
    const alike = [item(0, [0, 1, 3, 3]), item(1, [0, 1, 3, 3])];
    expect(exchanged(1, alike, [0, 0], 100)).toEqual([1, 0]);
  });

  test('never brings more tokens than the cap, on either side', () => {
    // The one on all ranks has more work for each token: for the one on the first rank less work, but more tokens, would come.
    const items = [item(0, [0, 4, 8, 256]), item(1, [0, 1, 10, 5]), item(2, [0, 1, 12, 144]), item(3, [0, 4, 12, 200])];
    expect(exchanged(4, items, [0, 0, 1, 2], 20)).toEqual([0, 0, 1, 2]);
    expect(exchanged(4, items, [0, 0, 1, 2], 100)).not.toEqual([0, 0, 1, 2]);
  });
});

test('more sequences on a rank than are searched are packed by first fit', () => {
  const lengthsByRank = [Array.from({ length: 600 }, () => 10)];
  expect(runPlanner(microBatches, { lengthsByRank, maxTokensPerMicroBatch: 100 }).count).toBe(60);
});
