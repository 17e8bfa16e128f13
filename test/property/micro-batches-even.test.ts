/** Invariant 7 of micro-batches where ranks share sequences: every move and swap, worked out from the plan alone. */
import { describe, expect, test } from 'vitest';
import { microBatches, runPlanner } from '../../src/index.ts';
import type { MicroBatchesInput } from '../../src/planners/micro-batches/index.ts';
import { generator } from '../support/basics/numbers.ts';

const ranks = 4;

interface Shared {
  readonly first: number;
  readonly width: number;
  /** Of each of its ranks. */
  readonly tokens: number;
}

/** Sequences of one to four ranks, and a plan of them. Work is tokens, or tokens squared. */
function planned(next: () => number, cap: number) {
  const below = (n: number) => Math.floor(next() * n);
  const items = Array.from({ length: 6 + below(24) }, (): Shared => {
    const width = [1, 1, 1, 2, 4][below(5)]!;
    return { first: width * below(ranks / width), width, tokens: 1 + below(1000) };
  });
  const isSquared = next() < 0.5;
  const workOf = ({ tokens, width }: Shared) => (isSquared ? tokens * tokens * width : tokens);
  const input: MicroBatchesInput = {
    lengths: items.map(({ tokens, width }) => tokens * width),
    ranks,
    assignments: items.map(({ first, width }, sequence) => {
      return { sequence, degree: width, devices: Array.from({ length: width }, (_, at) => first + at) };
    }),
    maxTokensPerMicroBatch: cap,
    minMicroBatches: 2 + below(4),
    compute: isSquared ? { perTokenSquared: 1 } : { perToken: 1 },
  };
  const plan = runPlanner(microBatches, input);
  const slotOf = new Map<number, number>();
  for (const { microBatches } of plan.ranks) {
    for (const [slot, { sequences }] of microBatches.entries()) for (const one of sequences) slotOf.set(one, slot);
  }
  return { items, workOf, plan, slots: items.map((_, index) => slotOf.get(index)!) };
}

const on = ({ first, width }: Shared, rank: number) => rank >= first && rank < first + width;

/** Loads by micro-batch and rank. */
function loadsOf(items: readonly Shared[], slots: readonly number[], count: number, of: (one: Shared) => number) {
  const loads = Array.from({ length: count }, () => new Array<number>(ranks).fill(0));
  for (const [index, one] of items.entries()) {
    for (let rank = 0; rank < ranks; rank += 1) if (on(one, rank)) loads[slots[index]!]![rank]! += of(one);
  }
  return loads;
}

describe('7. even work of sequences that ranks share', () => {
  test.each([
    ['with room for all', 1e6],
    ['under a cap that often binds', 2500],
  ])('no move or swap out of the micro-batch with most work lowers it, %s', (_, cap) => {
    const next = generator(cap);
    for (let run = 0; run < 250; run += 1) {
      const { items, workOf, plan, slots } = planned(next, cap);
      const loads = loadsOf(items, slots, plan.count, workOf);
      const most = Math.max(...loads.flat());
      expect(plan.metrics.maxWork).toBeCloseTo(most, 3);
      const from = loads.findIndex((load) => load.includes(most));
      const rank = loads[from]!.indexOf(most);
      for (const [out, leaving] of items.entries()) {
        if (slots[out] !== from || !on(leaving, rank)) continue;
        for (let to = 0; to < plan.count; to += 1) {
          if (to === from) continue;
          for (const back of [-1, ...items.keys()]) {
            if (back >= 0 && slots[back] !== to) continue;
            const tried = slots.with(out, to);
            if (back >= 0) tried[back] = from;
            if (Math.max(...loadsOf(items, tried, plan.count, (one) => one.tokens).flat()) > cap) continue;
            const after = loadsOf(items, tried, plan.count, workOf);
            const touched = [leaving, ...(back >= 0 ? [items[back]!] : [])];
            const isTouched = (_work: number, at: number) => touched.some((one) => on(one, at));
            const worst = Math.max(...after[from]!.filter(isTouched), ...after[to]!.filter(isTouched));
            expect(worst, `run ${run}, ${out} for ${back}`).toBeGreaterThanOrEqual(most * (1 - 1e-9));
          }
        }
      }
    }
  });
});
