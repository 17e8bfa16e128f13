/** How few micro-batches a plan has: against packings that are known, and the bound against its definition. */
import { describe, expect, test } from 'vitest';
import { microBatches, runPlanner } from '../../../src/index.ts';
import { deal } from '../../../src/planners/micro-batches/deal.ts';
import { generator } from '../../support/basics/numbers.ts';

const cap = 1000;

/** So many positive whole numbers with this sum. */
function filling(next: () => number, sum: number, parts: number): number[] {
  const cuts = Array.from({ length: parts - 1 }, () => Math.floor(next() * (sum - parts + 1)));
  const ends = [0, ...cuts.sort((a, b) => a - b), sum - parts];
  return ends.slice(1).map((end, at) => end - ends[at]! + 1);
}

function shuffled<T>(next: () => number, items: readonly T[]): T[] {
  return items
    .map((item) => [next(), item] as const)
    .sort((a, b) => a[0] - b[0])
    .map(([, item]) => item);
}

/** Martello and Toth's bound, as they define it, for every size that could be the smallest that counts. */
function boundOf(sizes: readonly number[]): number {
  const total = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0);
  let bound = sizes.length > 0 ? 1 : 0;
  for (const least of [0, ...sizes.filter((one) => one <= cap / 2)]) {
    const alone = sizes.filter((one) => one > cap - least);
    const large = sizes.filter((one) => one <= cap - least && one > cap / 2);
    const small = sizes.filter((one) => one <= cap / 2 && one >= least);
    const rest = total(small) - (large.length * cap - total(large));
    bound = Math.max(bound, alone.length + large.length + Math.max(0, Math.ceil(rest / cap)));
  }
  return bound;
}

describe('how few micro-batches', () => {
  test.each([
    [8, 3, 1],
    [6, 4, 20],
    [6, 5, 20],
    [30, 2, 1],
  ])(
    '%i micro-batches that %i sequences each, of whole times %i tokens, fill to the last token are found',
    (bins, each, unit) => {
      const next = generator(1000 + bins);
      for (let run = 0; run < 15; run += 1) {
        const bin = () => filling(next, cap / unit, each).map((one) => one * unit);
        const lengths = shuffled(next, Array.from({ length: bins }, bin).flat());
        const plan = runPlanner(microBatches, { lengthsByRank: [lengths], maxTokensPerMicroBatch: cap });
        expect([plan.count, plan.bounds.count], `${lengths}`).toEqual([bins, bins]);
        expect(plan.metrics.maxTokens).toBe(cap);
      }
    },
  );

  test('the same where sequences lie on two of four ranks, or on all', () => {
    const next = generator(77);
    for (let run = 0; run < 20; run += 1) {
      const bins = 3;
      // In each micro-batch: one sequence on all ranks, one on the first two and one on the last two, and single ones.
      const items = Array.from({ length: bins }, () => {
        const [all, low, high] = filling(next, cap, 3) as [number, number, number];
        const singles = [0, 1, 2, 3].flatMap((rank) => {
          const room = cap - all - (rank < 2 ? low : high);
          const first = Math.floor(room * next());
          return [first, room - first].map((tokens) => ({ first: rank, width: 1, tokens }));
        });
        const wide = [
          { first: 0, width: 4, tokens: all },
          { first: 0, width: 2, tokens: low },
          { first: 2, width: 2, tokens: high },
        ];
        return [...wide, ...singles];
      }).flat();
      const given = shuffled(next, items);
      const plan = runPlanner(microBatches, {
        lengths: given.map(({ tokens, width }) => tokens * width),
        ranks: 4,
        assignments: given.map(({ first, width }, sequence) => {
          return { sequence, degree: width, devices: Array.from({ length: width }, (_, at) => first + at) };
        }),
        maxTokensPerMicroBatch: cap,
      });
      expect([plan.count, plan.bounds.count]).toEqual([bins, bins]);
    }
  });

  test('bounds.count is the bound of Martello and Toth of the rank that needs most', () => {
    const next = generator(5);
    let above = 0;
    for (let run = 0; run < 400; run += 1) {
      // Many near a half and a third of the cap, where the sum alone says too little.
      const size = () =>
        [334, 500, 501, Math.floor(next() * 340), 300 + Math.floor(next() * 700)][Math.floor(next() * 5)]!;
      const lengthsByRank = Array.from({ length: 3 }, () => Array.from({ length: Math.floor(next() * 14) }, size));
      const { bounds } = runPlanner(microBatches, { lengthsByRank, maxTokensPerMicroBatch: cap });
      expect(bounds.count, JSON.stringify(lengthsByRank)).toBe(Math.max(...lengthsByRank.map(boundOf)));
      const sums = lengthsByRank.map((own) => own.reduce((sum, one) => sum + one, 0));
      if (bounds.count > Math.ceil(Math.max(...sums) / cap)) above += 1;
    }
    expect(above).toBeGreaterThan(100);
  });

  test('of a batch that is dealt out, bounds.count is the bound of all sequences over the ranks', () => {
    const next = generator(6);
    for (let run = 0; run < 100; run += 1) {
      const lengths = Array.from({ length: 1 + Math.floor(next() * 20) }, () => Math.floor(next() * cap));
      const ranks = 1 + Math.floor(next() * 4);
      const [minMicroBatches, divisibleBy] = [Math.floor(next() * 4), 1 + Math.floor(next() * 3)];
      const settings = { maxTokensPerMicroBatch: cap, minMicroBatches, divisibleBy };
      const { bounds } = runPlanner(microBatches, { lengths, ranks, ...settings });
      const least = Math.max(minMicroBatches, Math.ceil(boundOf(lengths) / ranks));
      expect(bounds.count).toBe(Math.ceil(least / divisibleBy) * divisibleBy);
    }
  });

  test('a batch is dealt out by work, and by tokens only where that gives fewer micro-batches', () => {
    const next = generator(8);
    const settings = { maxTokensPerMicroBatch: cap, compute: { perTokenSquared: 1 } };
    const seen = { work: 0, tokens: 0 };
    for (let run = 0; run < 300; run += 1) {
      const lengths = Array.from({ length: 6 + Math.floor(next() * 8) }, () => 1 + Math.floor(next() * 600));
      const plan = runPlanner(microBatches, { lengths, ranks: 2, ...settings });
      const held = plan.ranks.map(({ microBatches }) =>
        microBatches.flatMap((one) => one.sequences).sort((a, b) => a - b),
      );
      const [byWork, byTokens] = [lengths.map((one) => one * one), lengths].map((loads) => {
        const parts = deal(loads, 2);
        const lengthsByRank = parts.map((part) => part.map((index) => lengths[index]!));
        return { parts, count: runPlanner(microBatches, { lengthsByRank, ...settings }).count };
      });
      const best = byTokens!.count < byWork!.count ? 'tokens' : 'work';
      if (byWork!.count > plan.bounds.count) seen[best] += 1;
      expect(held).toEqual((best === 'tokens' ? byTokens! : byWork!).parts);
    }
    expect(Math.min(seen.work, seen.tokens)).toBeGreaterThan(3);
  });
});
