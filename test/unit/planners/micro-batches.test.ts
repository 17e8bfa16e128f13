import { describe, expect, test } from 'vitest';
import { flexUlysses, microBatches, runPlanner } from '../../../src/index.ts';
import {
  karmarkarKarp,
  type MicroBatchesInput,
  type MicroBatchesPlan,
} from '../../../src/planners/micro-batches/index.ts';
import { generator } from '../../support/basics/numbers.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { microBatchProblems } from '../../support/oracles/micro-batches.ts';

const checked = (input: MicroBatchesInput): MicroBatchesPlan => {
  const plan = runPlanner(microBatches, input);
  expect(microBatchProblems(input, plan)).toEqual([]);
  return plan;
};
const sequencesOf = ({ ranks }: MicroBatchesPlan) => ranks.map((rank) => rank.microBatches.map((one) => one.sequences));
const refused = (input: object) => refusal(() => runPlanner(microBatches, input as MicroBatchesInput));

describe('micro-batches', () => {
  test('the cap is kept where a partition into ceil(tokens ÷ cap) parts breaks it', () => {
    const lengths = [7, 7, 7, 7, 7, 7, 7, 7];
    const parts = karmarkarKarp(lengths, Math.ceil(56 / 8));
    expect(Math.max(...parts.map((part) => part.length))).toBe(2);
    const plan = checked({ lengthsByRank: [lengths], maxTokensPerMicroBatch: 8 });
    expect(plan).toMatchObject({ count: 8, bounds: { count: 8 }, metrics: { maxTokens: 7 } });
  });

  test('the checker finds a cap that is broken, as it is by Karmarkar-Karp in many random splits', () => {
    const next = generator(17);
    let above = 0;
    for (let run = 0; run < 200; run += 1) {
      const lengths = Array.from({ length: 24 }, () => 1 + Math.floor(next() * 4000));
      const count = Math.ceil(lengths.reduce((sum, one) => sum + one, 0) / 8192);
      const parts = karmarkarKarp(lengths, count);
      if (parts.some((part) => part.reduce((sum, index) => sum + lengths[index]!, 0) > 8192)) above += 1;
      checked({ lengthsByRank: [lengths], maxTokensPerMicroBatch: 8192 });
    }
    expect(above).toBeGreaterThan(10);
  });

  test('all ranks have as many as the one that needs most; a rank with too few sequences has empty ones, last', () => {
    const plan = checked({ lengthsByRank: [[5, 5, 5], [4, 1], [], [2]], maxTokensPerMicroBatch: 5 });
    expect(sequencesOf(plan)).toEqual([
      [[0], [1], [2]],
      [[0], [1], []],
      [[], [], []],
      [[0], [], []],
    ]);
    expect(plan.metrics.empty).toBe(6);
    expect(plan.ranks[2]!.microBatches[0]).toEqual({ sequences: [], tokens: 0, work: 0, empty: true, overCap: false });
  });

  test('first fit is not enough: the best packing is found', () => {
    // First fit takes 3: 6 + 5, 4 + 4 + 3, and 2 is left.
    const plan = checked({ lengthsByRank: [[6, 5, 4, 4, 3, 2]], maxTokensPerMicroBatch: 12 });
    expect(plan.count).toBe(2);
    const hard = [51, 27, 23, 51, 27, 23, 44, 33, 24, 44, 33, 24];
    expect(checked({ lengthsByRank: [hard], maxTokensPerMicroBatch: 101 }).count).toBe(4);
  });

  test('a count that is asked for, and one that something divides', () => {
    const lengths = [9, 8, 7, 6, 5, 4];
    const count = (rest: object) => checked({ lengthsByRank: [lengths], maxTokensPerMicroBatch: 20, ...rest }).count;
    expect([count({}), count({ minMicroBatches: 4 }), count({ divisibleBy: 4 })]).toEqual([2, 4, 4]);
    expect([count({ minMicroBatches: 5, divisibleBy: 3 }), count({ minMicroBatches: 9 })]).toEqual([6, 9]);
  });

  test('nothing to train on: no micro-batch, unless some are asked for', () => {
    expect(checked({ lengthsByRank: [[], []], maxTokensPerMicroBatch: 5 }).count).toBe(0);
    expect(checked({ lengths: [], ranks: 3, maxTokensPerMicroBatch: 5 })).toMatchObject({
      count: 0,
      bounds: { count: 0 },
    });
    expect(checked({ lengths: [], ranks: 3, maxTokensPerMicroBatch: 5, minMicroBatches: 2 }).metrics.empty).toBe(6);
    expect(checked({ lengths: [0, 0], ranks: 1, maxTokensPerMicroBatch: 5 }).count).toBe(1);
  });

  test('a batch is dealt out: 10 sequences for 4 ranks, fewer sequences than ranks, one giant', () => {
    const held = (lengths: number[], ranks: number) =>
      checked({ lengths, ranks, maxTokensPerMicroBatch: 1000 }).ranks.map(({ microBatches }) =>
        microBatches.reduce((sum, one) => sum + one.sequences.length, 0),
      );
    expect(held([9, 9, 9, 9, 9, 9, 9, 9, 9, 9], 4).sort()).toEqual([2, 2, 3, 3]);
    expect(held([9, 9], 4).sort()).toEqual([0, 0, 1, 1]);
    expect(held([1000, 1, 1, 1, 1, 1, 1], 3).sort()).toEqual([2, 2, 3]);
  });

  test('a batch that is even by work, but not by tokens, is dealt out by tokens if that saves micro-batches', () => {
    // Even by work, a rank has 32 of the 58 tokens.
    const lengths = [6, 10, 13, 16, 13];
    const input = { lengths, ranks: 2, maxTokensPerMicroBatch: 29, compute: { perTokenSquared: 1 } };
    expect(checked(input)).toMatchObject({ count: 1, bounds: { count: 1 } });
  });

  test('a sequence above the cap is refused, or goes alone and says so', () => {
    expect(refused({ lengthsByRank: [[1], [4, 9]], maxTokensPerMicroBatch: 8 })).toEqual({
      code: 'infeasible',
      path: 'lengthsByRank[1][1]',
      expected: 'a sequence of at most 8 tokens (or overlong: alone)',
      got: '9',
    });
    expect(refused({ lengths: [9], ranks: 1, maxTokensPerMicroBatch: 8 })).toMatchObject({ path: 'lengths[0]' });
    const plan = checked({ lengthsByRank: [[1, 9, 2]], maxTokensPerMicroBatch: 8, overlong: 'alone' });
    expect(sequencesOf(plan)).toEqual([[[1], [0, 2]]]);
    expect(plan.ranks[0]!.microBatches.map((one) => one.overCap)).toEqual([true, false]);
  });

  test('ranks that wait for each other do like with like', () => {
    const lengthsByRank = [
      [100, 900],
      [900, 100],
    ];
    const { metrics } = checked({ lengthsByRank, maxTokensPerMicroBatch: 900, compute: { perToken: 1 } });
    expect(metrics.lockstepWork).toBe(1000);
  });

  describe('of a plan of flex-ulysses', () => {
    const next = generator(23);
    const lengths = Array.from({ length: 60 }, () => Math.floor(200 + next() ** 5 * 60_000));

    test.each([1, 4, 6, 12, 64])(
      'on %i devices: a sharded sequence is in one micro-batch on all of them',
      (devices) => {
        for (const strategy of ['paper', 'ulysses'] as const) {
          const { assignments } = runPlanner(flexUlysses, { lengths, devices, strategy });
          checked({ lengths, ranks: devices, assignments, maxTokensPerMicroBatch: 16_384, overlong: 'alone' });
        }
      },
    );

    test('shares are what counts for the cap', () => {
      const assignments = [
        { sequence: 0, degree: 2, devices: [0, 1] },
        { sequence: 1, degree: 1, devices: [1] },
        { sequence: 2, degree: 1, devices: [0] },
      ];
      const plan = (cap: number) =>
        checked({ lengths: [10, 3, 3], ranks: 2, assignments, maxTokensPerMicroBatch: cap }).count;
      expect([plan(8), plan(7), plan(5)]).toEqual([1, 2, 2]);
      expect(refused({ lengths: [10, 3, 3], ranks: 2, assignments, maxTokensPerMicroBatch: 4 })).toMatchObject({
        code: 'infeasible',
        expected: 'a sequence of at most 8 tokens (or overlong: alone)',
      });
    });

    test.each([
      [[{ sequence: 0, degree: 1, devices: [0] }], 'assignments'],
      [
        [
          { sequence: 0, degree: 1, devices: [0] },
          { sequence: 0, degree: 1, devices: [0] },
        ],
        'assignments[1].sequence',
      ],
      [
        [
          { sequence: 2, degree: 1, devices: [0] },
          { sequence: 0, degree: 1, devices: [0] },
        ],
        'assignments[0].sequence',
      ],
      [
        [
          { sequence: 0, degree: 2, devices: [0] },
          { sequence: 1, degree: 1, devices: [0] },
        ],
        'assignments[0].devices',
      ],
      [
        [
          { sequence: 0, degree: 2, devices: [0, 2] },
          { sequence: 1, degree: 1, devices: [0] },
        ],
        'assignments[0].devices[1]',
      ],
      [
        [
          { sequence: 0, degree: 1, devices: [0] },
          { sequence: 1, degree: 1, devices: [4] },
        ],
        'assignments[1].devices[0]',
      ],
    ])('assignments that do not fit the batch are refused: %j', (assignments, path) => {
      const input = { lengths: [5, 6], ranks: 4, maxTokensPerMicroBatch: 9, assignments };
      expect(refused(input)).toMatchObject({ code: 'invalid_input', path });
    });
  });

  test.each([
    [{}, 'lengths'],
    [{ lengths: [5] }, 'ranks'],
    [{ ranks: 2 }, 'lengths'],
    [{ lengths: [5], ranks: 2, lengthsByRank: [[5]] }, 'lengths'],
    [{ ranks: 2, lengthsByRank: [[5]] }, 'ranks'],
    [{ assignments: [], lengthsByRank: [[5]] }, 'assignments'],
    [{ lengthsByRank: [] }, 'lengthsByRank'],
    [{ lengthsByRank: [[1.5]] }, 'lengthsByRank[0][0]'],
    [{ lengthsByRank: [[5]], divisibleBy: 0 }, 'divisibleBy'],
    [{ lengthsByRank: [[5]], minMicroBatches: -1 }, 'minMicroBatches'],
    [{ lengthsByRank: [[5]], compute: {} }, 'compute'],
  ])('refuses %j', (input, path) => {
    expect(refused({ maxTokensPerMicroBatch: 9, ...input })).toMatchObject({ code: 'invalid_input', path });
  });

  test('refuses a plan that would be too large, and a length that nobody has measured', () => {
    const many = { lengths: [1], ranks: 65_536, maxTokensPerMicroBatch: 1, divisibleBy: 4096 };
    expect(refused(many)).toMatchObject({ code: 'limit_exceeded' });
    const measured = { lengthsByRank: [[5]], maxTokensPerMicroBatch: 9, compute: [{ tokens: 4, value: 1 }] };
    expect(refused(measured)).toMatchObject({ code: 'infeasible', path: 'compute' });
  });

  test('8192 sequences for 512 ranks', () => {
    const next = generator(29);
    const lengths = Array.from({ length: 8192 }, () => Math.floor(100 + next() ** 4 * 16_000));
    const plan = checked({ lengths, ranks: 512, maxTokensPerMicroBatch: 20_000 });
    expect(plan.count).toBe(plan.bounds.count);
    expect((plan.metrics.lockstepWork * 512) / plan.metrics.totalWork).toBeLessThan(1.05);
  });
});
