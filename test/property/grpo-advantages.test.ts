/** The invariants of grpo-advantages, by their numbers in its README, against exact fractions where there is an oracle. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { grpoAdvantages, runPlanner } from '../../src/index.ts';
import type { GrpoAdvantagesInput } from '../../src/planners/grpo-advantages/index.ts';
import { runs } from '../support/basics/runs.ts';

const reward = fc.integer({ min: -40, max: 40 });
const rewards = fc.array(reward, { minLength: 1, maxLength: 12 });
const settings = fc.record({
  baseline: fc.constantFrom('group', 'leave-one-out'),
  normalization: fc.constantFrom('std', 'none'),
  std: fc.constantFrom('sample', 'population'),
}) as fc.Arbitrary<Pick<GrpoAdvantagesInput, 'baseline' | 'normalization' | 'std'>>;
const close = (one: number, other: number) => Math.abs(one - other) <= 1e-12 * Math.max(1, Math.abs(other));

/** By the definition, in whole numbers until the last step. */
function oracle(values: readonly number[], given: GrpoAdvantagesInput, epsilon: number): number[] {
  const n = BigInt(values.length);
  const sum = values.reduce((all, value) => all + BigInt(value), 0n);
  const squares = values.reduce((all, value) => all + BigInt(value) ** 2n, 0n);
  if (n === 1n || n * squares === sum * sum) return values.map(() => 0);
  const variance = Number(n * squares - sum * sum) / Number(n * (given.std === 'sample' ? n - 1n : n));
  const by = given.normalization === 'std' ? Math.sqrt(variance) + epsilon : 1;
  return values.map((value) => {
    const own = BigInt(value);
    const loo = given.baseline === 'leave-one-out';
    const difference = loo ? Number(own * (n - 1n) - (sum - own)) / Number(n - 1n) : Number(own * n - sum) / Number(n);
    return difference / by;
  });
}

describe('grpo-advantages', () => {
  test('1. advantages are those of the definition', () => {
    fc.assert(
      fc.property(rewards, settings, (values, given) => {
        const input = { groups: [{ rewards: values }], epsilon: 1e-3, ...given };
        const { advantages } = runPlanner(grpoAdvantages, input).groups[0]!;
        const expected = oracle(values, input, 1e-3);
        advantages.forEach((one, index) => {
          expect(close(one, expected[index]!), `${one}, ${expected[index]}`).toBe(true);
        });
      }),
      runs(500),
    );
  });

  test('2. the advantages of the responses of a group add up to 0', () => {
    fc.assert(
      fc.property(rewards, settings, (values, given) => {
        const { advantages } = runPlanner(grpoAdvantages, { groups: [{ rewards: values }], ...given }).groups[0]!;
        const size = advantages.reduce((sum, one) => sum + Math.abs(one), 1);
        expect(Math.abs(advantages.reduce((sum, one) => sum + one, 0))).toBeLessThan(1e-12 * size);
      }),
      runs(500),
    );
  });

  test('3. a group never depends on another one', () => {
    fc.assert(
      fc.property(fc.array(rewards, { minLength: 1, maxLength: 5 }), settings, (groups, given) => {
        const together = runPlanner(grpoAdvantages, {
          groups: groups.map((values) => ({ rewards: values })),
          ...given,
        }).groups;
        const alone = groups.map(
          (values) => runPlanner(grpoAdvantages, { groups: [{ rewards: values }], ...given }).groups[0],
        );
        expect(together).toEqual(alone);
      }),
      runs(500),
    );
  });

  test('4. a constant added to the rewards of a group changes nothing; with std and no epsilon a factor neither', () => {
    fc.assert(
      fc.property(rewards, settings, reward, fc.integer({ min: 1, max: 9 }), (values, given, shift, factor) => {
        const of = (changed: number[]) =>
          runPlanner(grpoAdvantages, { groups: [{ rewards: changed }], epsilon: 0, ...given }).groups[0]!.advantages;
        const plain = of(values);
        of(values.map((value) => value + shift)).forEach((one, index) => {
          expect(close(one, plain[index]!)).toBe(true);
        });
        if (given.normalization === 'none') return;
        of(values.map((value) => value * factor)).forEach((one, index) => {
          expect(close(one, plain[index]!)).toBe(true);
        });
      }),
      runs(500),
    );
  });

  test('5. samples of one response get one advantage, and count once', () => {
    fc.assert(
      fc.property(rewards, settings, fc.array(fc.nat({ max: 30 }), { maxLength: 20 }), (values, given, again) => {
        const owners = [...values.keys(), ...again.map((one) => one % values.length)];
        const group = { rewards: owners.map((one) => values[one]!), responseIds: owners.map((one) => `r${one}`) };
        const planned = runPlanner(grpoAdvantages, { groups: [group], ...given }).groups[0]!;
        const alone = runPlanner(grpoAdvantages, { groups: [{ rewards: values }], ...given }).groups[0]!;
        expect(planned).toEqual({ ...alone, advantages: owners.map((one) => alone.advantages[one]) });
      }),
      runs(500),
    );
  });
});
