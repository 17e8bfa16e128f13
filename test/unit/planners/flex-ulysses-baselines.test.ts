/** Strategies of flex-ulysses beside its search. */
import { describe, expect, test } from 'vitest';
import { flexUlysses, runPlanner } from '../../../src/index.ts';
import type { FlexUlyssesInput } from '../../../src/planners/flex-ulysses/index.ts';
import { karmarkarKarp } from '../../../src/planners/micro-batches/index.ts';
import { generator } from '../../support/basics/numbers.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { placementProblems } from '../../support/placement/check.ts';
import { familyLengths, placementFamilies } from '../../support/placement/families.ts';

const strategies = ['paper', 'bucketing', 'karmarkar-karp', 'ulysses'] as const;
/** FlexRL, figure 3: one sequence of 32K, one of 16K, short ones; four devices. */
const fig3 = [32_768, 16_384, 4096, 4096, 4096, 4096, 4096, 4096];

const random = (count: number, seed: number) => {
  const next = generator(seed);
  return Array.from({ length: count }, () => Math.floor(100 + next() ** 6 * 60_000));
};
const batches: Record<string, number[]> = {
  'figure 3': fig3,
  'fewer sequences than devices': [9000, 500, 20],
  'one sequence': [4096],
  'all equal': Array.from({ length: 48 }, () => 1000),
  'one giant': [200_000, ...random(30, 3)],
  'zero lengths among others': [0, 700, 0, 0, 90, 3000, 0],
  'only zero lengths': [0, 0, 0],
  'two giants and many': [90_000, 80_000, ...random(200, 4)],
  'lengths of 1': [1, 1, 1, 1, 1],
  'no sequence': [],
};
const deviceCounts = [1, 4, 6, 7, 12, 1024];

const devicesOf = (input: FlexUlyssesInput) =>
  runPlanner(flexUlysses, input).assignments.map((one) => one.devices.join());
const checked = (input: FlexUlyssesInput) => {
  const plan = runPlanner(flexUlysses, input);
  expect(placementProblems(input, plan)).toEqual([]);
  return plan;
};

describe.each(strategies)('%s', (strategy) => {
  describe.each(Object.entries(batches))('%s', (_, lengths) => {
    test.each(deviceCounts)('on %i devices', (devices) => {
      checked({ lengths, devices, strategy });
      checked({ lengths, devices, strategy, memoryCapTokens: 0, overCap: 'allow' });
      checked({ lengths, devices, strategy, memorySlack: 1, maxDegree: 2, attentionHeads: 6, devicesPerNode: 1 });
    });
  });

  test('with measured costs', () => {
    const costs: FlexUlyssesInput['costs'] = {
      compute: [
        { tokens: 100, value: 1 },
        { tokens: 100_000, value: 900 },
      ],
      communication: [
        { degree: 2, cost: { base: 1 } },
        { degree: 4, cost: { perToken: 0.1 } },
      ],
    };
    checked({ lengths: random(60, 8), devices: 4, strategy, costs });
  });

  test('says that memory is relaxed where it is', () => {
    expect(checked({ lengths: fig3, devices: 4, strategy, memoryCapTokens: 10, overCap: 'allow' }).memoryRelaxed).toBe(
      true,
    );
    expect(checked({ lengths: fig3, devices: 4, strategy, memoryCapTokens: 1e6 }).memoryRelaxed).toBe(false);
  });
});

describe('paper', () => {
  test('figure 3: the longest are split, and the rest fills up', () => {
    const plan = checked({ lengths: fig3, devices: 4, strategy: 'paper', memorySlack: 1.5 });
    expect(plan.assignments[0]).toEqual({ sequence: 0, degree: 4, devices: [0, 1, 2, 3] });
    expect(plan.memoryRelaxed).toBe(false);
    expect(plan.metrics.maxCompute / plan.bounds.compute).toBeLessThan(1.6);
  });

  test('what needs no more than two devices is put on one, where there is memory', () => {
    const plan = checked({ lengths: [2000, 2000, 2000, 2100], devices: 4, strategy: 'paper' });
    expect(plan.assignments.map((one) => one.degree)).toEqual([1, 1, 1, 1]);
  });

  test('what fits nowhere whole is split in two', () => {
    const plan = checked({ lengths: [600, 600, 600], devices: 2, strategy: 'paper', memoryCapTokens: 900 });
    expect(plan.assignments.map((one) => one.degree)).toEqual([1, 1, 2]);
    expect(plan.memoryRelaxed).toBe(false);
  });

  test('what fits nowhere at all goes where there is most memory left', () => {
    const plan = checked({
      lengths: [600, 500, 400],
      devices: 2,
      strategy: 'paper',
      memoryCapTokens: 600,
      overCap: 'allow',
      maxDegree: 1,
    });
    expect(plan.assignments.map((one) => one.devices)).toEqual([[0], [1], [1]]);
    expect(plan.memoryRelaxed).toBe(true);
  });

  test('a merge puts the shortest of a group on its halves, also where that costs more', () => {
    // Each is above the mean compute on two devices, so that all start on four; two of them share a group then.
    const plan = checked({ lengths: [1000, 1000, 1000], devices: 8, strategy: 'paper', memorySlack: 1.4 });
    expect(plan.assignments.map((one) => one.devices)).toEqual([
      [0, 1],
      [4, 5, 6, 7],
      [2, 3],
    ]);
  });
});

describe('what the baselines lose, over 75 batches of five families', () => {
  const inputs = placementFamilies.flatMap((family) =>
    [
      [64, 8],
      [64, 32],
      [128, 64],
      [256, 32],
      [256, 128],
    ].flatMap(([sequences, devices]) =>
      [1, 2, 3].map((seed) => ({ lengths: familyLengths(family, seed, sequences!), devices: devices! })),
    ),
  );
  const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;

  // The figures of the README: compute relative to the bound, batches above the memory, communication for 100 tokens.
  test.each([
    ['paper', 1.29, 1, 4.0],
    ['bucketing', 3.96, 54, 0],
    ['karmarkar-karp', 4.03, 59, 0],
    ['ulysses', 1.0, 19, 10.9],
  ] as const)('%s', (strategy, balance, overMemory, communication) => {
    const plans = inputs.map((input) => checked({ ...input, strategy }));
    expect(mean(plans.map((plan) => plan.metrics.maxCompute / plan.bounds.compute))).toBeCloseTo(balance, 1);
    expect(plans.filter((plan) => plan.memoryRelaxed)).toHaveLength(overMemory);
    const shares = plans.map(
      (plan, at) => plan.metrics.communication / (mean(inputs[at]!.lengths) * inputs[at]!.lengths.length),
    );
    expect(100 * mean(shares)).toBeCloseTo(communication, 1);
  });
});

describe('bucketing', () => {
  test('longest first to the device with least work, no sequence split', () => {
    expect(devicesOf({ lengths: fig3, devices: 4, strategy: 'bucketing' })).toEqual([
      ...['0', '1', '2', '3', '2', '3', '2', '3'],
    ]);
  });

  test('balances the workload that it is given', () => {
    const lengths = [10, 7, 6, 5];
    const input = (workload: object): FlexUlyssesInput => ({
      lengths,
      devices: 2,
      strategy: 'bucketing',
      costs: { workload },
    });
    expect(devicesOf(input({ perToken: 1 }))).toEqual(['0', '1', '1', '0']);
    expect(devicesOf(input({ perTokenSquared: 1 }))).toEqual(['0', '1', '1', '1']);
  });
});

describe('karmarkar-karp', () => {
  const parts = (lengths: number[], devices: number) => {
    const { assignments } = checked({ lengths, devices, strategy: 'karmarkar-karp' });
    return Array.from({ length: devices }, (_, device) =>
      assignments.filter((one) => one.devices[0] === device).map((one) => one.sequence),
    );
  };

  test("gives verl's parts: equal sizes where the devices divide the sequences", () => {
    expect(parts(fig3, 4)).toEqual([
      [0, 2],
      [1, 3],
      [4, 7],
      [5, 6],
    ]);
  });

  test('other numbers of sequences are partitioned freely, also fewer than devices', () => {
    const workloads = fig3.slice(0, 7).map((length) => 24_576 * length + length ** 2);
    expect(parts(fig3.slice(0, 7), 4)).toEqual(karmarkarKarp(workloads, 4));
    expect(parts([5, 9], 4)).toEqual([[1], [0], [], []]);
  });

  test('1024 devices and 8192 sequences', () => {
    const sizes = parts(random(8192, 11), 1024).map((part) => part.length);
    expect(new Set(sizes)).toEqual(new Set([8]));
  });
});

describe('ulysses', () => {
  test('one degree for all', () => {
    const plan = checked({ lengths: [5, 4, 3, 0], devices: 8, strategy: 'ulysses', ulyssesDegree: 4 });
    expect(plan.assignments.map((one) => one.devices)).toEqual([[0, 1, 2, 3], [4, 5, 6, 7], [4, 5, 6, 7], [0]]);
    expect(plan.metrics.sharded).toBe(3);
  });

  test('the largest degree if none is given', () => {
    const degrees = (devices: number) => checked({ lengths: [5], devices, strategy: 'ulysses' }).assignments[0]!.degree;
    expect([1, 6, 7, 12, 64].map(degrees)).toEqual([1, 2, 1, 4, 8]);
  });

  test.each([
    [3, { devices: 12 }, '1, 2, 4'],
    [8, { devices: 12 }, '1, 2, 4'],
    [16, { devices: 32 }, '1, 2, 4, 8'],
    [4, { devices: 8, attentionHeads: 6 }, '1, 2'],
    [4, { devices: 8, kvHeads: 6 }, '1, 2'],
    [4, { devices: 8, maxDegree: 2 }, '1, 2'],
  ])('refuses degree %i with %o', (ulyssesDegree, rest, degrees) => {
    expect(
      refusal(() => runPlanner(flexUlysses, { lengths: [9], strategy: 'ulysses', ulyssesDegree, ...rest })),
    ).toEqual({
      code: 'invalid_input',
      path: 'ulyssesDegree',
      expected: `one of ${degrees}`,
      got: String(ulyssesDegree),
    });
  });
});
