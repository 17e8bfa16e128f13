/** Mock engines under random hosts: whatever is asked, paused or killed, each request ends once, and nothing depends on who looks when. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PauseMode, pause, resume, updateWeights } from '../../src/mock-engine/engine/pausing.ts';
import type { Prompt } from '../../src/mock-engine/engine/prompts/prompt.ts';
import type { Generation } from '../../src/mock-engine/engine/requests/generation.ts';
import type { Fault } from '../../src/mock-engine/faults.ts';
import { times } from '../support/basics/runs.ts';
import { ask, clusterOf, type Ended } from '../support/mock-engine/cluster.ts';

const runs = times(300);
const engines = 2;
const kvCapacityTokens = 120;

type Action =
  | {
      readonly do: 'ask';
      readonly prompt: number | Prompt;
      readonly maxTokens: number;
      readonly priority: number;
      readonly copies: number;
    }
  | { readonly do: 'abort'; readonly place: number; readonly reach: 'scheduler' | 'all' }
  | { readonly do: 'abort all'; readonly reach: 'scheduler' | 'all' }
  | { readonly do: 'pause'; readonly mode: PauseMode }
  | { readonly do: 'resume' }
  | { readonly do: 'update'; readonly abortAll: boolean }
  | { readonly do: 'fault'; readonly fault: Fault };
interface Timed {
  readonly at: number;
  readonly engine: number;
  readonly action: Action;
}

const reach = fc.constantFrom('scheduler' as const, 'all' as const);
const faults = fc.constantFrom<Fault>(
  { fault: 'crash', restartAfterSeconds: 3 },
  { fault: 'crash' },
  { fault: 'restart' },
  { fault: 'hang', seconds: 4 },
  { fault: 'hang' },
  { fault: 'resume' },
  { fault: 'slow', factor: 3 },
  { fault: 'slow', factor: 1 },
  { fault: 'ignore-aborts', count: 1 },
);
/** Texts of 20 and 40 tokens, of which some begin like others. */
const texts: Prompt[] = ['a', 'aa', 'ab'].map((letters) => ({
  text: [...letters].map((one) => one.repeat(80)).join(''),
}));
const asks = fc.record({
  do: fc.constant('ask' as const),
  prompt: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(...texts)),
  maxTokens: fc.integer({ min: 1, max: 60 }),
  priority: fc.constantFrom(0, 0, 1),
  copies: fc.integer({ min: 1, max: 4 }),
});
const others = fc.oneof(
  fc.record({ do: fc.constant('abort' as const), place: fc.nat(30), reach }),
  fc.record({ do: fc.constant('abort all' as const), reach }),
  fc.record({
    do: fc.constant('pause' as const),
    mode: fc.constantFrom<PauseMode>('abort', 'wait', 'keep', 'retract'),
  }),
  fc.constant({ do: 'resume' as const }),
  fc.record({ do: fc.constant('update' as const), abortAll: fc.boolean() }),
  fc.record({ do: fc.constant('fault' as const), fault: faults }),
);
const scripts = fc
  .array(
    fc.record({
      at: fc.oneof(fc.nat(40), fc.double({ min: 0, max: 40, noNaN: true })),
      engine: fc.nat(engines - 1),
      action: fc.oneof({ weight: 3, arbitrary: asks }, { weight: 2, arbitrary: others }),
    }),
    { minLength: 1, maxLength: 40, size: 'max' },
  )
  .map((list): Timed[] => list.sort((a, b) => a.at - b.at));
const looks = fc
  .array(fc.double({ min: 0, max: 60, noNaN: true }), { maxLength: 30 })
  .map((list) => list.sort((a, b) => a - b));
const options = fc.record({
  scheduling: fc.constantFrom('fcfs' as const, 'priority' as const),
  abortLagSeconds: fc.constantFrom(0, 0.25, 2.5),
  tokenizeSeconds: fc.constantFrom(0, 0.25),
  updateSeconds: fc.constantFrom(0, 1.5),
  streamInterval: fc.integer({ min: 1, max: 5 }),
});

function play(given: Parameters<typeof clusterOf>[0], script: readonly Timed[], lookAt: readonly number[]) {
  const costs = {
    kvCapacityTokens,
    maxRunningSequences: 4,
    prefillSecondsPerToken: 0.03,
    secondsPerContextToken: 0.01,
  };
  const cluster = clusterOf({ ...given, engines, contextTokens: kvCapacityTokens }, costs);
  const ended: Ended[] = [];
  const all: Generation[] = [];
  const told = new Map<string, number[]>();
  let asked = 0;
  const look = (): void => {
    for (const engine of cluster.engines) {
      const { running, waiting, held, usedTokens, idleTokens } = engine.load();
      expect(usedTokens).toBeLessThanOrEqual(kvCapacityTokens);
      expect(idleTokens).toBeGreaterThanOrEqual(0);
      expect(running).toBeLessThanOrEqual(4);
      const { accepted, stop, length, abort, lost, inFlight } = engine.counts;
      expect(inFlight).toBe(accepted - stop - length - abort - lost);
      expect(engine.requestIds.length).toBe(inFlight);
      expect(running + waiting + held).toBeLessThanOrEqual(inFlight);
    }
  };
  const carryOut = ({ engine: number, action }: Timed): void => {
    const engine = cluster.engines[number]!;
    if (action.do === 'fault') return cluster.fault({ ...action.fault, engine: number } as Fault);
    // A client finds nobody there.
    if (!engine.isUp) return;
    switch (action.do) {
      case 'ask': {
        const { prompt, copies, ...more } = action;
        for (let copy = 0; copy < copies; copy += 1) {
          const requestId = `r${asked++}`;
          told.set(requestId, []);
          const progress = (one: Generation) => void told.get(requestId)!.push(one.count);
          all.push(ask(cluster, engine, requestId, prompt, ended, { ...more, progress }));
        }
        return;
      }
      case 'abort': {
        const requestId = `r${action.place % Math.max(1, asked)}`;
        return engine.abort((one) => one.requestId === requestId, action.reach);
      }
      case 'abort all':
        return engine.abort(() => true, action.reach);
      case 'pause':
        return pause(engine, 'pause', action.mode, 'all', () => {});
      case 'resume':
        return resume(engine, 'pause');
      case 'update':
        return updateWeights(engine, { version: `${cluster.now}`, seconds: 1.5, abortAll: action.abortAll }, () => {});
    }
  };
  const moments = [
    ...script.map((one) => ({ at: one.at, run: () => carryOut(one) })),
    ...lookAt.map((at) => ({ at, run: look })),
  ];
  // A look at a moment at which something happens comes before it, or behind it: it changes nothing.
  for (const { at, run } of moments.sort((a, b) => a.at - b.at)) {
    cluster.advanceTo(at);
    run();
  }
  cluster.advanceTo(100);
  // Whatever still stands is set going, and everything comes to its end.
  for (const engine of cluster.engines) {
    cluster.fault({ fault: 'restart', engine: engine.number });
    cluster.fault({ fault: 'resume', engine: engine.number });
    resume(engine, 'pause');
  }
  cluster.advanceTo(1e6);
  look();
  return { cluster, ended, all, told, weights: cluster.engines.map(({ weightVersion }) => weightVersion) };
}

describe('mock engines', () => {
  test('each request that was taken ends exactly once, its tokens are counted, and streams only grow', () => {
    const met = { stop: 0, length: 0, abort: 0, lost: 0, preempted: 0, cached: 0 };
    fc.assert(
      fc.property(options, scripts, looks, (given, script, lookAt) => {
        const { cluster, ended, all, told } = play(given, script, lookAt);
        expect(ended.map(({ requestId }) => requestId).sort()).toEqual(all.map(({ requestId }) => requestId).sort());
        let tokens = 0;
        for (const generation of all) {
          const { count, requestId } = generation;
          tokens += count;
          met[generation.ended!] += 1;
          if (generation.cachedTokens > 0) met.cached += 1;
          expect(generation.tokenIds).toHaveLength(count);
          expect(count).toBeLessThanOrEqual(generation.tokens);
          if (generation.ended === 'stop' || generation.ended === 'length') {
            expect([generation.ended, count]).toEqual([generation.ending, generation.tokens]);
          }
          const counts = told.get(requestId)!;
          for (const [place, one] of counts.entries()) {
            expect(one).toBeGreaterThan(counts[place - 1] ?? 0);
            expect(one % given.streamInterval).toBe(0);
            expect(one).toBeLessThanOrEqual(count);
          }
        }
        for (const { work } of cluster.engines) met.preempted += work.preemptions;
        const sums = cluster.engines.map(({ counts }) => counts);
        expect(sums.reduce((sum, one) => sum + one.inFlight, 0)).toBe(0);
        expect(sums.reduce((sum, one) => sum + one.completedTokens + one.abortedTokens + one.lostTokens, 0)).toBe(
          tokens,
        );
      }),
      { numRuns: runs },
    );
    // The property must have met everything often.
    for (const count of Object.values(met)) expect(count).toBeGreaterThan(runs / 2);
  });

  test('nothing depends on when time is moved and when somebody looks', () => {
    fc.assert(
      fc.property(options, scripts, looks, (given, script, lookAt) => {
        const alone = play(given, script, []);
        const watched = play(given, script, lookAt);
        expect(watched.ended).toEqual(alone.ended);
        expect(watched.weights).toEqual(alone.weights);
        expect(watched.all.map((one) => one.cachedTokens)).toEqual(alone.all.map((one) => one.cachedTokens));
        expect(watched.all.map(({ text }) => text)).toEqual(alone.all.map(({ text }) => text));
      }),
      { numRuns: runs },
    );
  });
});
