/**
 * Conservation over the whole of RollPacker, under arbitrary interleavings and trouble, against a host that knows only
 * what it sent and what it was told: every prompt ends once, every response is rewarded and trained at most once.
 */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { RollpackerInput } from '../../src/recipes/rollpacker/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { met, runs } from '../support/basics/runs.ts';
import { smallCluster } from '../support/examples/configs.ts';
import { RollpackerHost } from '../support/hosts/rollpacker.ts';

const cluster: RollpackerInput = {
  ...smallCluster,
  rewardKindByDomain: { code: 'sandbox' },
  rewardRetry: { infrastructure: 1 },
  maxResponseTokens: 200,
};
const off = { tailBatching: false, adaptiveTp: false, adaptiveTimeout: false, asyncReward: false };
const configs: Readonly<Record<string, RollpackerInput>> = {
  'everything on': cluster,
  'everything off': { ...cluster, ...off, streamTraining: false },
  'tail batching only': { ...cluster, ...off, tailBatching: true, streamTraining: false },
  'no adaptive TP': { ...cluster, adaptiveTp: false, startTp: { short: 1 }, scaleDownTrigger: 0.25 },
  'no tail batching': { ...cluster, tailBatching: false, reference: 'swap' },
  'rewards after the rollout': { ...cluster, asyncReward: false },
  'training after the rollout': { ...cluster, streamTraining: false },
  DAPO: { ...cluster, filter: 'zero-variance', maxInFlightPerEngine: 3, quotas: { code: 2, math: 1 } },
  'one-step off-policy pipeline': { ...cluster, allowOverlap: true },
  'one-step off-policy pipeline in which prompts run on': {
    ...cluster,
    allowOverlap: true,
    maxStaleness: 1,
    adaptiveTp: false,
  },
  'one-step off-policy pipeline that keeps what is unfinished': {
    ...cluster,
    allowOverlap: true,
    maxStaleness: 1,
    partialRollout: true,
  },
};

let events = 0;
let released = 0;
let rounds = 0;
let fetches = 0;

function run(config: RollpackerInput, tape: readonly number[], troubled: boolean): void {
  const choices = choicesFrom(tape);
  const host = new RollpackerHost(config, choices, 8 + choices.below(20));
  for (let index = 0; index < 250 && !host.isDone; index += 1) host.step(troubled);
  // With a host that plays along, it comes to its end.
  for (let index = 0; index < 3000 && !host.isDone; index += 1) host.step(false);
  if (!host.isDone) throw new Error(`no end: ${host.describe()}`);
  host.compare();
  events += host.sent;
  released += host.releasedIn.size;
  rounds += host.groups.rounds.size;
  fetches += host.trainer.fetches;
}

describe('rollpacker', () => {
  test.each(Object.entries(configs))('invariants 4, 6, 7 and 8 hold: %s', (_name, config) => {
    fc.assert(
      fc.property(tapes(), fc.integer({ min: 0, max: 4 }), (tape, calm) => run(config, tape, calm > 0)),
      runs(20),
    );
  });
});

afterAll(() => {
  // It does release GPUs and train on them while others roll out.
  expect(events).toBeGreaterThan(met(25_000));
  expect(rounds).toBeGreaterThan(met(1000));
  expect(released).toBeGreaterThan(met(200));
  expect(fetches).toBeGreaterThan(met(100));
});
