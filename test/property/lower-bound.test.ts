import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clairvoyantLowerBound, clairvoyantOrder } from '../../src/sim/bounds/lower-bound.ts';
import { costModelSchema } from '../../src/sim/models/cost-model.ts';
import { runs } from '../support/basics/runs.ts';
import { bestSeconds } from '../support/simulator/best-rounds.ts';

const costs = fc
  .record({
    memoryBoundSeconds: fc.constantFrom(0.01, 0.03),
    computeSecondsPerSequence: fc.constantFrom(0, 0.008, 0.02),
    overheadSeconds: fc.constantFrom(0, 0.005),
    secondsPerSequence: fc.constantFrom(0, 0.001),
    secondsPerContextToken: fc.constantFrom(0, 1e-5, 1e-4),
    prefillSecondsPerToken: fc.constantFrom(0, 1e-4),
    kvCapacityTokens: fc.constantFrom(120, 1000),
    maxRunningSequences: fc.constantFrom(2, 8),
  })
  .map((cost) => costModelSchema.parse(cost));
const prompts = fc.array(
  fc.record({
    promptTokens: fc.integer({ min: 1, max: 20 }),
    responseTokens: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 4 },
);

test('no schedule of a small instance beats the bound, and the best is not far above it', () => {
  const ratios: number[] = [];
  fc.assert(
    fc.property(
      costs,
      prompts,
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 2 }),
      (cost, list, size, engines) => {
        const bound = clairvoyantLowerBound(list, size, engines, cost).totalSeconds;
        const best = bestSeconds(list, size, engines, cost);
        expect(bound).toBeLessThanOrEqual(best * (1 + 1e-9));
        ratios.push(bound / best);
      },
    ),
    runs(60),
  );
  const mean = ratios.reduce((sum, one) => sum + one, 0) / ratios.length;
  expect(mean).toBeGreaterThan(0.6);
});

test('the clairvoyant order puts long prompts together', () => {
  const list = [3, 9, 5].map((tokens) => ({ promptTokens: 1, responseTokens: [1, tokens] }));
  expect(clairvoyantOrder(list).map((one) => one.responseTokens[1])).toEqual([9, 5, 3]);
});
