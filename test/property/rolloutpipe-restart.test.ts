/** Invariant 6 of rolloutpipe with a host that remembers nothing: it does what it is told from its restart on, and no more. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pick } from '../../src/core/generators/choices.ts';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { isPolicyError, rolloutPipe } from '../../src/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { arbitraryOf } from '../../src/testing/runs/tested.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

const definition = rolloutPipe as never as AnyPolicyDefinition;

/** What this host reads of a decision: each has some of it. */
interface Told extends AnyDecision {
  readonly roundId: string;
  readonly promptId: string;
  readonly requestId: string;
  readonly index: number;
  readonly update: number;
  readonly updateId: string;
  readonly publicationId?: string;
  readonly groups: readonly string[];
  readonly weightVersion: number;
  readonly dropped: readonly { readonly requestId: string }[];
  readonly reason: { readonly code: string };
}
interface Saved {
  readonly parts: Readonly<Record<string, { readonly state: { readonly rounds: readonly unknown[] } }>>;
}
/** What is to be done, by a name that no other thing to do has. */
type Doings = Map<string, () => void>;

class Forgetful {
  readonly #config: unknown;
  readonly #choices: ReturnType<typeof choicesFrom>;
  state: unknown;
  doings: Doings = new Map();
  #at = 0;
  #minted = 0;
  #restarts = 0;
  events = 0;

  constructor(config: unknown, tape: readonly number[]) {
    this.#config = definition.config.parse(config);
    this.#choices = choicesFrom(tape);
    this.state = definition.init(this.#config);
  }

  send(event: AnyEvent): void {
    this.#at = Math.max(this.#at, event.at);
    const decisions: AnyDecision[] = [];
    const sent = { ...event, at: this.#at };
    definition.check(this.state, sent);
    if (event.type === 'host.restarted') this.#forget();
    definition.apply(this.state, sent, { at: this.#at, emit: (one: AnyDecision) => decisions.push(one) });
    this.events += 1;
    for (const decision of decisions) this.#told(decision as never);
  }

  #forget(): void {
    this.doings = new Map();
  }

  #do(name: string, type: string, more: object): void {
    this.doings.set(name, () => {
      this.doings.delete(name);
      this.send({ type, at: this.#at + this.#choices.below(2), ...more });
    });
  }

  #told(decision: Told): void {
    const { type, roundId, promptId, requestId, index, updateId, reason } = decision;
    switch (type) {
      case 'request.dropped':
        this.doings.delete(`end ${requestId}`);
        if (reason.code !== 'host_restarted') return;
        return this.#mint({ roundId, promptId, index });
      case 'request.awaited':
        return this.#mint({ roundId, promptId, index });
      case 'request.admit': {
        const isAborted = this.#choices.below(9) === 0;
        const more = isAborted ? { requestId } : { requestId, tokens: this.#choices.below(60) };
        return this.#do(`end ${requestId}`, isAborted ? 'request.aborted' : 'response.completed', more);
      }
      case 'request.abort':
        return void this.doings.delete(`end ${requestId}`);
      case 'response.accepted':
      case 'reward.request':
        return this.#do(`reward ${requestId}`, 'reward.ready', { requestId, reward: this.#choices.below(2) });
      case 'prompt.returned':
        for (const { requestId: id } of decision.dropped) this.doings.delete(`reward ${id}`);
        return;
      case 'train.dispatch': {
        const { groups } = decision;
        return this.#do(`update ${decision.update}`, 'update.consumed', { updateId, groups, seconds: 1 });
      }
      case 'optimizer.step':
        return this.#do('step', 'optimizer.stepped', { roundId, updateId });
      case 'weights.publish': {
        const { weightVersion, publicationId } = decision;
        return this.#do('publish', 'weights.published', {
          roundId,
          weightVersion: weightVersion + 1,
          ...(publicationId === undefined ? undefined : { publicationId }),
        });
      }
    }
  }

  #mint({ roundId, promptId, index }: { roundId: string; promptId: string; index: number }): void {
    const requestId = `host ${this.#restarts - 1} ${this.#minted++}`;
    const name = `mint ${roundId} ${promptId} ${index}`;
    expect(this.doings.has(name), 'what is owed is named once').toBe(false);
    this.#do(name, 'request.arrived', { requestId, promptId, roundId, index });
  }

  trouble(): void {
    try {
      this.send(arbitraryOf(definition)(this.state, this.#choices));
    } catch (error) {
      if (!isPolicyError(error)) throw error;
    }
  }

  restart(): void {
    const saved = definition.state.parse(JSON.parse(JSON.stringify(definition.save(this.state))));
    this.state = definition.load(saved, this.#config);
    this.send({ type: 'host.restarted', at: this.#at, idPrefix: `host ${this.#restarts++} ` } as AnyEvent);
  }

  /** The trainer takes updates in their order. */
  #next(): (() => void) | undefined {
    const names = [...this.doings.keys()];
    const updates = names
      .filter((one) => one.startsWith('update '))
      .sort((a, b) => Number(a.slice(7)) - Number(b.slice(7)));
    const barred = new Set(this.doings.has('step') ? updates : updates.slice(1));
    const name = pick(
      names.filter((one) => !barred.has(one)),
      this.#choices,
    );
    return name === undefined ? undefined : this.doings.get(name);
  }

  finish(restarts: number): void {
    let left = restarts;
    for (let steps = 0; steps < 5000; steps += 1) {
      const doing = this.#next();
      if (doing === undefined) break;
      if (left > 0 && this.#choices.below(60) === 0) {
        left -= 1;
        this.restart();
      } else doing();
    }
    expect([...this.doings.keys()]).toEqual([]);
    const { parts } = definition.save(this.state) as Saved;
    for (const part of ['collection', 'assembly', 'pipelining'])
      expect(parts[part]!.state.rounds, `every round ends: ${part}`).toEqual([]);
    for (const ledger of definition.ledgers) expect(ledger.held(definition.save(this.state)), ledger.name).toEqual([]);
  }

  /** Opened by whoever has forgotten the others; it may die before it has brought all requests, or any. */
  freshRound(roundId: string, weightVersion: number): void {
    const { responsesPerPrompt } = this.#config as { responsesPerPrompt: number };
    const prompts = Array.from({ length: 4 }, (_, index) => ({ promptId: `${roundId} ${index}` }));
    this.send({ type: 'round.opened', at: this.#at, roundId, kind: 'long', weightVersion, prompts } as AnyEvent);
    for (const { promptId } of prompts) {
      for (let index = 0; index < responsesPerPrompt; index += 1) this.#mint({ roundId, promptId, index });
    }
  }
}

const play = (config: unknown, tape: readonly number[], steps: number): number => {
  const host = new Forgetful(config, tape);
  for (let step = 0; step < steps; step += 1) host.trouble();
  host.restart();
  host.finish(3);
  for (const [turn, restarts] of [0, 1, 2].entries()) {
    host.freshRound(`fresh ${turn}`, 1e6 * (turn + 1));
    if (turn === 1) host.restart();
    host.finish(restarts);
  }
  return host.events;
};

const configs = fc.record({
  responsesPerPrompt: fc.integer({ min: 1, max: 3 }),
  globalBatchSamples: fc.constantFrom(6, 12),
  width: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant('auto' as const)),
  startRequests: fc.integer({ min: 1, max: 9 }),
  awaitRetries: fc.boolean(),
  frontier: fc.boolean(),
  pipelining: fc.boolean(),
  otherVersions: fc.constant('drop' as const),
  incompleteGroups: fc.constantFrom('drop' as const, 'train' as const),
});

describe('6: a host that remembers nothing ends every round', () => {
  test.each(exampleConfigs.rolloutpipe!)('with %j', (config) => {
    fc.assert(
      fc.property(tapes(), fc.nat(120), (tape, steps) => void play(config, tape, steps)),
      runs(8),
    );
  });

  test('with any configuration', () => {
    const run = (config: object, tape: readonly number[], steps: number) => void play(config, tape, steps);
    fc.assert(fc.property(configs, tapes(), fc.nat(120), run), runs(30));
  });
});
