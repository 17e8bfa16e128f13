import { describe, expect, test } from 'vitest';
import { grpoAdvantages, runPlanner } from '../../../src/index.ts';
import type { GrpoAdvantagesInput } from '../../../src/planners/grpo-advantages/index.ts';
import { refusal } from '../../support/basics/refusal.ts';

const one = (rewards: (number | null)[], more: Partial<GrpoAdvantagesInput> & { responseIds?: string[] } = {}) => {
  const { responseIds, ...settings } = more;
  const group = responseIds === undefined ? { rewards } : { rewards, responseIds };
  return runPlanner(grpoAdvantages, { groups: [group], ...settings }).groups[0]!;
};
const plain = { normalization: 'none' } as const;

describe('grpo-advantages', () => {
  test('mean and standard deviation of the group: over n − 1 as torch.std, over n if asked', () => {
    const sample = Math.sqrt(2 / 3 + 1e-18);
    expect(one([2, 0, 1, 1])).toMatchObject({ responses: 4, mean: 1, std: sample, zeroVariance: false });
    expect(one([2, 0, 1, 1]).advantages).toEqual([1 / (sample + 1e-6), -1 / (sample + 1e-6), 0, 0]);
    const population = one([2, 0, 1, 1], { std: 'population', epsilon: 0 });
    expect(population.std).toBe(Math.SQRT1_2);
    expect(population.advantages[0]).toBeCloseTo(Math.SQRT2, 12);
  });

  test('without normalization the difference to the mean is left as it is (Dr. GRPO)', () => {
    expect(one([2, 0, 1, 1], plain).advantages).toEqual([1, -1, 0, 0]);
  });

  test('leave-one-out: the difference to the mean of the others (RLOO)', () => {
    const rewards = [4, 1, 1];
    expect(one(rewards, { ...plain, baseline: 'leave-one-out' }).advantages).toEqual([3, -1.5, -1.5]);
    expect(one([1, 0], { ...plain, baseline: 'leave-one-out' }).advantages).toEqual([1, -1]);
  });

  test('groups of any size are each on their own (slime #1414, #2230)', () => {
    const { groups } = runPlanner(grpoAdvantages, {
      groups: [{ groupId: 'a', rewards: [5, 5, 5] }, { groupId: 'b', rewards: [1, 0] }, { rewards: [0, 0, 0, 1, 1] }],
      ...plain,
    });
    expect(groups.map((group) => group.groupId)).toEqual(['a', 'b', undefined]);
    expect(groups.map((group) => group.advantages)).toEqual([
      [0, 0, 0],
      [0.5, -0.5],
      [-0.4, -0.4, -0.4, 0.6, 0.6].map((value) => expect.closeTo(value, 12)),
    ]);
  });

  test('one response has no variance, and is not of zero variance (NeMo-RL #4158)', () => {
    expect(one([3])).toEqual({ responses: 1, mean: 3, std: 0, zeroVariance: false, advantages: [0] });
    expect(one([3], { baseline: 'leave-one-out' }).advantages).toEqual([0]);
    expect(one([3], { singleResponse: 'reward' }).advantages).toEqual([3]);
  });

  test('what has no reward counts in no statistic, and is no zero (open-instruct #1887)', () => {
    const failed = one([1, 0, null, 1, null]);
    const without = one([1, 0, 1]);
    expect(failed).toMatchObject({ responses: 3, mean: without.mean, std: without.std, zeroVariance: false });
    const [a, b, c] = without.advantages;
    expect(failed.advantages).toEqual([a, b, 0, c, 0]);
    // As zeros they would make this group look as if it taught something.
    expect(one([1, null, 1])).toMatchObject({ zeroVariance: true, advantages: [0, 0, 0] });
    expect(one([1, null])).toMatchObject({ responses: 1, zeroVariance: false });
    expect(one([null, null])).toEqual({ responses: 0, mean: 0, std: 0, zeroVariance: false, advantages: [0, 0] });
    expect(one([1, 1, null, 0], { responseIds: ['a', 'a', 'b', 'c'] })).toMatchObject({ responses: 2, mean: 0.5 });
    expect(refusal(() => one([1, null], { responseIds: ['a', 'a'] })).code).toBe('invalid_input');
  });

  test('rewards that differ by rounding only have zero variance (slime #1674)', () => {
    const rounded = one([0.1 + 0.2, 0.3, 0.3]);
    expect(rounded).toMatchObject({ zeroVariance: true, advantages: [0, 0, 0] });
    expect(one([1e15 + 0.125, 1e15, 1e15], { varianceTolerance: 0.1 })).toMatchObject({ zeroVariance: true });
    // A sum of equal rewards is rounded; their mean must not be.
    expect(one([0.1, 0.1, 0.1], { varianceTolerance: 0, epsilon: 0 })).toMatchObject({ zeroVariance: true, std: 0 });
    // The tolerance is in rewards: a reward that is small on purpose needs a smaller one.
    expect(one([1e-7, 0])).toMatchObject({ zeroVariance: true });
    expect(one([1e-7, 0], { varianceTolerance: 0, epsilon: 0 }).advantages[0]).toBeCloseTo(Math.SQRT1_2, 12);
  });

  test('large rewards that differ by little keep their digits', () => {
    const { std, advantages } = one([1e9 + 1, 1e9 - 1], { epsilon: 0 });
    expect([std, ...advantages]).toEqual([Math.SQRT2, 1 / Math.SQRT2, -1 / Math.SQRT2]);
  });

  test('pieces of one trajectory count once (miles #2378)', () => {
    const group = one([1, 1, 1, 0], { responseIds: ['a', 'a', 'a', 'b'], ...plain });
    expect(group).toMatchObject({ responses: 2, mean: 0.5, advantages: [0.5, 0.5, 0.5, -0.5] });
    expect(one([1, 1], { responseIds: ['a', 'a'] })).toMatchObject({ responses: 1, advantages: [0, 0] });
  });

  test.each<[string, unknown, string]>([
    ['no groups', { groups: [] }, 'groups'],
    ['an empty group', { groups: [{ rewards: [1] }, { rewards: [] }] }, 'groups[1].rewards'],
    ['a reward that is no number', { groups: [{ rewards: [1, Number.NaN] }] }, 'groups[0].rewards[1]'],
    ['a reward whose square is none', { groups: [{ rewards: [1e200] }] }, 'groups[0].rewards[0]'],
    [
      'two groups with one id',
      {
        groups: [
          { groupId: 'a', rewards: [1] },
          { groupId: 'a', rewards: [0] },
        ],
      },
      'groups[1].groupId',
    ],
    ['ids that are too few', { groups: [{ rewards: [1, 0], responseIds: ['a'] }] }, 'groups[0].responseIds'],
    ['two rewards of one response', { groups: [{ rewards: [1, 0], responseIds: ['a', 'a'] }] }, 'groups[0].rewards[1]'],
    ['a negative epsilon', { groups: [{ rewards: [1] }], epsilon: -1 }, 'epsilon'],
    ['an unknown baseline', { groups: [{ rewards: [1] }], baseline: 'batch' }, 'baseline'],
    ['an unknown key', { groups: [{ rewards: [1], reward: 1 }] }, 'groups[0].reward'],
  ])('refuses %s', (_, input, path) => {
    const refused = refusal(() => runPlanner(grpoAdvantages, input as GrpoAdvantagesInput));
    expect([refused.code, refused.path]).toEqual(['invalid_input', path]);
  });
});
