/** flex-ulysses on small batches whose optimum is recorded: test/property/flex-ulysses-optimum.test.ts finds it anew. */
import { expect, test } from 'vitest';
import { flexUlysses, runPlanner } from '../../../src/index.ts';
import { placementProblems } from '../../support/placement/check.ts';
import { optima, smallBatches } from '../../support/placement/small.ts';

test.each(optima)('%s %i: memory %d, compute %d, communication %d', (kind, seed, memory, compute, communication) => {
  const input = smallBatches[kind](seed);
  const plan = runPlanner(flexUlysses, input);
  expect(placementProblems(input, plan)).toEqual([]);
  const { metrics } = plan;
  expect(metrics.maxMemoryTokens).toBeLessThanOrEqual(memory * (1 + 1e-6));
  expect(metrics.maxCompute).toBeLessThanOrEqual(compute * (1 + 1e-6));
  expect(metrics.communication).toBeLessThanOrEqual(communication * (1 + 1e-6));
});
