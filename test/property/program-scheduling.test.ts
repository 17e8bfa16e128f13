/** The invariants of program-scheduling, by their numbers in its README, under random events and restored snapshots. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import { arbitrary } from '../../src/policies/program-scheduling/arbitrary.ts';
import { addedTokens } from '../../src/policies/program-scheduling/cost.ts';
import {
  type ProgramSchedulingConfig,
  type ProgramSchedulingDecision,
  type ProgramSchedulingEvent,
  programScheduling,
} from '../../src/policies/program-scheduling/index.ts';
import { type Engine, isSuspended, type ProgramState } from '../../src/policies/program-scheduling/state.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { met, runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

interface Kept {
  phase: 'free' | 'asked' | 'running' | 'tool';
  engineId: string | undefined;
  paused: boolean;
  generated: number;
  /** Since when it waits for its turn. */
  since: number;
}

/** What was sent and told: what a host knows. */
class Host {
  readonly programs = new Map<string, Kept>();
  readonly engines = new Set<string>();
  /** Those that get single turns only, and how often there were any. */
  readonly suspended = new Set<string>();
  suspensions = 0;
  /** How many were named free. */
  freed = 0;
  timerAt: number | undefined;
  at = 0;

  /** Enters an accepted event, and checks its decisions. */
  enter(event: ProgramSchedulingEvent, decisions: readonly ProgramSchedulingDecision[], limit: number): void {
    this.at = Math.max(this.at, event.at);
    const ended = decisions.filter(({ type }) => type === 'program.ended');
    const before = this.#sent(event);
    for (const one of decisions) this.#told(one);
    expect(ended.length, 'invariant 1: a program ends with its end').toBe(before);
    for (const [id, { phase, since }] of this.programs) {
      if (phase !== 'asked' || this.engines.size === 0) continue;
      if ([...this.engines].every((engineId) => this.suspended.has(engineId))) {
        const isTried = [...this.programs.values()].some((one) => one.phase === 'running');
        expect(isTried || this.timerAt !== undefined, `invariant 9: ${id} waits for a single turn`).toBe(true);
        continue;
      }
      expect(this.at - since, `invariant 6: ${id} waits`).toBeLessThan(limit);
      expect(this.timerAt, `invariant 6: ${id} has a timer`).toBeLessThanOrEqual(since + limit);
    }
  }

  /** Returns how many programs end. */
  #sent(event: ProgramSchedulingEvent): number {
    const { at } = this;
    const one = 'requestId' in event ? this.programs.get(event.requestId) : undefined;
    switch (event.type) {
      case 'program.opened':
        this.programs.set(event.requestId, {
          phase: 'free',
          engineId: undefined,
          paused: false,
          generated: 0,
          since: 0,
        });
        break;
      case 'program.closed':
        return Number(this.programs.delete(event.requestId));
      case 'turn.requested':
        if (one?.phase === 'asked') break;
        if (one !== undefined) Object.assign(one, { phase: 'asked', since: at });
        break;
      case 'turn.finished':
        if (one === undefined) break;
        if (one.phase === 'running' || (one.phase === 'asked' && event.tokens > one.generated)) {
          one.phase = 'free';
          one.generated = Math.max(one.generated, event.tokens);
        }
        break;
      case 'response.completed':
      case 'response.failed':
        if (one?.phase === 'running') one.phase = 'free';
        break;
      case 'tool.started':
        if (one !== undefined && one.phase !== 'running' && one.phase !== 'asked') one.phase = 'tool';
        break;
      case 'tool.finished':
        if (one?.phase === 'tool') one.phase = 'free';
        break;
      case 'engine.added':
        this.engines.add(event.engineId);
        break;
      case 'engine.drained':
        this.engines.delete(event.engineId);
        break;
      case 'engine.lost':
        this.engines.delete(event.engineId);
        this.#again(({ engineId }) => engineId === event.engineId);
        break;
      case 'engines.changed':
        this.engines.clear();
        for (const id of event.engineIds) this.engines.add(id);
        break;
      case 'host.restarted':
        this.timerAt = undefined;
        this.#again(() => true);
        break;
      case 'timer.fired':
        this.timerAt = undefined;
        break;
      default:
    }
    return 0;
  }

  #again(isHit: (one: Kept) => boolean): void {
    for (const one of this.programs.values()) {
      if (one.phase === 'running' && isHit(one)) Object.assign(one, { phase: 'asked', since: this.at });
    }
  }

  #freed(engineId: string): void {
    expect([...this.engines], 'invariant 8: an engine that takes turns is freed').toContain(engineId);
    const running = [...this.programs.values()].filter((one) => one.phase === 'running' && one.engineId === engineId);
    expect(running, 'invariant 8: it runs no turn').toEqual([]);
    this.freed += 1;
  }

  #told(decision: ProgramSchedulingDecision): void {
    if (decision.type === 'timer.set') this.timerAt = decision.fireAtSeconds;
    if (decision.type === 'tries.suspended') {
      expect(this.suspended.has(decision.id!), 'invariant 9: an engine is suspended once').toBe(false);
      this.suspended.add(decision.id!);
      this.suspensions += 1;
    }
    if (decision.type === 'tries.recovered')
      expect(this.suspended.delete(decision.id!), 'invariant 9: what recovers was suspended').toBe(true);
    if (decision.type === 'engine.freed') this.#freed(decision.engineId);
    if (!('requestId' in decision)) return;
    const one = this.programs.get(decision.requestId);
    switch (decision.type) {
      case 'turn.route':
        expect(one?.phase, `invariant 2: ${decision.requestId} has asked`).toBe('asked');
        expect(one!.paused, `invariant 4: ${decision.requestId} is not paused`).toBe(false);
        expect([...this.engines], 'invariant 3: the engine takes turns').toContain(decision.engineId);
        expect(decision.reason.code === 'probe', 'invariant 9: only single turns where turns fail').toBe(
          this.suspended.has(decision.engineId),
        );
        Object.assign(one!, { phase: 'running', engineId: decision.engineId });
        break;
      case 'program.pause':
        expect(one?.phase, 'invariant 4: no turn is cut short').not.toBe('running');
        expect(one!.paused).toBe(false);
        one!.paused = true;
        break;
      case 'program.resume':
        expect(one?.paused, 'invariant 4: only what is paused is resumed').toBe(true);
        one!.paused = false;
        break;
      default:
    }
  }
}

/** Checks the state: its sums, and what waits although it has room. */
function checkState(state: ProgramState): void {
  const { engines, programs, ready, fresh, waitsEnd, config } = state;
  const withStatus = (status: Engine['status']) => [...engines.values()].filter((one) => one.status === status);
  const spare = [...withStatus('emptying'), ...withStatus('free')];
  if (spare.length > 0) {
    expect(config.tailSlowdown, 'invariant 8: engines are freed only if asked for').toBeDefined();
    expect(withStatus('open').length, 'invariant 8: an engine is left').toBeGreaterThan(0);
    expect(waitsEnd.size, 'invariant 8: an engine is spared, and something waits').toBe(0);
  }

  for (const engine of engines.values()) {
    const prompts = new Map<string, number>();
    let tokens = 0;
    for (const one of engine.members) {
      tokens += addedTokens(one, { ...engine, prompts: new Map([...prompts].map(([id]) => [id, {}])) } as never);
      if (one.promptId !== null) prompts.set(one.promptId, one.promptTokens);
    }
    expect(engine.cache.tokens, 'invariant 7: nothing is believed cached beyond the cache').toBeLessThanOrEqual(
      Math.max(0, engine.capacityTokens),
    );
    if (engine.members.size > 0) expect(engine.usedTokens, 'the sum of contexts').toBe(tokens);
    if (engine.status !== 'drained' && engine.members.size === 0 && !isSuspended(state, engine))
      expect(ready.size + fresh.size, 'invariant 5: an engine without programs, and something waits').toBe(0);
  }
  for (const one of programs.values()) {
    if (one.phase === 'running') expect(one.counted).toBe(true);
    if (one.phase === 'asked') expect(one.waitsSince).not.toBeNull();
  }
}

test('invariants 1 to 9 hold for any events, and across restores', () => {
  let freed = 0;
  let suspensions = 0;
  fc.assert(
    fc.property(fc.constantFrom(...exampleConfigs['program-scheduling']!), tapes(), (given, tape) => {
      const config = programScheduling.config.parse(given) as ProgramSchedulingConfig;
      let policy = create(programScheduling, config);
      let state = programScheduling.init(config);
      const host = new Host();
      const choices = choicesFrom(tape);
      for (let index = 0; index < 120; index += 1) {
        const event = arbitrary(state, choices);
        try {
          host.enter(event, policy.send(event), config.maxPauseSeconds);
        } catch (error) {
          if (!isPolicyError(error)) throw error;
          expect(error.code).not.toBe('internal');
        }
        const snapshot = policy.snapshot();
        state = programScheduling.load(JSON.parse(JSON.stringify(snapshot.state)), config);
        checkState(state);
        if (choices.below(4) === 0) policy = create(programScheduling, { snapshot });
      }
      freed += host.freed;
      suspensions += host.suspensions;
    }),
    runs(120),
  );
  expect(freed, 'engines that were freed').toBeGreaterThanOrEqual(met(20));
  expect(suspensions, 'engines on which turns failed').toBeGreaterThanOrEqual(met(20));
});
