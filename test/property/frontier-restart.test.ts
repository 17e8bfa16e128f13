/**
 * A host without memory, before frontier-group-dispatch: whatever was sent, and whenever it restarts, it brings only what is
 * named from then on, and so every round that is named ends, nothing stays, and the next round has the whole width. The
 * numbers are those of the invariants in the README.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pick } from '../../src/core/generators/choices.ts';
import { isPolicyError } from '../../src/errors.ts';
import { arbitrary } from '../../src/policies/frontier-group-dispatch/arbitrary.ts';
import {
  frontierGroupDispatch as definition,
  type FrontierGroupDispatchDecision,
  type FrontierGroupDispatchEvent,
  type FrontierGroupDispatchInput,
} from '../../src/policies/frontier-group-dispatch/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

type State = ReturnType<typeof definition.init>;
type Place = { readonly roundId: string; readonly promptId: string; readonly index: number };
type Doing = () => void;

/** The policy without its session, and a host that forgets all it knows with each restart. */
class Forgetful {
  readonly config: FrontierGroupDispatchInput;
  readonly #parsed: ReturnType<typeof definition.config.parse>;
  readonly #choices: ReturnType<typeof choicesFrom>;
  state: State;
  /** What the host was told to do, and has not done. */
  owed = new Map<string, Place>();
  running = new Map<string, Place>();
  /** Groups that were named since the last restart, and have not left. */
  named = new Set<string>();
  #at = 0;
  #minted = 0;
  #restarts = 0;
  events = 0;

  constructor(config: FrontierGroupDispatchInput, tape: readonly number[]) {
    this.config = config;
    this.#parsed = definition.config.parse(config);
    this.#choices = choicesFrom(tape);
    this.state = definition.init(this.#parsed);
  }

  /** Sends an event, and hears what follows. */
  send(event: FrontierGroupDispatchEvent): void {
    this.#at = Math.max(this.#at, event.at);
    const decisions: FrontierGroupDispatchDecision[] = [];
    definition.check(this.state, event);
    if (event.type === 'host.restarted') this.#forget();
    definition.apply(this.state, { ...event, at: this.#at }, { at: this.#at, emit: (one) => decisions.push(one) });
    this.events += 1;
    for (const decision of decisions) this.#told(decision);
  }

  #forget(): void {
    this.owed = new Map();
    this.running = new Map();
    this.named = new Set();
  }

  #told(decision: FrontierGroupDispatchDecision): void {
    switch (decision.type) {
      case 'request.dropped':
        this.running.delete(decision.requestId);
        if (decision.reason.code !== 'host_restarted') return;
        return this.#owe(decision);
      case 'request.awaited':
        return this.#owe(decision);
      case 'request.admit':
        this.named.add(`${decision.roundId} ${decision.promptId}`);
        this.running.set(decision.requestId, decision);
        return;
      case 'group.left':
        this.named.delete(`${decision.roundId} ${decision.promptId}`);
    }
  }

  #owe({ roundId, promptId, index }: Place): void {
    const key = `${roundId} ${promptId} ${index}`;
    expect(this.owed.has(key), '11: what is owed is named once').toBe(false);
    this.owed.set(key, { roundId, promptId, index });
    this.named.add(`${roundId} ${promptId}`);
  }

  /** What a host with memory might have sent, refused or not. */
  trouble(): void {
    const event = arbitrary(this.state, this.#choices);
    try {
      this.send(event);
    } catch (error) {
      if (!isPolicyError(error)) throw error;
    }
  }

  /** Another host goes on from what was saved. */
  restart(): void {
    const saved = JSON.parse(JSON.stringify(definition.save(this.state)));
    this.state = definition.load(saved, this.#parsed);
    this.send({ type: 'host.restarted', at: this.#at, idPrefix: `host ${this.#restarts++} ` });
    const held = definition.save(this.state).groups.map((one) => `${one.roundId} ${one.promptId}`);
    expect(
      held.filter((one) => !this.named.has(one)),
      '11: nothing is held that nobody names',
    ).toEqual([]);
  }

  mint(place: Place): void {
    const { roundId, promptId, index } = place;
    this.owed.delete(`${roundId} ${promptId} ${index}`);
    const requestId = `host ${this.#restarts - 1} ${this.#minted++}`;
    this.send({ type: 'request.arrived', at: this.#at, requestId, promptId, roundId, index });
  }

  /** A request ends: usually it is complete. */
  end(requestId: string, place: Place): void {
    this.running.delete(requestId);
    const at = this.#at + this.#choices.below(3);
    const chance = this.#choices.below(8);
    if (chance === 0) this.send({ type: 'request.aborted', at, requestId });
    else if (chance === 1) {
      this.send({ type: 'response.failed', at, requestId, kind: 'infrastructure' });
      if (!this.config.awaitRetries) return;
      if (this.#choices.below(2) === 0) return this.#owe(place);
      const reason = { code: 'infrastructure', failures: 1, budget: 0 } as const;
      this.send({ type: 'response.abandoned', at, requestId, promptId: place.promptId, reason });
    } else this.send({ type: 'response.completed', at, requestId, tokens: this.#choices.below(99) });
  }

  doings(): Doing[] {
    return [
      ...Array.from(
        this.owed.values(),
        (place): Doing =>
          () =>
            this.mint(place),
      ),
      ...Array.from(
        this.running,
        ([requestId, place]): Doing =>
          () =>
            this.end(requestId, place),
      ),
    ];
  }

  /** All that the host was told, in any order, with another restart now and then. */
  finish(restarts: number): void {
    let left = restarts;
    for (let steps = 0; ; steps += 1) {
      const doing = pick(this.doings(), this.#choices);
      if (doing === undefined || steps > 5000) break;
      if (left > 0 && this.#choices.below(40) === 0) {
        left -= 1;
        this.restart();
      } else doing();
    }
    expect([...this.named], '11: every round that is named ends').toEqual([]);
    expect(definition.save(this.state).groups, '11: nothing stays').toEqual([]);
    expect([this.state.inService, this.state.owed, this.state.deferred.size]).toEqual([0, 0, 0]);
  }

  /** Whoever opens rounds has forgotten the others: the next one has the whole width. */
  freshRound(roundId: string): void {
    // `auto` may learn more with the first that comes.
    const groups = 12;
    for (let group = 0; group < groups; group += 1) {
      for (let index = 0; index < this.config.responsesPerPrompt; index += 1)
        this.mint({ roundId, promptId: `${roundId} ${group}`, index });
    }
    const inService = new Set([...this.running.values()].map((one) => one.promptId));
    const { width } = this.state;
    if (this.config.width !== 'auto') expect([inService.size, width]).toEqual([this.config.width, this.config.width]);
    // More are in service where `auto` has just narrowed.
    else expect(inService.size, '11: no slot stays taken').toBeGreaterThanOrEqual(Math.min(width, groups));
  }
}

const play = (config: FrontierGroupDispatchInput, tape: readonly number[], steps: number): number => {
  const host = new Forgetful(config, tape);
  for (let round = 0; round < 3; round += 1) {
    for (let step = 0; step < steps; step += 1) host.trouble();
    host.restart();
    host.finish(3);
    host.freshRound(`fresh ${round}`);
    // Another host finds that round half-way.
    if (round > 0) host.restart();
    if (round === 1) host.finish(0);
  }
  return host.events;
};

const configs = fc.record({
  responsesPerPrompt: fc.integer({ min: 1, max: 4 }),
  width: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant('auto' as const)),
  startRequests: fc.integer({ min: 1, max: 12 }),
  awaitRetries: fc.boolean(),
  closeAtOnce: fc.boolean(),
});

describe('11: a host without memory finishes', () => {
  test.each(exampleConfigs['frontier-group-dispatch']! as object[] as FrontierGroupDispatchInput[])(
    'with %j',
    (config) => {
      const run = (tape: readonly number[], steps: number) => void play(config, tape, steps);
      fc.assert(fc.property(tapes(), fc.nat(120), run), runs(20));
    },
  );

  test('with any configuration', () => {
    const run = (config: FrontierGroupDispatchInput, tape: readonly number[], steps: number) =>
      void play(config, tape, steps);
    fc.assert(fc.property(configs, tapes(), fc.nat(120), run), runs(60));
  });
});
