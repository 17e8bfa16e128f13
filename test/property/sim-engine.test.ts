import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CostModel, costModelSchema } from '../../src/sim/cost-model.ts';
import { DecodeEngine, type Outcome } from '../../src/sim/engine/decode-engine.ts';
import { type Input, runOracle } from '../support/engine-oracle.ts';

function run(cost: CostModel, inputs: readonly Input[]) {
  const engine = new DecodeEngine('e0', cost, { timeline: true });
  const outcomes: Outcome[] = [];
  for (const input of inputs) {
    outcomes.push(...engine.advanceTo(input.at));
    if (input.kind === 'add') engine.add(input.request, input.at);
    else engine.abort(input.requestId, input.at);
  }
  outcomes.push(...engine.advanceTo(Number.MAX_VALUE));
  return { outcomes, engine };
}

const costs = fc
  .record({
    memoryBoundSeconds: fc.double({ min: 0.001, max: 0.05, noNaN: true }),
    computeSecondsPerSequence: fc.double({ min: 0, max: 0.01, noNaN: true }),
    overheadSeconds: fc.double({ min: 0, max: 0.01, noNaN: true }),
    secondsPerSequence: fc.double({ min: 0, max: 0.001, noNaN: true }),
    secondsPerContextToken: fc.double({ min: 0, max: 1e-4, noNaN: true }),
    prefillSecondsPerToken: fc.double({ min: 0, max: 1e-3, noNaN: true }),
    kvCapacityTokens: fc.integer({ min: 120, max: 400 }),
    maxRunningSequences: fc.integer({ min: 1, max: 12 }),
    watermark: fc.constantFrom(0, 0.01, 0.1),
  })
  .map((cost) => costModelSchema.parse(cost));

const inputs = fc
  .array(
    fc.record({
      at: fc.double({ min: 0, max: 2, noNaN: true }),
      promptTokens: fc.integer({ min: 1, max: 40 }),
      responseTokens: fc.integer({ min: 1, max: 80 }),
      resumed: fc.boolean(),
      abortAfter: fc.option(fc.double({ min: 0, max: 5, noNaN: true }), { nil: undefined }),
      batch: fc.integer({ min: 1, max: 8 }),
    }),
    { minLength: 1, maxLength: 16 },
  )
  .map((list): Input[] =>
    list
      .flatMap(({ at, promptTokens, responseTokens, resumed, abortAfter, batch }, index): Input[] =>
        Array.from({ length: batch }, (_, copy): Input[] => {
          const requestId = `q${index}-${copy}`;
          const generatedTokens = resumed ? Math.floor(responseTokens / 2) : 0;
          const request = { requestId, promptTokens, responseTokens, generatedTokens };
          const add: Input = { at, kind: 'add', request };
          return abortAfter === undefined ? [add] : [add, { at: at + abortAfter, kind: 'abort', requestId }];
        }).flat(),
      )
      .sort((a, b) => a.at - b.at),
  );

const near = (got: number, want: number) =>
  expect(Math.abs(got - want)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(want)));

function compare(cost: CostModel, list: readonly Input[], oracleCost = cost): void {
  const { outcomes, engine } = run(cost, list);
  const oracle = runOracle(oracleCost, list);
  const plain = (all: readonly Outcome[]) => all.map(({ requestId, kind, tokens }) => [requestId, kind, tokens]);
  expect(plain(outcomes)).toEqual(plain(oracle.outcomes));
  outcomes.forEach((outcome, index) => {
    near(outcome.at, oracle.outcomes[index]!.at);
  });
  expect(engine.preemptions).toBe(oracle.preemptions);
  expect(engine.decodeSteps).toBe(oracle.steps);
  near(engine.busySeconds, oracle.busySeconds);
  near(
    engine.timeline.reduce((sum, one) => sum + one.endSeconds - one.startSeconds, 0),
    oracle.busySeconds,
  );
}

describe('the decode engine', () => {
  test('equals the step-by-step oracle to 1e-9', () => {
    let preempted = 0;
    fc.assert(
      fc.property(costs, inputs, (cost, list) => {
        compare(cost, list);
        preempted += runOracle(cost, list).preemptions;
      }),
      { numRuns: 1500 },
    );
    // The cache is small on purpose: the property must have met preemption often.
    expect(preempted).toBeGreaterThan(1000);
  });

  test('the comparison can fail', () => {
    const cost = costModelSchema.parse({
      memoryBoundSeconds: 0.01,
      computeSecondsPerSequence: 0,
      overheadSeconds: 0,
      secondsPerSequence: 0,
      secondsPerContextToken: 1e-5,
      prefillSecondsPerToken: 0,
      kvCapacityTokens: 1000,
    });
    const request = { requestId: 'a', promptTokens: 10, responseTokens: 20 };
    const off = { ...cost, secondsPerContextToken: 1.00001e-5 };
    expect(() => compare(cost, [{ at: 0, kind: 'add', request }], off)).toThrow();
  });

  test('a request that can never fit is refused', () => {
    const cost = costModelSchema.parse({
      memoryBoundSeconds: 0.01,
      computeSecondsPerSequence: 0,
      overheadSeconds: 0,
      secondsPerSequence: 0,
      secondsPerContextToken: 0,
      prefillSecondsPerToken: 0,
      kvCapacityTokens: 100,
    });
    const engine = new DecodeEngine('e0', cost);
    expect(() => engine.add({ requestId: 'a', promptTokens: 50, responseTokens: 51 }, 0)).toThrow(
      expect.objectContaining({ code: 'infeasible', path: 'a' }),
    );
    engine.add({ requestId: 'b', promptTokens: 50, responseTokens: 50 }, 0);
    expect(engine.lose(0.055)).toEqual([{ requestId: 'b', tokens: 5 }]);
    expect(engine.nextEventAt()).toBe(Number.POSITIVE_INFINITY);
  });
});
