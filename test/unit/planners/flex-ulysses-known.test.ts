/** flex-ulysses against the best that is known of thirteen batches. */
import { describe, expect, test } from 'vitest';
import { flexUlysses, runPlanner } from '../../../src/index.ts';
import type { FlexUlyssesPlan } from '../../../src/planners/flex-ulysses/index.ts';
import { some } from '../../support/basics/runs.ts';
import { placementProblems } from '../../support/placement/check.ts';
import { communicationRatio, inputOf, type KnownInstance, knownInstances } from '../../support/placement/instances.ts';

/** How far sums that are added up in different orders may be apart. */
const rounding = 1 + 1e-9;

describe.each(some([0.01, 0.001, 0.05]))('at tolerance %d', (tolerance) => {
  const plans = new Map<KnownInstance, FlexUlyssesPlan>();
  const planOf = (known: KnownInstance): FlexUlyssesPlan => {
    const plan = plans.get(known) ?? runPlanner(flexUlysses, { ...inputOf(known), balanceTolerance: tolerance });
    plans.set(known, plan);
    return plan;
  };
  const ratios = () =>
    knownInstances.map((one) => communicationRatio(one, tolerance, planOf(one).metrics.communication));

  test.each(knownInstances)(
    '$id: valid, balanced and within the memory; the small ones are the same again',
    (known) => {
      const input = { ...inputOf(known), balanceTolerance: tolerance };
      const { metrics, memoryRelaxed } = planOf(known);
      expect(placementProblems(input, planOf(known))).toEqual([]);
      expect(metrics.maxMemoryTokens).toBeLessThanOrEqual(known.memoryCapTokens * rounding);
      expect(memoryRelaxed).toBe(false);
      expect(metrics.maxCompute).toBeLessThanOrEqual((1 + tolerance) * 1.0005 * known.bestCompute);
      expect(metrics.maxCompute * rounding).toBeGreaterThanOrEqual(known.computeLowerBound);
      // What takes seconds is planned once.
      if (known.lengths.length <= 64) expect(runPlanner(flexUlysses, input)).toEqual(planOf(known));
    },
  );

  test('all but one communicate at most 1.10 × the best known, and none more than 1.25 ×', () => {
    const byName = knownInstances.map(({ id }, at): [string, number] => [id, ratios()[at]!]);
    expect(byName.filter(([, ratio]) => ratio > 1.25)).toEqual([]);
    const above = byName.filter(([, ratio]) => ratio > 1.1);
    expect(above.length, JSON.stringify(above)).toBeLessThanOrEqual(1);
  });

  const together = { 0.01: 1.03 }[tolerance] ?? 1.15;
  test(`all together communicate at most ${together} × the best known`, () => {
    const logarithms = ratios().map(Math.log);
    expect(Math.exp(logarithms.reduce((sum, one) => sum + one, 0) / logarithms.length)).toBeLessThanOrEqual(together);
  });
});
