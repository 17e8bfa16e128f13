/** The numbers of a decision of gpu-scale-down, against a projection that looks at one request after the other. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { create, gpuScaleDown } from '../../src/index.ts';
import { deviationsOf, LengthHistory } from '../../src/policies/gpu-scale-down/projection.ts';
import type { RunningRequest } from '../../src/schemas/index.ts';
import { met, runs } from '../support/basics/runs.ts';
import { movesOf, open, randomFrom, report, untilQuery } from '../support/oracles/scale-down.ts';
import { Projection } from '../support/oracles/scale-down-projection.ts';

const maxResponseTokens = 30;

/** Requests of even lengths, so that those of one group are equally long, and engines of one GPU with room for most. */
function scene(seed: number) {
  const random = randomFrom(seed * 6007 + 5);
  const below = (n: number) => Math.floor(random() * n);
  const engines = Array.from({ length: 2 + below(6) }, (_, index) => ({
    engineId: `e${index}`,
    serverId: `s${index}`,
    gpuIds: [`g${index}`],
    kvCapacityTokens: 20 + below(800),
  }));
  const requests = Array.from({ length: below(50) }, (_, index): RunningRequest => {
    const tokens = 2 * below(1 + maxResponseTokens / 2);
    return { requestId: `q${index}`, engineId: `e${below(engines.length)}`, tokens, promptTokens: below(12) };
  });
  const history = Array.from({ length: below(3) * below(60) }, () => 1 + below(maxResponseTokens));
  const drained = engines.map((one) => one.engineId).filter(() => random() < 0.1);
  return { engines, requests, history, drained, quantile: 0.5 + 0.49 * random() };
}

/** The decision about it, and the projection that knows the same. */
function decided(seed: number) {
  const { engines, requests, history, drained, quantile } = scene(seed);
  const policy = create(gpuScaleDown, {
    promptsPerRound: 10,
    responsesPerPrompt: 2,
    maxResponseTokens,
    engines,
    quantile,
  });
  open(policy, 'h');
  const lengths = new LengthHistory(maxResponseTokens);
  for (const [index, tokens] of history.entries()) {
    policy.send({ type: 'response.completed', at: 0, requestId: `h${index}`, tokens });
    lengths.add(tokens);
  }
  lengths.close(0.9);
  for (const engineId of drained) policy.send({ type: 'engine.drained', at: 0, engineId });
  open(policy, 'r');
  const [decision] = report(policy, untilQuery(policy), requests);
  const projection = new Projection(lengths.curve(), maxResponseTokens, requests);
  const capacityOf = new Map(engines.map((one) => [one.engineId, one.kvCapacityTokens]));
  return { policy, decision: decision!, projection, requests, capacityOf, drained, quantile };
}

/** A number of tokens as a decision has it: rounded up. */
const isRoundedUp = (tokens: number, from: number) => tokens >= from - 1e-6 && tokens < from + 1 + 1e-6;

test('3: the projection is that of the requests one by one, on the engines where they are after the migration', () => {
  const seen = { releases: 0, together: 0 };
  fc.assert(
    fc.property(fc.nat({ max: 1e6 }), (seed) => {
      const { policy, decision, projection, requests, capacityOf, quantile } = decided(seed);
      if (decision.type === 'scale-down.rejected') {
        if (decision.reason.code !== 'kv_cache_together') return;
        seen.together += 1;
        const { expectedTokens, capacityTokens } = decision.reason;
        expect(expectedTokens).toSatisfy((one: number) => isRoundedUp(one, projection.expected(requests)));
        expect(expectedTokens).toBeGreaterThan(capacityTokens);
        return;
      }
      if (decision.type !== 'gpus.release') throw new Error(decision.type);
      seen.releases += 1;
      const to = new Map(movesOf(decision).map((one) => [one.requestId, one.to]));
      const after = decision.keep.map((engineId) =>
        requests.filter((one) => (to.get(one.requestId) ?? one.engineId) === engineId),
      );
      const capacities = decision.keep.map((engineId) => capacityOf.get(engineId)!);
      // Each engine has its share of the chance to go over, at any of what counts as six independent times.
      const deviations = deviationsOf((1 - quantile) / (decision.keep.length * 6));
      const peaks = after.map((all) => projection.peak(all, deviations));
      const shares = peaks.map((peak, at) => peak / capacities[at]!);
      const { engineId, projectedTokens, capacityTokens } = decision.reason;
      const fullest = decision.keep.indexOf(engineId);
      expect(projectedTokens).toSatisfy((one: number) => isRoundedUp(one, peaks[fullest]!), `${peaks[fullest]}`);
      expect(projectedTokens / capacityTokens).toBeGreaterThanOrEqual(Math.max(...shares) - 1e-9);
      const { free } = (policy.snapshot().state as { release: { free: number[] } }).release;
      for (const [at, name] of decision.keep.entries()) {
        const used = capacities[at]! - free[Number(name.slice(1))]!;
        expect(used).toSatisfy((one: number) => isRoundedUp(one, peaks[at]!), `${peaks[at]}`);
      }
    }),
    runs(400),
  );
  expect(seen.releases).toBeGreaterThan(met(10));
  expect(seen.together).toBeGreaterThan(met(5));
});

test('requests go the largest first, each to the engine with most free', () => {
  let moved = 0;
  fc.assert(
    fc.property(fc.nat({ max: 1e6 }), (seed) => {
      const { decision, requests, capacityOf, drained } = decided(seed);
      if (decision.type !== 'gpus.release') return;
      const weight = (one: RunningRequest) => one.promptTokens + one.tokens;
      const sum = (all: readonly RunningRequest[]) => all.reduce((tokens, one) => tokens + weight(one), 0);
      const at = (engineId: string) => requests.filter((one) => one.engineId === engineId);
      const targets = decision.keep.filter((engineId) => !drained.includes(engineId));
      const free = targets.map((engineId) => capacityOf.get(engineId)! - sum(at(engineId)));
      const leaving = requests.filter((one) => !decision.keep.includes(one.engineId));
      const heaviest = [...leaving].sort((a, b) => weight(b) - weight(a));
      const expected = heaviest.map((one): [string, string] => {
        const most = free.indexOf(Math.max(...free));
        free[most]! -= weight(one);
        return [one.requestId, targets[most]!];
      });
      moved += expected.length;
      const actual = movesOf(decision).map((one): [string, string] => [one.requestId, one.to]);
      expect(actual.sort()).toEqual(expected.sort());
    }),
    runs(400),
  );
  expect(moved).toBeGreaterThan(met(100));
});
