/** What the README of flex-ulysses says of the default size of packs, on the known batches. */
import { describe, expect, test } from 'vitest';
import { flexUlysses, runPlanner } from '../../../src/index.ts';
import { type FlexUlyssesPlan, findDeadlock } from '../../../src/planners/flex-ulysses/index.ts';
import { mean } from '../../support/basics/numbers.ts';
import { inputOf, type KnownInstance, knownInstances } from '../../support/placement/instances.ts';

/** All but the largest, which takes seconds. */
const batches = knownInstances.filter(({ devices }) => devices < 1000);

describe.each([
  ['H200', 0.01, 0.05, 0.06],
  ['H800', 0.04, 0.4, 0.5],
] as const)('on %s, everything sharded at the top degree', (timing, usual, most, without) => {
  const planOf = (known: KnownInstance, packCapTokens?: number): FlexUlyssesPlan =>
    runPlanner(flexUlysses, {
      ...inputOf(known),
      strategy: 'ulysses',
      costs: { timing },
      ...(packCapTokens === undefined ? {} : { packCapTokens }),
    });
  /** Logarithms of the predicted seconds with the default cap and without packs, relative to the best of nine caps. */
  const relative = (which: 'default' | 'none'): number[] =>
    batches.map((known) => {
      const share = known.lengths.reduce((sum, one) => sum + one, 0) / known.devices;
      const caps = [0.25, 0.5, 1, 1.5, 2, 3, 4, 8, 1000].map((factor) => Math.ceil(factor * share));
      const best = Math.min(...caps.map((cap) => planOf(known, cap).schedule.makespanSeconds));
      const plan = which === 'default' ? planOf(known) : planOf(known, 0);
      expect(findDeadlock(plan)).toBeUndefined();
      return Math.log(plan.schedule.makespanSeconds / best);
    });

  test('the default cap is near the best of nine', () => {
    const byDefault = relative('default');
    expect(Math.exp(mean(byDefault)) - 1).toBeLessThan(usual);
    expect(Math.exp(Math.max(...byDefault)) - 1).toBeLessThan(most);
  });

  test('no packs is far from it', () => {
    expect(Math.exp(mean(relative('none'))) - 1).toBeGreaterThanOrEqual(without);
  });
});
