/** The engine of agentic rollouts: against the engine of all other simulations, and by what its cache may hold. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EngineTurn, TurnEngine, type TurnOutcome } from '../../src/sim/agentic/engine.ts';
import { DecodeEngine, type Outcome } from '../../src/sim/engine/decode-engine.ts';
import { type CostModel, costModelSchema } from '../../src/sim/models/cost-model.ts';
import { met as atLeast, runs } from '../support/basics/runs.ts';

const costs = fc
  .record({
    memoryBoundSeconds: fc.constantFrom(0.5, 1),
    computeSecondsPerSequence: fc.constantFrom(0, 0.25),
    overheadSeconds: fc.constantFrom(0, 0.125),
    secondsPerSequence: fc.constantFrom(0, 0.0625),
    secondsPerContextToken: fc.constantFrom(0, 0.001),
    prefillSecondsPerToken: fc.constantFrom(0, 0.03125),
    kvCapacityTokens: fc.integer({ min: 40, max: 120 }),
    maxRunningSequences: fc.constantFrom(2, 5, 256),
    watermark: fc.constantFrom(0, 0.05),
  })
  .map((cost): CostModel => costModelSchema.parse(cost));

const requests = fc.array(
  fc.record({
    at: fc.integer({ min: 0, max: 40 }),
    promptTokens: fc.integer({ min: 0, max: 25 }),
    responseTokens: fc.integer({ min: 1, max: 15 }),
  }),
  { minLength: 1, maxLength: 20 },
);

test('without shared contexts, and with chunks that are never full, it is the engine of all other simulations', () => {
  let preemptions = 0;
  fc.assert(
    fc.property(costs, requests, (cost, unordered) => {
      const given = [...unordered].sort((a, b) => a.at - b.at);
      const plain = new DecodeEngine('e', cost);
      const turns = new TurnEngine('e', cost, { chunkTokens: 1e9, prefixCache: false });
      const expected: Outcome[] = [];
      const got: TurnOutcome[] = [];
      given.forEach(({ at, promptTokens, responseTokens }, index) => {
        const requestId = `r${index}`;
        plain.add({ requestId, promptTokens, responseTokens }, at);
        const context = [{ key: requestId, tokens: promptTokens }];
        turns.addTurn({ requestId, context, generatedTokens: responseTokens }, at);
      });
      for (let at = plain.nextEventAt(); at < Infinity; at = plain.nextEventAt()) expected.push(...plain.advanceTo(at));
      for (let at = turns.nextEventAt(); at < Infinity; at = turns.nextEventAt()) got.push(...turns.advanceTo(at));
      expect(got.map(({ requestId }) => requestId)).toEqual(expected.map(({ requestId }) => requestId));
      got.forEach(({ at, cachedTokens }, index) => {
        expect(at).toBeCloseTo(expected[index]!.at, 9);
        expect(cachedTokens).toBe(0);
      });
      const { busySeconds, prefillSeconds, generatedTokens, decodeSteps } = plain;
      expect(turns.preemptions).toBe(plain.preemptions);
      expect(turns).toMatchObject({ generatedTokens, decodeSteps });
      expect(turns.busySeconds).toBeCloseTo(busySeconds, 9);
      expect(turns.prefillSeconds).toBeCloseTo(prefillSeconds, 9);
      preemptions += plain.preemptions;
    }),
    runs(500),
  );
  expect(preemptions).toBeGreaterThan(atLeast(100));
});

/** Programs of a few prompts in two environments; each has its next turn some time after the last. */
const programs = fc.array(
  fc.record({
    environment: fc.nat({ max: 1 }),
    prompt: fc.nat({ max: 3 }),
    startsAt: fc.integer({ min: 0, max: 20 }),
    turns: fc.array(
      fc.record({
        generated: fc.integer({ min: 1, max: 6 }),
        added: fc.integer({ min: 0, max: 5 }),
        wait: fc.integer({ min: 0, max: 9 }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  { minLength: 1, maxLength: 14 },
);

describe('with prefixes that programs share', () => {
  test('the cache never holds more than fits, nor gives what it did not hold, and every turn ends', () => {
    const met = { hits: 0, sharedHits: 0, preemptions: 0, losses: 0 };
    fc.assert(
      fc.property(
        costs,
        programs,
        fc.constantFrom(7, 16, 1e9),
        fc.option(fc.integer({ min: 5, max: 60 }), { nil: undefined }),
        (cost, given, chunkTokens, lostAt) => {
          const engine = new TurnEngine('e', cost, { chunkTokens, prefixCache: true });
          const states = given.map((one, index) => ({
            ...one,
            index,
            turn: 0,
            own: 0,
            generated: 0,
            dueAt: one.startsAt as number,
          }));
          const turnOf = (state: (typeof states)[number]): EngineTurn => ({
            requestId: `r${state.index}`,
            context: [
              { key: `environment ${state.environment}`, tokens: 5 },
              { key: `prompt ${state.environment} ${state.prompt}`, tokens: 3 + state.prompt },
              { key: `r${state.index}`, tokens: state.own },
            ],
            generatedTokens: state.turns[state.turn]!.generated,
          });
          let isLost = lostAt === undefined;
          let [contexts, found, ended] = [0, 0, 0];
          for (;;) {
            const due = states.reduce((least, one) => Math.min(least, one.dueAt), Infinity);
            const at = Math.min(due, engine.nextEventAt(), isLost ? Infinity : lostAt!);
            if (at === Infinity) break;
            for (const { requestId, cachedTokens } of engine.advanceTo(at)) {
              const state = states[Number(requestId.slice(1))]!;
              const context = 8 + state.prompt + state.own;
              expect(cachedTokens).toBeGreaterThanOrEqual(0);
              expect(cachedTokens).toBeLessThan(context);
              if (state.turn === 0 && cachedTokens > 0) met.sharedHits += 1;
              // What nobody has had cannot be cached: at most its prompt's on the first turn, and what it had on a later one.
              const known =
                state.turn === 0 ? 8 + state.prompt : 8 + state.prompt + state.own - state.turns[state.turn - 1]!.added;
              expect(cachedTokens).toBeLessThanOrEqual(known);
              const isAlone = given.filter((one) => one.environment === state.environment).length === 1;
              if (state.turn === 0 && isAlone) expect(cachedTokens).toBe(0);
              contexts += context;
              found += cachedTokens;
              ended += 1;
              const { generated, added, wait } = state.turns[state.turn]!;
              state.turn += 1;
              state.own += generated + added;
              state.dueAt = state.turn < state.turns.length ? at + wait : Infinity;
            }
            if (!isLost && at >= lostAt!) {
              isLost = true;
              for (const { requestId } of engine.lose(at)) states[Number(requestId.slice(1))]!.dueAt = at;
              expect([engine.size, engine.cache.pinnedTokens, engine.cache.cachedTokens]).toEqual([0, 0, 0]);
              met.losses += 1;
            }
            for (const state of states) {
              if (state.dueAt > at) continue;
              state.dueAt = Infinity;
              engine.addTurn(turnOf(state), at);
            }
            const { pinnedTokens, cachedTokens, nodes } = engine.cache;
            expect(pinnedTokens + cachedTokens).toBeLessThanOrEqual(cost.kvCapacityTokens);
            const unpinned = [...nodes].filter(({ pins }) => pins === 0);
            expect(unpinned.reduce((sum, { resident }) => sum + resident, 0)).toBe(cachedTokens);
            for (const node of nodes) expect(node.resident).toBeLessThanOrEqual(node.tokens);
          }
          const turns = given.reduce((sum, one) => sum + one.turns.length, 0);
          const tokens = given.reduce((sum, one) => sum + one.turns.reduce((all, turn) => all + turn.generated, 0), 0);
          expect(ended).toBe(turns);
          expect(engine.cache.pinnedTokens).toBe(0);
          expect(engine.prefilledTokens).toBeGreaterThanOrEqual(contexts - found);
          if (lostAt === undefined) expect(engine.generatedTokens).toBe(tokens);
          if (lostAt === undefined && engine.preemptions === 0) expect(engine.prefilledTokens).toBe(contexts - found);
          met.hits += found;
          met.preemptions += engine.preemptions;
        },
      ),
      runs(500),
    );
    for (const [name, least] of [
      ['hits', 1000],
      ['sharedHits', 400],
      ['preemptions', 100],
      ['losses', 100],
    ] as const)
      expect(met[name], name).toBeGreaterThan(atLeast(least));
  });
});
