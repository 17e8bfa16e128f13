import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DecodeEngine, type LostRequest, type Outcome } from '../../src/sim/engine/decode-engine.ts';
import { type CostModel, costModelSchema } from '../../src/sim/models/cost-model.ts';
import type { DraftSettings } from '../../src/sim/models/draft-settings.ts';
import { met as atLeast, times } from '../support/basics/runs.ts';
import { type Counters, type EngineRun, type Input, runOracle } from '../support/simulator/engine-oracle.ts';
import { freeCost } from '../support/simulator/free-cost.ts';

const runs = times(1000);

/** Inputs, each with what else the host asks the engine at that moment. */
interface Script {
  readonly inputs: readonly Input[];
  readonly asks: readonly ('nothing' | 'next' | 'advance' | 'both' | 'look')[];
  readonly scheduling?: 'fcfs' | 'priority';
}

function runEngine(
  cost: CostModel,
  { inputs, asks, scheduling = 'fcfs' }: Script,
): EngineRun & { engine: DecodeEngine } {
  const engine = new DecodeEngine('e0', cost, { timeline: true, scheduling });
  const outcomes: Outcome[] = [];
  const losses: LostRequest[][] = [];
  inputs.forEach((input, index) => {
    const ask = asks[index % asks.length];
    if (ask === 'look') look(engine, cost, input.at);
    if (ask === 'advance' || ask === 'both') outcomes.push(...engine.advanceTo(input.at));
    if (input.kind === 'add') engine.add(input.request, input.at);
    else if (input.kind === 'abort') engine.abort(input.requestId, input.at);
    else losses.push(engine.lose(input.at));
    if (ask === 'next' || ask === 'both') engine.nextEventAt();
  });
  for (let at = engine.nextEventAt(); at < Number.POSITIVE_INFINITY; at = engine.nextEventAt()) {
    outcomes.push(...engine.advanceTo(at));
  }
  outcomes.push(...engine.advanceTo(Number.MAX_VALUE));
  const { busySeconds, prefillSeconds, decodeSeconds, decodeSteps, ...more } = engine;
  const { preemptions, recomputedTokens, generatedTokens } = more;
  const counters: Counters = {
    ...{ busySeconds, prefillSeconds, decodeSeconds, decodeSteps },
    ...{ preemptions, recomputedTokens, generatedTokens },
  };
  return { outcomes, losses, counters, engine };
}

/** What can be seen in the middle of a stretch makes sense together. */
function look(engine: DecodeEngine, cost: CostModel, at: number): void {
  const { running, waiting, contextTokens } = engine.load(at);
  expect(running + waiting).toBeGreaterThanOrEqual(0);
  expect(running).toBeLessThanOrEqual(cost.maxRunningSequences);
  expect(contextTokens).toBeLessThanOrEqual(cost.kvCapacityTokens);
  expect(engine.tokensAt(at)('none')).toBeUndefined();
}

const seconds = (max: number) => fc.double({ min: 0, max, noNaN: true });

/** Costs as they come. */
const anyCosts = fc.record({
  memoryBoundSeconds: fc.double({ min: 0.001, max: 0.05, noNaN: true }),
  computeSecondsPerSequence: seconds(0.01),
  overheadSeconds: seconds(0.01),
  secondsPerSequence: seconds(0.001),
  secondsPerContextToken: seconds(1e-4),
  prefillSecondsPerToken: fc.oneof(fc.constant(0), seconds(1e-3)),
  prefillSecondsPerSquaredToken: fc.oneof(fc.constant(0), seconds(1e-5)),
  prefillInterference: fc.constantFrom(0, 0.5, 1),
  expertSeconds: fc.oneof(fc.constant(0), seconds(0.05)),
  expertMissShare: seconds(1),
});

/**
 * Costs and moments in whole units and powers of two of them: sums are exact, so that inputs fall on boundaries and ties
 * are true ties.
 */
const unit = 2 ** -6;
const units = (least: number, most: number) => fc.integer({ min: least, max: most }).map((n) => n * unit);
const unitMoment = (most: number) => fc.oneof(units(0, most / unit), units(0, 5));
const unitCosts = fc.record({
  memoryBoundSeconds: units(1, 4),
  computeSecondsPerSequence: units(0, 1),
  overheadSeconds: units(0, 2),
  secondsPerSequence: fc.constantFrom(0, unit / 8),
  secondsPerContextToken: fc.constantFrom(0, unit / 64),
  prefillSecondsPerToken: fc.constantFrom(0, unit / 8, unit),
  prefillSecondsPerSquaredToken: fc.constantFrom(0, unit / 8),
  prefillInterference: fc.constantFrom(0, 0.5, 1),
  expertSeconds: fc.constantFrom(0, unit),
  expertMissShare: fc.constantFrom<number>(0, 1),
});

const limits = fc.record({
  kvCapacityTokens: fc.integer({ min: 120, max: 400 }),
  maxRunningSequences: fc.integer({ min: 1, max: 12 }),
  watermark: fc.constantFrom(0, 0.01, 0.1),
});

function scripts(moment: (most: number) => fc.Arbitrary<number>): fc.Arbitrary<Script> {
  const group = fc.record({
    at: moment(2),
    promptTokens: fc.integer({ min: 0, max: 40 }),
    responseTokens: fc.integer({ min: 1, max: 80 }),
    resumed: fc.double({ min: 0, max: 0.999, noNaN: true }).map((share) => (share < 0.5 ? 0 : share)),
    abortAfter: fc.option(moment(5), { nil: undefined }),
    copies: fc.integer({ min: 1, max: 8 }),
    priority: fc.constantFrom(0, 0, 1, -1),
    promptKey: fc.constantFrom(undefined, 'a', 'b'),
  });
  const losses = fc.array(moment(8), { maxLength: 2 });
  const asks = fc.array(fc.constantFrom('nothing', 'next', 'advance', 'both', 'look'), { minLength: 1, maxLength: 7 });
  const inputs = fc.tuple(fc.array(group, { minLength: 1, maxLength: 16 }), losses).map(([groups, lost]): Input[] => {
    const requests = groups.flatMap(({ at, abortAfter, copies, resumed, promptKey, ...tokens }, index): Input[] =>
      Array.from({ length: copies }, (_, copy): Input[] => {
        const requestId = `q${index}-${copy}`;
        const key = promptKey === undefined ? {} : { promptKey: `${promptKey} ${tokens.promptTokens}` };
        const request = { requestId, ...key, ...tokens, generatedTokens: Math.floor(tokens.responseTokens * resumed) };
        const add: Input = { at, kind: 'add', request };
        return abortAfter === undefined ? [add] : [add, { at: at + abortAfter, kind: 'abort', requestId }];
      }).flat(),
    );
    return [...requests, ...lost.map((at): Input => ({ at, kind: 'lose' }))].sort((a, b) => a.at - b.at);
  });
  return fc.record({
    inputs,
    asks,
    scheduling: fc.constantFrom('fcfs' as const, 'fcfs' as const, 'priority' as const),
  });
}

const near = (got: number, want: number) =>
  expect(Math.abs(got - want)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(want)));

function compare(cost: CostModel, script: Script, oracleCost = cost): EngineRun {
  const { outcomes, losses, counters, engine } = runEngine(cost, script);
  const oracle = runOracle(oracleCost, script.inputs, script.scheduling);
  const plain = (all: readonly Outcome[]) => all.map(({ requestId, kind, tokens }) => [requestId, kind, tokens]);
  expect(plain(outcomes)).toEqual(plain(oracle.outcomes));
  expect(losses).toEqual(oracle.losses);
  for (const [index, { at }] of outcomes.entries()) near(at, oracle.outcomes[index]!.at);
  for (const name of Object.keys(oracle.counters) as (keyof Counters)[]) near(counters[name], oracle.counters[name]);
  const drawn = engine.timeline.reduce((sum, one) => sum + one.endSeconds - one.startSeconds, 0);
  near(drawn, oracle.counters.busySeconds);
  expect(engine.size).toBe(0);
  return oracle;
}

const byBatch = [
  { sequences: 1, tokens: 4 },
  { sequences: 3, tokens: 1 },
  { sequences: 5, tokens: 0 },
];
/** Drafts of a given length, and those that the planner chooses, with beliefs that may be wrong. */
const drafts = fc
  .record({
    tokens: fc.constantFrom<DraftSettings['tokens']>('planned', 'planned', 0, 1, 2, 5, byBatch),
    maxTokens: fc.constantFrom(1, 8),
    acceptance: fc.constantFrom(0, 0.5, 0.61803, 0.9, 1),
    believed: fc.record({ acceptance: seconds(1), tokens: fc.constantFrom(1, 50) }),
    stepSeconds: seconds(0.002),
    passSeconds: seconds(0.002),
    secondsPerToken: seconds(0.0001),
  })
  .map((one): CostModel['drafts'] => one);

/** Compares many runs and tells what they met. */
function meets(
  costs: typeof anyCosts,
  moment: (most: number) => fc.Arbitrary<number>,
  numRuns: number,
  drafted: fc.Arbitrary<CostModel['drafts']> = fc.constant(undefined),
) {
  const met = { preemptions: 0, completed: 0, aborted: 0, lost: 0 };
  const cost = fc
    .tuple(costs, limits, drafted)
    .map(([times, room, drafts]) => costModelSchema.parse({ ...times, ...room, drafts }));
  const property = fc.property(cost, scripts(moment), (one, script) => {
    const { outcomes, losses, counters } = compare(one, script);
    met.preemptions += counters.preemptions;
    for (const { kind } of outcomes) met[kind] += 1;
    met.lost += losses.flat().length;
  });
  fc.assert(property, { numRuns });
  return met;
}

describe('the decode engine', () => {
  test('equals the step-by-step oracle to 1e-9', () => {
    // Odd moments: where one falls on a boundary, rounding would decide which comes first.
    const moment = (most: number) => seconds(most).map((at) => at * 0.987654321012);
    const met = meets(anyCosts, moment, runs);
    // The cache is small on purpose: the property must have met everything often.
    for (const count of Object.values(met)) expect(count).toBeGreaterThan(atLeast(300));
  });

  test('equals the step-by-step oracle with drafts', () => {
    const moment = (most: number) => seconds(most).map((at) => at * 0.987654321012);
    const met = meets(anyCosts, moment, runs, drafts);
    for (const count of Object.values(met)) expect(count).toBeGreaterThan(atLeast(200));
  });

  test('is the same to the byte without drafts and with drafts of no token', () => {
    const none = { tokens: 0, acceptance: 0.7, passSeconds: 0.001 };
    const cost = fc.tuple(anyCosts, limits).map(([times, room]) => ({ ...times, ...room }));
    fc.assert(
      fc.property(cost, scripts(seconds), (one, script) => {
        const { engine: _with, ...drafted } = runEngine(costModelSchema.parse({ ...one, drafts: none }), script);
        const { engine: _without, ...plain } = runEngine(costModelSchema.parse(one), script);
        expect(JSON.stringify(drafted)).toBe(JSON.stringify(plain));
      }),
      { numRuns: times(300) },
    );
  });

  test('equals the oracle when inputs fall exactly on boundaries and on each other', () => {
    const met = meets(unitCosts, unitMoment, runs);
    for (const count of Object.values(met)) expect(count).toBeGreaterThan(atLeast(300));
  });

  test('the comparison can fail', () => {
    const cost = costModelSchema.parse({
      memoryBoundSeconds: 0.01,
      ...freeCost,
      secondsPerContextToken: 1e-5,
      prefillSecondsPerToken: 1e-4,
      kvCapacityTokens: 100,
    });
    const request = (requestId: string) => ({ requestId, promptTokens: 10, responseTokens: 70 });
    const adds = ['a', 'b'].map((id): Input => ({ at: 0, kind: 'add', request: request(id) }));
    const script: Script = { inputs: [...adds, { at: 9, kind: 'lose' }], asks: ['both'] };
    expect(compare(cost, script).counters.preemptions).toBe(1);
    const wrong: Partial<CostModel>[] = [
      { secondsPerContextToken: 1.00001e-5 },
      { prefillSecondsPerToken: 1.00001e-4 },
      { overheadSeconds: 1e-7 },
      { kvCapacityTokens: 120 },
      { maxRunningSequences: 1 },
    ];
    for (const off of wrong) expect(() => compare(cost, script, { ...cost, ...off }), JSON.stringify(off)).toThrow();
  });
});
