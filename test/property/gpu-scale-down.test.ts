/** The invariants of gpu-scale-down, by their numbers in its README. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { create, gpuScaleDown } from '../../src/index.ts';
import { arbitrary } from '../../src/policies/gpu-scale-down/arbitrary.ts';
import type { GpuScaleDownDecision, GpuScaleDownEvent } from '../../src/policies/gpu-scale-down/index.ts';
import { tapes } from '../../src/testing/index.ts';
import { playEvents } from '../support/basics/play-events.ts';
import { met, runs, times } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import {
  bruteForce,
  cluster,
  type Engines,
  lengthLaws,
  movesOf,
  open,
  type Release,
  randomFrom,
  report,
  simulatedRound,
  untilQuery,
} from '../support/oracles/scale-down.ts';

interface Scene {
  readonly engines: { engineId: string; serverId: string; gpuIds: string[]; kvCapacityTokens: number }[];
  readonly groups: string[][];
  readonly requests: { requestId: string; engineId: string; tokens: number; promptTokens: number }[];
  readonly history: number[];
}

/** A random small cluster with groups in training, requests in flight and lengths of an earlier round. */
function scene(seed: number, capacity: number): Scene {
  const random = randomFrom(seed * 7919 + 13);
  const below = (n: number) => Math.floor(random() * n);
  const count = 2 + below(8);
  let gpu = 0;
  const engines = Array.from({ length: count }, (_, index) => ({
    engineId: `e${(index * 7) % count === index ? index : index + 20}`,
    serverId: `s${below(1 + count / 2)}`,
    gpuIds: Array.from({ length: random() < 0.7 ? 1 : 2 }, () => `g${gpu++}`),
    kvCapacityTokens: 1 + below(capacity),
  }));
  const groups = Array.from({ length: below(4) }, () => Array.from({ length: 1 + below(3) }, () => `g${below(gpu)}`));
  const requests = Array.from({ length: below(40) }, (_, index) => ({
    requestId: `q${index}`,
    engineId: engines[below(count)]!.engineId,
    tokens: below(120),
    promptTokens: below(30),
  }));
  return { engines, groups, requests, history: Array.from({ length: below(200) }, () => below(120)) };
}

/** @param first - the engines at the beginning, if those of the scene come later by an event */
function decided({ engines, groups, requests, history }: Scene, first?: Engines) {
  const policy = create(gpuScaleDown, {
    promptsPerRound: 10,
    responsesPerPrompt: 2,
    maxResponseTokens: 100,
    engines: first ?? engines,
    communicationGroups: groups,
  });
  open(policy, 'h');
  for (const [index, tokens] of history.entries()) {
    policy.send({ type: 'response.completed', at: 0, requestId: `h${index}`, tokens });
  }
  if (first !== undefined && history.length % 2 === 0) policy.send({ type: 'engines.placed', at: 0, engines });
  open(policy, 'r');
  if (first !== undefined && history.length % 2 === 1) policy.send({ type: 'engines.placed', at: 0, engines });
  const [decision] = report(policy, untilQuery(policy), requests);
  return { policy, decision: decision! };
}

const seeds = fc.nat({ max: 1e6 });
const kvOf = ({ requests }: Scene) => {
  const sums = new Map<string, number>();
  for (const { engineId, tokens, promptTokens } of requests) {
    sums.set(engineId, (sums.get(engineId) ?? 0) + tokens + promptTokens);
  }
  return (engineId: string) => sums.get(engineId) ?? 0;
};

describe('one decision', () => {
  test('1, 2: half of the GPUs, no group split, and the best choice of all that are allowed', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const given = scene(seed, 1e9);
        const { decision } = decided({
          ...given,
          engines: given.engines.map((one) => ({ ...one, kvCapacityTokens: 1e9 })),
        });
        const best = bruteForce(given.engines, given.groups, kvOf(given));
        if (best === undefined) expect(decision).toMatchObject({ reason: { code: 'no_partition' } });
        else expect((decision as Release).release.map((one) => one.engineId)).toEqual(best);
      }),
      runs(400),
    );
  });

  test('3: with every release the projected peak of each engine that remains is within its capacity', () => {
    let releases = 0;
    fc.assert(
      fc.property(seeds, (seed) => {
        const given = scene(seed, 6000);
        const { policy, decision } = decided(given);
        if (decision.type !== 'gpus.release') return;
        releases += 1;
        expect(decision.reason.projectedTokens).toBeLessThanOrEqual(decision.reason.capacityTokens);
        const { free } = (policy.snapshot().state as { release: { free: number[] } }).release;
        expect(Math.min(...free)).toBeGreaterThanOrEqual(0);
        // What is there now is no more than the projected peak.
        const to = new Map(movesOf(decision).map((one) => [one.requestId, one.to]));
        const moved = given.requests.map((one) => ({ ...one, engineId: to.get(one.requestId) ?? one.engineId }));
        const now = kvOf({ ...given, requests: moved });
        for (const { engineId, kvCapacityTokens } of given.engines) {
          if (decision.keep.includes(engineId)) expect(now(engineId)).toBeLessThanOrEqual(kvCapacityTokens);
        }
      }),
      runs(500),
    );
    expect(releases).toBeGreaterThan(met(50));
  });

  test('4: migrations are exactly the requests of released engines, each once, with its tokens, to one that remains', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const given = scene(seed, 1e6);
        const { decision } = decided(given);
        if (decision.type !== 'gpus.release') return;
        const out = new Set(decision.release.map((one) => one.engineId));
        const expected = given.requests.filter((one) => out.has(one.engineId));
        const byId = (a: { requestId: string }, b: { requestId: string }) => (a.requestId < b.requestId ? -1 : 1);
        expect(
          movesOf(decision)
            .map(({ to: _, ...one }) => one)
            .sort(byId),
        ).toEqual(
          expected.map(({ requestId, engineId, tokens }) => ({ requestId, from: engineId, tokens })).sort(byId),
        );
        expect(new Set(decision.migrations.map(({ from, to }) => `${from} ${to}`)).size).toBe(
          decision.migrations.length,
        );
        const keep = given.engines.map((one) => one.engineId).filter((id) => !out.has(id));
        expect([...decision.keep].sort()).toEqual([...keep].sort());
        for (const { to } of decision.migrations) expect(keep).toContain(to);
      }),
      runs(300),
    );
  });
});

test('10: engines that are placed decide like those of the configuration, and the lengths seen before count', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const given = scene(seed, 6000);
      const gpuIds = given.engines.flatMap((one) => one.gpuIds);
      const before = [{ engineId: 'e0', serverId: 's', gpuIds, kvCapacityTokens: 3 }];
      const { decision } = decided(given);
      expect(decided(given, []).decision).toEqual(decision);
      expect(decided(given, before).decision).toEqual(decision);
    }),
    runs(200),
  );
});

/** What hosts must be able to rely on over a whole run, from events and decisions alone. */
class Watch {
  round = '';
  readonly releasedIn = new Set<string>();
  openQuery = '';
  readonly reclaimed = new Set<string>();
  readonly released = new Set<string>();
  ended = new Set<string>();
  moving = new Map<string, string>();
  release = '';

  before(event: GpuScaleDownEvent): void {
    if (event.type === 'round.opened') this.round = event.roundId;
    if (event.type === 'request.abort' || event.type === 'request.aborted' || event.type === 'response.completed') {
      if (this.moving.get(event.requestId) === 'moving') this.moving.set(event.requestId, 'ended');
    }
    if (event.type === 'host.restarted') this.moving.clear();
  }

  after(event: GpuScaleDownEvent, decisions: readonly GpuScaleDownDecision[]): void {
    for (const decision of decisions) {
      if (decision.type === 'gpus.release') {
        // 5: none while one is under way, none after one has succeeded in the round.
        expect(this.releasedIn.has(decision.roundId)).toBe(false);
        this.release = decision.releaseId;
        this.moving = new Map(movesOf(decision).map((one) => [one.requestId, 'moving']));
      }
      if (decision.type === 'gpus.reclaim' && decision.reason.code !== 'asked_again') {
        // 8: each release is asked back once.
        expect(this.reclaimed.has(decision.releaseId)).toBe(false);
        this.reclaimed.add(decision.releaseId);
      }
    }
    const late = decisions.some((one) => one.type === 'scale-down.late');
    // With the GPUs back, the release is over, and its requests are forgotten.
    if (event.type === 'gpus.returned' && !late) this.moving.clear();
    if (event.type === 'gpus.released' && !late) {
      expect(this.reclaimed.has(event.releaseId!)).toBe(false);
      this.releasedIn.add(this.round);
    }
    if (event.type !== 'request.migrated' || event.releaseId !== this.release) return;
    // 6: what has ended stays ended.
    const was = this.moving.get(event.requestId);
    if (was === 'ended') expect(decisions).toMatchObject([{ type: 'migration.cancel', requestId: event.requestId }]);
    if (was !== undefined) this.moving.set(event.requestId, 'moved');
  }
}

function run(config: Record<string, unknown>, tape: readonly number[]): number {
  const watch = new Watch();
  playEvents(gpuScaleDown, arbitrary, { config, tape, steps: 150 }, (event, decisions) => {
    watch.before(event);
    watch.after(event, decisions);
  });
  return watch.releasedIn.size;
}

test.each(exampleConfigs['gpu-scale-down']!.map((config, index) => [index, config] as const))(
  '5, 6, 8: one scale-down a round, what has ended stays ended, every release is asked back once (configuration %s)',
  (_index, config) => {
    let released = 0;
    const property = fc.property(tapes(), (tape) => {
      released += run(config, tape);
    });
    fc.assert(property, runs(120));
    expect(released).toBeGreaterThan(met(20));
  },
);

/** Each law at a few rounds finds more than half of the laws at many. */
const roundsOfALaw = Math.max(100, times(400));

const roundsOf = new Map<string, ReturnType<typeof simulatedRound>[]>();

/** By the first test that asks, not where tests are collected: a run of any other test would wait for it. */
function roundsUnder(law: string): ReturnType<typeof simulatedRound>[] {
  const index = Object.keys(lengthLaws).indexOf(law);
  const rounds =
    roundsOf.get(law) ??
    Array.from({ length: roundsOfALaw }, (_, at) => simulatedRound(1 + index * 1000 + at * 17, lengthLaws[law]!));
  roundsOf.set(law, rounds);
  return rounds;
}

const overOf = (rounds: readonly { real: number; projected: number }[]): number =>
  rounds.filter(({ real, projected }) => real > projected).length / rounds.length;

test('7: in at most 5 % of all rounds an engine goes over the projected peak', () => {
  expect(overOf(Object.keys(lengthLaws).flatMap(roundsUnder))).toBeLessThanOrEqual(0.05);
});

describe.each(Object.keys(lengthLaws))('7: lengths drawn from the law of the history (%s)', (law) => {
  const rounds = () => roundsUnder(law);

  test('an engine goes over the projected peak in no more rounds than chance makes of 5 %', () => {
    expect(overOf(rounds())).toBeLessThanOrEqual(0.05 + 2 * Math.sqrt((0.05 * 0.95) / roundsOfALaw));
  });

  // A sum of few lengths of two kinds has its high quantile far from its median.
  const highest = law === 'bimodal' ? 1.25 : 1.15;
  test(`the median of projected to real peak is at most ${highest}`, () => {
    const ratios = rounds()
      .map(({ real, projected }) => projected / real)
      .sort((a, b) => a - b);
    expect(ratios[ratios.length >> 1]).toBeLessThanOrEqual(highest);
    expect(ratios[ratios.length >> 1]).toBeGreaterThan(1);
  });

  // Of two kinds of lengths, who knows the law accepts 80 % and does not get further.
  const least = law === 'bimodal' ? 0.7 : 0.8;
  test(`at least ${100 * least} % of what an oracle who knows the lengths would accept is accepted`, () => {
    const random = randomFrom(5);
    let [oracle, both] = [0, 0];
    for (const { projected, real } of rounds()) {
      for (let at = 0; at < 20; at += 1) {
        // From half to twice what is needed.
        const capacity = real * 2 ** (2 * random() - 1);
        if (real > capacity) continue;
        oracle += 1;
        if (projected <= capacity) both += 1;
      }
    }
    expect(both / oracle).toBeGreaterThanOrEqual(least);
  });
});

test('9: a snapshot does not grow with the responses seen', () => {
  const engines = cluster(8, 1000);
  const policy = create(
    gpuScaleDown,
    { promptsPerRound: 128, responsesPerPrompt: 8, maxResponseTokens: 32_768, engines },
    { validate: false },
  );
  const random = randomFrom(3);
  const size = () => JSON.stringify(policy.snapshot().state).length;
  const sizes: number[] = [];
  for (let round = 0; round < 1000; round += 1) {
    open(policy, `r${round}`, round % 5 === 4 ? 'long' : 'short');
    for (let index = 0; index < 1000; index += 1) {
      const tokens = Math.floor(32_768 * random() ** 4);
      policy.send({ type: 'response.completed', at: 0, requestId: 'q', tokens });
    }
    sizes.push(size());
  }
  expect(Math.max(...sizes)).toBeLessThan(20_000);
});
