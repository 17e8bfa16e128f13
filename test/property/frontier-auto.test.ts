/** The invariants of `auto`, the width of frontier-group-dispatch, by their numbers in its README. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runRounds } from '../../bench/frontier/loop.ts';
import { paperCases } from '../../bench/frontier/work.ts';
import { create } from '../../src/core/machine/start.ts';
import { frontierGroupDispatch } from '../../src/policies/frontier-group-dispatch/index.ts';
import { newPace, type Pace, stepCost } from '../../src/policies/frontier-group-dispatch/pace.ts';
import type { SavedFrontier } from '../../src/policies/frontier-group-dispatch/state.ts';
import { planWidth } from '../../src/policies/frontier-group-dispatch/width.ts';
import { runs } from '../support/basics/runs.ts';

test('8: costs of a token that are a plane of requests and context are found out, whatever they are', () => {
  const costs = fc.record({
    base: fc.double({ min: 0.002, max: 0.05, noNaN: true }),
    slope: fc.double({ min: 0, max: 2e-4, noNaN: true }),
    contextSlope: fc.double({ min: 0, max: 2e-7, noNaN: true }),
    width: fc.integer({ min: 4, max: 12 }),
    tape: fc.array(fc.integer({ min: 20, max: 3000 }), { minLength: 40, maxLength: 120 }),
  });
  const run = ({ base, slope, contextSlope, width, tape }: typeof costs extends fc.Arbitrary<infer T> ? T : never) => {
    const policy = create(frontierGroupDispatch, { responsesPerPrompt: 1, width }, { validate: false });
    const running = new Map<string, { started: number; tokens: number }>();
    let [at, clock] = [0, 0];
    const admitted = (decisions: ReturnType<typeof policy.send>): void => {
      for (const one of decisions) {
        if (one.type !== 'request.admit') continue;
        running.set(one.requestId, { started: clock, tokens: tape[Number(one.promptId)]! });
      }
    };
    for (let group = 0; group < tape.length; group += 1) {
      const request = { requestId: `${group}/0#0`, promptId: `${group}`, roundId: 'r', index: 0 };
      admitted(policy.send({ type: 'request.arrived', at, ...request }));
    }
    while (running.size > 0) {
      const [requestId, next] = [...running].reduce((one, other) =>
        other[1].started + other[1].tokens < one[1].started + one[1].tokens ? other : one,
      );
      // Tokens until it is done, each a step of the engine.
      const steps = next.started + next.tokens - clock;
      const context =
        [...running.values()].reduce((sum, one) => sum + clock - one.started, 0) + (running.size * steps) / 2;
      at += steps * (base + slope * running.size + contextSlope * context);
      clock += steps;
      running.delete(requestId);
      admitted(policy.send({ type: 'response.completed', at, requestId, tokens: next.tokens }));
    }
    const { fit } = (policy.snapshot().state as SavedFrontier).pace;
    const found = stepCost(fit)!;
    const mean = fit.seconds / fit.weight;
    const [n, c] = [fit.n / fit.weight, fit.c / fit.weight];
    expect(Math.abs(found.base - base)).toBeLessThan(0.02 * mean);
    expect(Math.abs(found.slope - slope) * n).toBeLessThan(0.02 * mean);
    expect(Math.abs(found.contextSlope - contextSlope) * c).toBeLessThan(0.02 * mean);
  };
  fc.assert(fc.property(costs, run), runs(100));
});

/** What is known of an engine and a trainer, with so many groups of K responses. */
const paces = (): fc.Arbitrary<Pace> =>
  fc
    .record({
      lengths: fc.array(fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 16 }), {
        minLength: 4,
        maxLength: 60,
      }),
      seconds: fc.double({ min: 1e-4, max: 0.1, noNaN: true }),
      trainSeconds: fc.double({ min: 0, max: 100, noNaN: true }),
    })
    .map(({ lengths, seconds, trainSeconds }) => {
      const pace = newPace(4);
      Object.assign(pace.fit, { weight: 1, n: 10, nn: 110, seconds, nSeconds: 10.5 * seconds, fastest: seconds });
      return Object.assign(pace, {
        lengths,
        lengthCount: lengths.flat().length,
        trainer: { busySeconds: trainSeconds, groups: 1 },
      });
    });

test('9: a plan looks at no more for a round of a million groups than for one of ten thousand', () => {
  const looksOf = (pace: Pace, groups: number): { looks: number; width: number } => {
    let looks = 0;
    const lengths = new Proxy(pace.lengths, {
      get: (target, key) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) looks += 1;
        return Reflect.get(target, key);
      },
    });
    const plan = planWidth({ ...pace, lengths }, { groups, groupsPerUpdate: 2, narrowest: 1 })!;
    return { looks, width: plan.width };
  };
  const run = (pace: Pace) => {
    const large = looksOf(pace, 10_000);
    expect(looksOf(pace, 1_000_000).looks).toBe(large.looks);
    // At most two orders of 2,048 requests for each of the widths a factor of 1.15 apart.
    expect(large.looks).toBeLessThan(2 * 2048 * 60);
    expect(large.width).toBeGreaterThanOrEqual(1);
  };
  fc.assert(fc.property(paces(), run), runs(12));
});

test('10: a plan is between the least width that is allowed and all groups, and the same for the same measurements', () => {
  const run = (pace: Pace, groups: number, narrowest: number) => {
    const size = { groups, groupsPerUpdate: 2, narrowest };
    const plan = planWidth(pace, size)!;
    expect(plan.width).toBeLessThanOrEqual(groups);
    expect(plan.width).toBeGreaterThanOrEqual(Math.min(groups, narrowest));
    expect(planWidth(structuredClone(pace), size)).toEqual(plan);
  };
  const sizes = fc.integer({ min: 1, max: 60 });
  fc.assert(fc.property(paces(), sizes, sizes, run), runs(100));
});

test('10: auto narrows to half at most from one round to the next, and is never wider than the round', () => {
  const { setting, round } = paperCases[2]!;
  const widths = runRounds(
    setting,
    'auto',
    [0, 1, 2, 3, 4].map((at) => round(32, 7, at)),
  ).map((one) => one.width);
  for (const [at, width] of widths.entries()) {
    if (at > 1) expect(width).toBeGreaterThanOrEqual(Math.floor(widths[at - 1]! / 2));
    expect(width).toBeLessThanOrEqual(32);
  }
});
