import { describe, expect, test } from 'vitest';
import { gradientRenormalization, runPlanner } from '../../../src/index.ts';
import {
  type GradientRenormalizationInput,
  scaleFactor,
} from '../../../src/planners/gradient-renormalization/index.ts';
import { sum } from '../../support/basics/numbers.ts';
import { refusal } from '../../support/basics/refusal.ts';

const replicas = [{ samples: 3 }, { samples: 0 }, { samples: 5 }];
const factorsOf = (input: GradientRenormalizationInput) => runPlanner(gradientRenormalization, input).factors;

/** One parameter, loss w · x for each sample: the gradient of a batch is the mean of its xs. */
const samples = [[1, 2, 6], [], [4, 4, 4, 8, 3]];
const mean = (values: readonly number[]) => (values.length === 0 ? 0 : sum(values) / values.length);
const wholeBatch = mean(samples.flat());

describe('gradient-renormalization', () => {
  test.each([
    ['mean', 'sum', [3 / 8, 0, 5 / 8]],
    ['mean', 'mean', [9 / 8, 0, 15 / 8]],
    ['sum', 'sum', [1 / 8, 1 / 8, 1 / 8]],
    ['sum', 'mean', [3 / 8, 3 / 8, 3 / 8]],
  ] as const)('local %s, collective %s', (reduction, collective, factors) => {
    expect(runPlanner(gradientRenormalization, { replicas, reduction, collective })).toEqual({ factors, total: 8 });
    const scaled = samples.map((one, index) => factors[index]! * (reduction === 'mean' ? mean(one) : sum(one)));
    expect(collective === 'mean' ? mean(scaled) : sum(scaled)).toBeCloseTo(wholeBatch, 12);
  });

  test('local means, added up, of samples are the default', () => {
    expect(runPlanner(gradientRenormalization, { replicas })).toEqual(
      runPlanner(gradientRenormalization, { replicas, unit: 'samples', reduction: 'mean', collective: 'sum' }),
    );
  });

  test('RollPacker §4.4: n_i / N is right for local means, and wrong for local sums', () => {
    const shares = factorsOf({ replicas, reduction: 'mean', collective: 'sum' });
    expect(sum(samples.map((one, index) => shares[index]! * mean(one)))).toBeCloseTo(wholeBatch, 12);
    expect(sum(samples.map((one, index) => shares[index]! * sum(one)))).toBe(17.75);
    expect(wholeBatch).toBe(4);
  });

  test('AReaL #1273: a framework that divides by the number of micro-batches again', () => {
    const microBatches = [{ samples: 2 }, { samples: 2 }, { samples: 2 }];
    const input: GradientRenormalizationInput = {
      replicas: [{ samples: 6, microBatches }],
      reduction: 'sum',
      accumulation: 'mean',
    };
    // Each would be 1 / 6: with the division by 3 the update would be three times too small.
    expect(runPlanner(gradientRenormalization, input).microBatchFactors).toEqual([[3 / 6, 3 / 6, 3 / 6]]);
    expect(runPlanner(gradientRenormalization, { ...input, accumulated: true })).toEqual({
      factors: [3 / 6],
      total: 6,
    });
  });

  test('NeMo-RL #212: empty micro-batches are divided by too, and weigh nothing', () => {
    const microBatches = [{ samples: 2 }, { samples: 0 }, { samples: 2 }, { samples: 0 }];
    const input: GradientRenormalizationInput = {
      replicas: [{ samples: 4, microBatches }, { samples: 4 }],
      accumulation: 'mean',
    };
    expect(runPlanner(gradientRenormalization, input).microBatchFactors).toEqual([[1, 0, 1, 0], [0.5]]);
    expect(runPlanner(gradientRenormalization, { ...input, accumulated: true })).toEqual({
      factors: [1, 0.5],
      total: 8,
    });
  });

  test('verl #5625, #7200: a mean over tokens does not depend on how the batch is cut', () => {
    const cut = (...tokens: number[]) => ({
      samples: tokens.length,
      tokens: sum(tokens),
      microBatches: tokens.map((one) => ({ samples: 1, tokens: one })),
    });
    const plan = runPlanner(gradientRenormalization, { replicas: [cut(10, 30), cut(60)], unit: 'tokens' });
    // The mean over 10 tokens weighs a third of that over 30, on whichever replica they are.
    expect(plan).toEqual({ factors: [0.4, 0.6], microBatchFactors: [[0.1, 0.3], [0.6]], total: 100 });
    expect(
      runPlanner(gradientRenormalization, { replicas: [cut(60, 30, 10)], unit: 'tokens' }).microBatchFactors,
    ).toEqual([[0.6, 0.3, 0.1]]);
  });

  test('slime #1414, #2230: groups of different sizes weigh the same by groups, and by their samples otherwise', () => {
    const uneven = [
      { samples: 8, groups: 1 },
      { samples: 4, groups: 1 },
    ];
    expect(factorsOf({ replicas: uneven, unit: 'groups' })).toEqual([1 / 2, 1 / 2]);
    expect(factorsOf({ replicas: uneven })).toEqual([8 / 12, 4 / 12]);
  });

  test('what has no samples has none of anything', () => {
    const empty = [
      { samples: 2, tokens: 9, microBatches: [{ samples: 0 }, { samples: 2, tokens: 9 }] },
      { samples: 0 },
    ];
    expect(runPlanner(gradientRenormalization, { replicas: empty, unit: 'tokens' })).toEqual({
      factors: [1, 0],
      microBatchFactors: [[0, 1], [0]],
      total: 9,
    });
  });

  test('a constant divisor: the sum over samples is divided by it, whatever the batch holds', () => {
    expect(runPlanner(gradientRenormalization, { replicas, unit: 'constant', divisor: 16, reduction: 'sum' })).toEqual({
      factors: [1 / 16, 1 / 16, 1 / 16],
      total: 16,
    });
    expect(factorsOf({ replicas, unit: 'constant', divisor: 16 })).toEqual([3 / 16, 0, 5 / 16]);
    // A round in which everything was filtered has the gradient 0, not none.
    expect(factorsOf({ replicas: [{ samples: 0 }], unit: 'constant', divisor: 16 })).toEqual([0]);
  });

  test('unequal means that were added up already cannot be repaired; sums and equal means can', () => {
    const unequal = { replicas: [{ samples: 1 }, { samples: 3, microBatches: [{ samples: 1 }, { samples: 2 }] }] };
    expect(refusal(() => runPlanner(gradientRenormalization, { ...unequal, accumulated: true }))).toEqual({
      code: 'infeasible',
      path: 'replicas[1].microBatches',
      expected:
        'micro-batches of one size: means over unequal numbers of samples were added up and cannot be told apart',
      got: '[1,2]',
    });
    expect(factorsOf({ ...unequal, accumulated: true, reduction: 'sum' })).toEqual([1 / 4, 1 / 4]);
    expect(runPlanner(gradientRenormalization, unequal).microBatchFactors).toEqual([[1 / 4], [1 / 4, 2 / 4]]);
    const equal = { replicas: [{ samples: 4, microBatches: [{ samples: 2 }, { samples: 0 }, { samples: 2 }] }] };
    expect(factorsOf({ ...equal, accumulated: true })).toEqual([2 / 4]);
  });

  test('a batch of nothing is infeasible: the step is to be skipped', () => {
    expect(
      refusal(() => runPlanner(gradientRenormalization, { replicas: [{ samples: 0 }, { samples: 0 }] })),
    ).toMatchObject({
      code: 'infeasible',
      path: 'replicas',
    });
    // Samples of which no token counts are nothing too, if tokens are the unit.
    const masked: GradientRenormalizationInput = { replicas: [{ samples: 2, tokens: 0 }], unit: 'tokens' };
    expect(refusal(() => runPlanner(gradientRenormalization, masked)).code).toBe('infeasible');
  });

  test.each<[string, unknown, string, string?]>([
    ['no replicas', { replicas: [] }, 'replicas'],
    ['a fraction of a sample', { replicas: [{ samples: 1.5 }] }, 'replicas[0].samples', 'a whole number >= 0'],
    ['a negative count', { replicas: [{ samples: 1 }, { samples: -1 }] }, 'replicas[1].samples'],
    ['no count of the unit', { replicas: [{ samples: 1 }], unit: 'tokens' }, 'replicas[0].tokens'],
    [
      'no count of the unit in a micro-batch',
      { replicas: [{ samples: 1, groups: 1, microBatches: [{ samples: 1 }] }], unit: 'groups' },
      'replicas[0].microBatches[0].groups',
    ],
    ['tokens without samples', { replicas: [{ samples: 0, tokens: 5 }] }, 'replicas[0].tokens'],
    ['more groups than samples', { replicas: [{ samples: 1, groups: 2 }] }, 'replicas[0].groups'],
    [
      'micro-batches without all of the tokens',
      { replicas: [{ samples: 2, tokens: 9, microBatches: [{ samples: 2, tokens: 8 }, { samples: 0 }] }] },
      'replicas[0].tokens',
    ],
    [
      'micro-batches that do not add up',
      { replicas: [{ samples: 4, microBatches: [{ samples: 1 }, { samples: 2 }] }] },
      'replicas[0].samples',
      'the sum of its micro-batches, 3',
    ],
    ['a constant without a divisor', { replicas, unit: 'constant' }, 'divisor'],
    ['a divisor without a constant', { replicas, divisor: 8 }, 'divisor'],
    ['a divisor of 0', { replicas, unit: 'constant', divisor: 0 }, 'divisor'],
    ['an unknown unit', { replicas, unit: 'steps' }, 'unit', 'one of samples, tokens, groups, weights, constant'],
    ['an unknown reduction', { replicas, reduction: 'max' }, 'reduction'],
    ['an unknown key', { replicas, microBatches: 2 }, 'microBatches'],
  ])('refuses %s', (_, input, path, expected) => {
    const refused = refusal(() => runPlanner(gradientRenormalization, input as GradientRenormalizationInput));
    expect([refused.code, refused.path]).toEqual(['invalid_input', path]);
    if (expected !== undefined) expect(refused.expected).toBe(expected);
  });

  test('the formula is there for policies that scale gradients themselves', () => {
    const share = { units: 3, total: 8, replicas: 4 } as const;
    expect(scaleFactor({ ...share, reduction: 'mean', collective: 'mean' })).toBe(12 / 8);
    expect(scaleFactor({ ...share, units: 0, reduction: 'mean', collective: 'sum' })).toBe(0);
  });
});
