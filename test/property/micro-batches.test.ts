/** The invariants of micro-batches, by their numbers in its README. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flexUlysses, microBatches, runPlanner } from '../../src/index.ts';
import type { MicroBatchesInput } from '../../src/planners/micro-batches/index.ts';
import { sum } from '../support/basics/numbers.ts';
import { runs } from '../support/basics/runs.ts';
import {
  fewestBins,
  fewestShared,
  leastMaxWork,
  microBatchProblems,
  workOfLength,
} from '../support/oracles/micro-batches.ts';

const cap = 8192;
const length = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(0, 1, 2, cap - 1, cap) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 1000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 1000, max: cap }) },
);
const anyLength = fc.oneof(
  { weight: 9, arbitrary: length },
  { weight: 1, arbitrary: fc.integer({ min: cap, max: 4 * cap }) },
);
const settings = fc.record({
  minMicroBatches: fc.constantFrom(0, 0, 1, 3, 9),
  divisibleBy: fc.constantFrom(1, 1, 2, 3, 4),
  compute: fc.constantFrom(
    { perToken: 24_576, perTokenSquared: 1 },
    { perTokenSquared: 1 },
    { perToken: 1 },
    { base: 1 },
  ),
});
const byRank = fc.array(fc.array(anyLength, { maxLength: 24, size: 'max' }), { minLength: 1, maxLength: 6 });
/** Many empty sequences, and many of the largest, so that work is often 0 and the cap often binds. */
const ranksOfShort = fc.array(fc.array(fc.constantFrom(0, 0, 0, 1, cap / 2, cap), { maxLength: 20, size: 'max' }), {
  minLength: 1,
  maxLength: 3,
});
const batch = fc.record({
  lengths: fc.array(anyLength, { maxLength: 60, size: 'max' }),
  ranks: fc.integer({ min: 1, max: 9 }),
});
const sharded = fc
  .record({
    lengths: fc.array(fc.oneof(length, fc.integer({ min: cap, max: 8 * cap })), { maxLength: 40, size: 'max' }),
    devices: fc.constantFrom(1, 2, 4, 6, 8, 16),
    strategy: fc.constantFrom('paper' as const, 'ulysses' as const, 'search' as const),
  })
  .map(({ lengths, devices, strategy }) => {
    const { assignments } = runPlanner(flexUlysses, { lengths, devices, strategy, effort: 'fast' });
    return { lengths, ranks: devices, assignments };
  });
const inputs: fc.Arbitrary<MicroBatchesInput> = fc
  .tuple(
    fc.oneof(
      byRank.map((lengthsByRank) => ({ lengthsByRank })),
      batch,
      sharded,
    ),
    settings,
  )
  .map(([given, rest]) => ({ ...given, ...rest, maxTokensPerMicroBatch: cap, overlong: 'alone' as const }));

describe('micro-batches', () => {
  test('1. to 4. each sequence once, as many micro-batches on all ranks, the cap kept, figures as they are', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        expect(microBatchProblems(input, runPlanner(microBatches, input))).toEqual([]);
      }),
      runs(1000),
    );
  });

  test('3. none of 2,000 splits of 24 sequences is above the cap', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: cap }), { minLength: 24, maxLength: 24 }), (lengths) => {
        const plan = runPlanner(microBatches, { lengthsByRank: [lengths], maxTokensPerMicroBatch: cap });
        expect(plan.metrics.maxTokens).toBeLessThanOrEqual(cap);
        expect(plan.count).toBeGreaterThanOrEqual(Math.ceil(sum(lengths) / cap));
      }),
      runs(2000),
    );
  });

  test('5. as few as there can be, of up to 10 sequences a rank', () => {
    // Few sizes and a small cap: packings that leave no room are frequent, and first fit misses some of them.
    const own = (most: number) => fc.array(fc.integer({ min: 0, max: most }), { maxLength: 10, size: 'max' });
    const few = fc.constantFrom(8, 12, 30).chain((most) =>
      fc.record({
        cap: fc.constantFrom(most, 2 * most, 3 * most),
        lengthsByRank: fc.array(own(most), { minLength: 1, maxLength: 3 }),
      }),
    );
    fc.assert(
      fc.property(few, fc.constantFrom(1, 1, 2, 3), ({ cap: most, lengthsByRank }, divisibleBy) => {
        const plan = runPlanner(microBatches, { lengthsByRank, maxTokensPerMicroBatch: most, divisibleBy });
        const fewest = Math.max(...lengthsByRank.map((lengths) => fewestBins(lengths, most)));
        expect(plan.count).toBe(Math.ceil(fewest / divisibleBy) * divisibleBy);
      }),
      runs(600),
    );
  });

  test('5. as few as there can be, of up to 7 sequences that ranks share', () => {
    const item = fc
      .record({ width: fc.constantFrom(1, 1, 2, 4), at: fc.nat(3), tokens: fc.integer({ min: 1, max: cap / 4 }) })
      .map(({ width, at, tokens }) => ({ first: Math.floor(at / width) * width, width, tokens: 4 * tokens }));
    fc.assert(
      fc.property(fc.array(item, { maxLength: 7, size: 'max' }), (items) => {
        const plan = runPlanner(microBatches, {
          lengths: items.map(({ tokens, width }) => tokens * width),
          ranks: 4,
          assignments: items.map(({ first, width }, sequence) => ({
            sequence,
            degree: width,
            devices: Array.from({ length: width }, (_, rank) => first + rank),
          })),
          maxTokensPerMicroBatch: cap,
        });
        expect(plan.count).toBe(fewestShared(items, 4, cap));
      }),
      runs(300),
    );
  });

  test('6. a rank has an empty micro-batch only if it has fewer sequences than micro-batches', () => {
    fc.assert(
      fc.property(fc.oneof(byRank, ranksOfShort), settings, (lengthsByRank, rest) => {
        const input = { lengthsByRank, ...rest, maxTokensPerMicroBatch: cap, overlong: 'alone' as const };
        const { ranks, count } = runPlanner(microBatches, input);
        for (const [rank, { microBatches }] of ranks.entries()) {
          const empty = microBatches.filter((one) => one.empty).length;
          expect(empty).toBe(Math.max(0, count - lengthsByRank[rank]!.length));
          expect(microBatches.map((one) => one.empty)).toEqual(microBatches.map((_, at) => at >= count - empty));
        }
      }),
      runs(500),
    );
  });

  test('7. work is even: at most 4/3 of the best where the cap leaves room, and no exchange helps', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 800 }), { minLength: 1, maxLength: 9, size: 'max' }),
        fc.integer({ min: 1, max: 4 }),
        (lengths, minMicroBatches) => {
          const input = { lengthsByRank: [lengths], minMicroBatches, maxTokensPerMicroBatch: cap };
          const { count, metrics } = runPlanner(microBatches, input);
          const works = lengths.map((one) => workOfLength(input, one));
          expect(count).toBe(minMicroBatches);
          const least = leastMaxWork(works, count);
          expect(metrics.maxWork).toBeLessThanOrEqual(least * (4 / 3 - 1 / (3 * count)) * (1 + 1e-9));
        },
      ),
      runs(400),
    );
    fc.assert(
      fc.property(fc.array(length, { minLength: 2, maxLength: 24, size: 'max' }), (lengths) => {
        const input = { lengthsByRank: [lengths], maxTokensPerMicroBatch: cap };
        const [worst, ...others] = runPlanner(microBatches, input).ranks[0]!.microBatches;
        const tokens = (index: number) => lengths[index] ?? 0;
        for (const other of others) {
          for (const out of worst!.sequences) {
            for (const back of [-1, ...other.sequences]) {
              const moved = tokens(out) - tokens(back);
              if (other.tokens + moved > cap || worst!.tokens - moved > cap) continue;
              const work = workOfLength(input, tokens(out)) - workOfLength(input, tokens(back));
              const after = Math.max(worst!.work - work, other.work + work);
              expect(after).toBeGreaterThanOrEqual(worst!.work * (1 - 1e-9));
            }
          }
        }
      }),
      runs(300),
    );
  });

  test('8. a whole batch is dealt out evenly: numbers of sequences differ by at most one', () => {
    fc.assert(
      fc.property(batch, settings, (given, rest) => {
        const { ranks } = runPlanner(microBatches, {
          ...given,
          ...rest,
          maxTokensPerMicroBatch: cap,
          overlong: 'alone',
        });
        const held = ranks.map(({ microBatches }) => sum(microBatches.map((one) => one.sequences.length)));
        expect(Math.max(...held) - Math.min(...held)).toBeLessThanOrEqual(1);
      }),
      runs(500),
    );
  });

  test('9. micro-batches come by descending work, so that ranks do like with like', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        if (input.assignments !== undefined) return;
        for (const { microBatches: own } of runPlanner(microBatches, input).ranks) {
          const works = own.map((one) => one.work);
          for (const [at, work] of works.entries())
            expect(work).toBeLessThanOrEqual((works[at - 1] ?? work) * (1 + 1e-9));
        }
      }),
      runs(300),
    );
  });
});
