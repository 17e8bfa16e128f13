/** The invariants of divided-rollout, by their numbers in its README, under random events and restored snapshots. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import { arbitrary } from '../../src/policies/divided-rollout/arbitrary.ts';
import {
  type DividedRolloutConfig,
  type DividedRolloutDecision,
  type DividedRolloutEvent,
  dividedRollout,
} from '../../src/policies/divided-rollout/index.ts';
import type { DividedState } from '../../src/policies/divided-rollout/state.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

interface Kept {
  phase: 'opened' | 'waiting' | 'running';
  promptTokens: number;
  tokens: number;
  maxTokens: number;
  chunkTokens: number;
  engineId: string;
  since: number;
}

/** What was sent and told: what a host knows. */
class Host {
  readonly requests = new Map<string, Kept>();
  readonly engines = new Map<string, number>();
  at = 0;

  readonly config: DividedRolloutConfig;

  constructor(config: DividedRolloutConfig) {
    this.config = config;
  }

  /** Enters an accepted event, and checks its decisions. `nextOn` is the engine that was kept for what is next. */
  enter(event: DividedRolloutEvent, decisions: readonly DividedRolloutDecision[], nextOn: string | null): void {
    this.at = Math.max(this.at, event.at);
    const ends = this.#sent(event);
    let kept = nextOn;
    for (const one of decisions) {
      if (one.type !== 'chunk.continue') continue;
      this.#given(one);
      if (one.reason.code === 'overdue') kept = null;
      else if (event.type === 'chunk.finished')
        expect(one.engineId, 'invariant 6: room for what is next').not.toBe(kept);
    }
    const ended = decisions.filter(({ type }) => type === 'request.ended');
    expect(ended.length, 'invariant 1: a request ends with its end').toBe(ends);
  }

  /** Returns how many requests end. */
  #sent(event: DividedRolloutEvent): number {
    const { config } = this;
    switch (event.type) {
      case 'request.opened':
        this.requests.set(event.requestId, {
          ...{ phase: 'opened', promptTokens: 0, tokens: 0, maxTokens: Infinity, chunkTokens: 0, engineId: '' },
          since: this.at,
        });
        break;
      case 'chunks.requested':
        for (const { requestId, promptTokens, tokens = 0, maxTokens = Infinity } of event.requests) {
          const one = this.requests.get(requestId);
          if (one === undefined) continue;
          if (one.phase !== 'waiting') one.since = this.at;
          Object.assign(one, { phase: 'waiting', promptTokens, tokens, maxTokens });
        }
        break;
      case 'chunk.finished': {
        const one = this.requests.get(event.requestId);
        if (one === undefined || one.phase === 'opened') break;
        if (one.phase === 'running') Object.assign(one, { phase: 'waiting', since: this.at });
        if (one.chunkTokens > 0) one.tokens = Math.max(one.tokens, event.tokens);
        break;
      }
      case 'response.completed':
      case 'response.failed':
      case 'request.aborted':
        return Number(this.requests.delete(event.requestId));
      case 'engine.added':
        if (!this.engines.has(event.engineId)) this.engines.set(event.engineId, config.kvCapacityTokens);
        break;
      case 'engine.drained':
        this.#drained.add(event.engineId);
        break;
      case 'engine.lost':
        this.#again(({ engineId }) => engineId === event.engineId);
        break;
      case 'host.restarted':
        this.#again(() => true);
        break;
      default:
    }
    return 0;
  }

  readonly #drained = new Set<string>();

  #again(isHit: (one: Kept) => boolean): void {
    for (const one of this.requests.values()) {
      if (one.phase === 'running' && isHit(one)) Object.assign(one, { phase: 'waiting', since: this.at });
    }
  }

  #given({
    requestId,
    engineId,
    fromTokens,
    tokens,
  }: Extract<DividedRolloutDecision, { type: 'chunk.continue' }>): void {
    const one = this.requests.get(requestId);
    expect(one?.phase, `invariant 2: ${requestId} has no chunk`).toBe('waiting');
    expect(fromTokens, `invariant 2: ${requestId} goes on from what was reported`).toBe(one!.tokens);
    expect(fromTokens + tokens, `invariant 7: ${requestId} keeps its limit`).toBeLessThanOrEqual(one!.maxTokens);
    Object.assign(one!, { phase: 'running', engineId, chunkTokens: tokens });
  }
}

/** Checks the state after an event, and what its decisions have given. */
function checkState(state: DividedState, decisions: readonly DividedRolloutDecision[]): void {
  const given = new Set(decisions.flatMap((one) => (one.type === 'chunk.continue' ? [one.engineId] : [])));
  for (const engine of state.engines.values()) {
    let held = 0;
    for (const { promptTokens, tokens, chunkTokens } of engine.running) held += promptTokens + tokens + chunkTokens;
    expect(engine.heldTokens, 'the sum of contexts and chunks').toBe(held);
    if (given.has(engine.engineId) && engine.running.size > 1) {
      const most = Math.floor(state.config.budgetShare * engine.capacityTokens);
      expect(held, `invariant 4: ${engine.engineId} has room`).toBeLessThanOrEqual(most);
    }
    if (engine.active && engine.running.size === 0)
      expect(state.waits.size, 'invariant 5: an engine without chunks, and something waits').toBe(0);
  }
  for (const id of given) expect(state.engines.get(id)?.active, `invariant 3: ${id} takes chunks`).toBe(true);
}

test('invariants 1 to 7 hold for any events, and across restores', () => {
  fc.assert(
    fc.property(fc.constantFrom(...exampleConfigs['divided-rollout']!), tapes(), (given, tape) => {
      const config = dividedRollout.config.parse(given) as DividedRolloutConfig;
      let policy = create(dividedRollout, config);
      let state = dividedRollout.init(config);
      const host = new Host(config);
      const choices = choicesFrom(tape);
      for (let index = 0; index < 120; index += 1) {
        const event = arbitrary(state, choices);
        let decisions: readonly DividedRolloutDecision[] = [];
        try {
          decisions = policy.send(event);
          host.enter(event, decisions, state.nextOn);
        } catch (error) {
          if (!isPolicyError(error)) throw error;
          expect(error.code).not.toBe('internal');
        }
        const snapshot = policy.snapshot();
        state = dividedRollout.load(JSON.parse(JSON.stringify(snapshot.state)), config);
        checkState(state, decisions);
        if (choices.below(4) === 0) policy = create(dividedRollout, { snapshot });
      }
    }),
    runs(60),
  );
});

test('invariant 6: what has waited too long runs when the chunks of one engine have ended, though others would go on', () => {
  const policy = create(dividedRollout, { kvCapacityTokens: 1000, budgetShare: 1, maxWaitSeconds: 100 });
  policy.send({ type: 'engine.added', at: 0, engineId: 'e0' });
  const ids = ['a', 'b', 'c'];
  for (const requestId of ids) policy.send({ type: 'request.opened', at: 0, requestId });
  const requests = ids.map((requestId) => ({ requestId, promptTokens: 400 }));
  const first = policy.send({ type: 'chunks.requested', at: 0, requests });
  const running = first.flatMap((one) => (one.type === 'chunk.continue' ? [one.requestId] : []));
  expect(running).toEqual(['a', 'b']);
  let at = 0;
  const tokens: Record<string, number> = { a: 0, b: 0 };
  const told: string[] = [];
  // Each of the two goes on and on, until the third is overdue: then one of them has to wait.
  for (let turn = 0; turn < 12 && !told.includes('c'); turn += 1) {
    at += 20;
    const requestId = ids[turn % 2]!;
    tokens[requestId]! += 1;
    for (const one of policy.send({ type: 'chunk.finished', at, requestId, tokens: tokens[requestId]! }))
      if (one.type === 'chunk.continue') told.push(one.requestId);
  }
  expect(told.at(-1)).toBe('c');
  expect(at).toBeLessThanOrEqual(140);
});
