import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CostModel, costModelSchema } from '../../src/sim/cost-model.ts';
import { DecodeEngine } from '../../src/sim/engine/decode-engine.ts';
import { clairvoyantLowerBound, clairvoyantOrder, type FixedPrompt } from '../../src/sim/lower-bound.ts';
import { runs } from '../support/runs.ts';

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

/** Every way to deal items into rounds of P0, the last of which may be smaller. */
function* partitions(items: readonly FixedPrompt[], size: number): Generator<FixedPrompt[][]> {
  if (items.length === 0) {
    yield [];
    return;
  }
  const [first, ...rest] = items;
  for (let mask = 0; mask < 1 << rest.length; mask += 1) {
    const chosen = rest.filter((_, index) => mask & (1 << index));
    const left = rest.filter((_, index) => !(mask & (1 << index)));
    const isFull = chosen.length === size - 1;
    // Only one round may be smaller: the one that takes what is left of the division.
    if (!isFull && chosen.length + 1 !== (items.length % size || size)) continue;
    for (const others of partitions(left, size)) {
      const sizes = [chosen.length + 1, ...others.map((one) => one.length)];
      if (sizes.filter((one) => one < size).length <= 1) yield [[first!, ...chosen], ...others];
    }
  }
}

function bestRound(round: readonly FixedPrompt[], engines: number, cost: CostModel): number {
  const requests = round.flatMap((one) =>
    one.responseTokens.map((responseTokens) => ({ promptTokens: one.promptTokens, responseTokens })),
  );
  let best = Number.POSITIVE_INFINITY;
  for (let code = 0; code < engines ** requests.length; code += 1) {
    const all = Array.from({ length: engines }, (_, index) => new DecodeEngine(`e${index}`, cost));
    requests.forEach((request, index) => {
      all[Math.floor(code / engines ** index) % engines]!.add({ ...request, requestId: `q${index}` }, 0);
    });
    const ends = all.flatMap((engine) => engine.advanceTo(1e9).map((outcome) => outcome.at));
    best = Math.min(best, Math.max(...ends));
  }
  return best;
}

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
        let best = Number.POSITIVE_INFINITY;
        for (const rounds of partitions(list, size)) {
          best = Math.min(
            best,
            rounds.reduce((sum, round) => sum + bestRound(round, engines, cost), 0),
          );
        }
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
