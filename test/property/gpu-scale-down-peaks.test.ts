/** The projection of gpu-scale-down where nothing is known of lengths: the exact peak, by brute force over its ends. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { create, gpuScaleDown } from '../../src/index.ts';
import type { RunningRequest } from '../../src/schemas/index.ts';
import { met, runs } from '../support/basics/runs.ts';
import { cluster, movesOf, open, randomFrom, report, untilQuery } from '../support/oracles/scale-down.ts';

/** The most that requests hold together, if each runs to the cap: at the moment in which one of them reaches it. */
function worstCase(requests: readonly RunningRequest[], maxTokens: number): number {
  const left = requests.map(({ tokens }) => maxTokens - tokens);
  const peaks = left.map((end) =>
    requests.reduce(
      (sum, { tokens, promptTokens }, at) => (left[at]! < end ? sum : sum + tokens + promptTokens + end),
      0,
    ),
  );
  return Math.max(0, ...peaks);
}

function decided(requests: readonly RunningRequest[], maxResponseTokens: number, engines = cluster(2, 1e9)) {
  const policy = create(gpuScaleDown, { promptsPerRound: 10, responsesPerPrompt: 2, maxResponseTokens, engines });
  open(policy, 'r');
  const [decision] = report(policy, untilQuery(policy), [...requests]);
  return decision!;
}

test('3: three requests of which two are nearly done', () => {
  const lengths = [
    [887, 235],
    [897, 0],
    [1, 271],
  ] as const;
  const requests = lengths.map(([tokens, promptTokens], at) => ({
    requestId: `q${at}`,
    engineId: 'e1',
    tokens,
    promptTokens,
  }));
  expect(worstCase(requests, 1000)).toBe(2600);
  expect(decided(requests, 1000)).toMatchObject({ type: 'gpus.release', reason: { projectedTokens: 2600 } });
  const small = cluster(2, 2599);
  expect(decided(requests, 1000, small)).toMatchObject({ type: 'scale-down.rejected' });
  expect(decided(requests, 1000, cluster(2, 2600))).toMatchObject({ type: 'gpus.release' });
});

test('3: without a history the projection is the worst case, to the token', () => {
  let seen = 0;
  fc.assert(
    fc.property(fc.nat({ max: 1e6 }), (seed) => {
      const random = randomFrom(seed * 7 + 3);
      const below = (n: number) => Math.floor(random() * n);
      const maxTokens = [40, 1000, 30_000, 16_777_216][below(4)]!;
      // Short ones, long ones, and some that are alike.
      const spread = [maxTokens, Math.ceil(maxTokens / 50), 3][below(3)]!;
      const from = below(2) === 0 ? maxTokens - spread : 0;
      const engines = cluster(2 + below(5), 1e12);
      const requests = Array.from({ length: below(60) }, (_, at) => ({
        requestId: `q${at}`,
        engineId: `e${below(engines.length)}`,
        tokens: below(5) === 0 ? below(maxTokens + 1) : Math.min(maxTokens, from + below(spread + 1)),
        promptTokens: below(400),
      }));
      const decision = decided(requests, maxTokens, engines);
      if (decision.type !== 'gpus.release') throw new Error(decision.type);
      const to = new Map(movesOf(decision).map((one) => [one.requestId, one.to]));
      const worst = decision.keep.map((engineId) =>
        worstCase(
          requests.filter((one) => (to.get(one.requestId) ?? one.engineId) === engineId),
          maxTokens,
        ),
      );
      seen += 1;
      expect(decision.reason.projectedTokens).toBe(Math.max(...worst));
      expect(decision.reason.engineId).toBe(decision.keep[worst.indexOf(Math.max(...worst))]);
    }),
    runs(300),
  );
  expect(seen).toBeGreaterThan(met(100));
});
