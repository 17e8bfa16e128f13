/** The laws of a policy, what an event costs it, and what no law knows: its own limit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { create, PolicyError } from 'rollflex';
import { checkConservation, checkCost, checkLaws, eventStreams } from 'rollflex/testing';
import { likely } from './likely.ts';
import { longestFirst } from './longest-first.ts';

const tested = { definition: longestFirst, arbitrary: likely };

// Small numbers in every setting, so that its limits are reached.
for (const config of [
  { promptsPerRound: 1, responsesPerPrompt: 1, inFlight: 1 },
  { promptsPerRound: 4, responsesPerPrompt: 2, inFlight: 3 },
  { promptsPerRound: 4, responsesPerPrompt: 2 },
]) {
  test(`keeps the laws with ${JSON.stringify(config)}`, () => {
    checkLaws(tested, { config, runs: 20, events: 60, seed: 2 });
  });
}

// The laws compare a policy with its own ledgers, this one with the accounts of a host that has bad days.
test('loses nothing, does nothing twice, and trains each round on as much as it says', () => {
  checkConservation(tested, { config: { promptsPerRound: 3, responsesPerPrompt: 2, inFlight: 4 }, runs: 20, seed: 1 });
});

// checkLaws does not check law 10: it knows no events that bring thousands of requests into flight.
test('an event costs no more with ten times as many requests in flight', () => {
  const config = { promptsPerRound: 10_000, responsesPerPrompt: 1, inFlight: 1000 };
  checkCost(tested, config, (n) => ({
    build: [
      { type: 'round.opened', at: 0, roundId: 'r', kind: 'long', weightVersion: 1, prompts: [] },
      ...Array.from({ length: n }, (_, index) => {
        const prompts = [{ promptId: `p${index}`, expectedTokens: 1 + ((index * 37) % 1000) }];
        return { type: 'prompts.supplied', at: 0, roundId: 'r', prompts };
      }),
    ],
    probes: [
      { type: 'response.completed', at: 1, requestId: 'p0#0', tokens: 5 },
      { type: 'prompts.supplied', at: 2, roundId: 'r', prompts: [{ promptId: 'one more', expectedTokens: 500 }] },
    ],
  }));
});

test('never has more requests in flight than it may', () => {
  const config = { promptsPerRound: 3, responsesPerPrompt: 4, inFlight: 3 };
  fc.assert(
    fc.property(eventStreams(tested, config), (events) => {
      const policy = create(longestFirst, config);
      const inFlight = new Set<string>();
      for (const event of events) {
        try {
          const decisions = policy.send(event);
          if (event.type === 'response.completed' || event.type === 'request.aborted') inFlight.delete(event.requestId);
          for (const one of decisions) if (one.type === 'request.launch') inFlight.add(one.requestId);
        } catch (error) {
          if (!(error instanceof PolicyError)) throw error;
        }
        assert.ok(inFlight.size <= config.inFlight, `${inFlight.size} in flight`);
      }
    }),
    { numRuns: 50, seed: 1 },
  );
});
