/** The bound on the lag of tokens, by the number of its invariant in speculative-admission: it holds, and nothing is dropped for it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { create } from '../../src/core/machine/start.ts';
import { losslessTail, tailBatching } from '../../src/index.ts';
import type { VocabularyDecision, VocabularyEvent } from '../../src/schemas/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { met, runs } from '../support/basics/runs.ts';

interface Trainee {
  send(event: VocabularyEvent): readonly VocabularyDecision[];
  snapshot(): unknown;
}
const all = Array.from({ length: 40 }, (_, index) => `p${index}`);

/** Trains all prompts, with new weights in each round. Reports come in any order; requests fail; the policy is restored. */
class Training {
  readonly trained: string[] = [];
  /** Versions by which the oldest token of each trained prompt is behind. */
  readonly lags: number[] = [];
  readonly #running = new Map<string, number>();
  readonly #answers: VocabularyEvent[] = [];
  #version = 0;
  #isDrained = false;
  #next = 0;
  readonly #timers = new Map<string, number>();
  #at = 0;

  run(start: (from?: object) => Trainee, tape: readonly number[]): this {
    const choices = choicesFrom(tape);
    let policy = start();
    for (; this.trained.length < all.length; this.#version += 1) {
      expect(this.#version).toBeLessThan(3 * all.length);
      this.#isDrained = false;
      const round = { roundId: `r${this.#version}`, weightVersion: this.#version };
      this.#answers.push({ type: 'round.requested', at: this.#at, ...round });
      while (!this.#isDrained || this.#answers.length > 0) {
        const event =
          this.#answers.shift() ??
          (this.#running.size > 0
            ? this.#report(choices.below(this.#running.size), choices.below(12) === 0)
            : this.#wait());
        for (const decision of policy.send(event)) this.#carryOut(decision);
        if (choices.below(20) === 0) policy = start({ snapshot: JSON.parse(JSON.stringify(policy.snapshot())) });
      }
    }
    return this;
  }

  #report(at: number, fails: boolean): VocabularyEvent {
    const [requestId, tokens] = [...this.#running][at]!;
    this.#running.delete(requestId);
    return fails
      ? { type: 'response.failed', at: this.#at, requestId, kind: 'infrastructure' }
      : { type: 'response.completed', at: this.#at, requestId, tokens: tokens + 1 };
  }

  /** Nothing runs: the first timer ends a pause between tries. */
  #wait(): VocabularyEvent {
    const [timerId, at] = [...this.#timers].reduce((first, one) => (one[1] < first[1] ? one : first));
    this.#timers.delete(timerId);
    this.#at = Math.max(this.#at, at);
    return { type: 'timer.fired', at: this.#at, timerId };
  }

  #carryOut(decision: VocabularyDecision): void {
    switch (decision.type) {
      case 'timer.set':
        this.#timers.set(decision.timerId, decision.fireAtSeconds);
        return;
      case 'prompts.request': {
        const { roundId, count } = decision;
        const prompts = all.slice(this.#next, this.#next + count).map((promptId) => ({ promptId }));
        this.#next += prompts.length;
        if (prompts.length > 0) this.#answers.push({ type: 'prompts.supplied', at: this.#at, roundId, prompts });
        if (prompts.length < count) this.#answers.push({ type: 'source.exhausted', at: this.#at });
        return;
      }
      case 'request.launch':
        this.#running.set(decision.requestId, (decision.resumeFrom?.tokens ?? 0) + 1);
        return;
      case 'request.abort': {
        const { requestId } = decision;
        this.#answers.push({ type: 'request.aborted', at: this.#at, requestId, tokens: this.#running.get(requestId)! });
        this.#running.delete(requestId);
        return;
      }
      case 'response.dropped':
      case 'prompt.deferred':
        expect(decision.reason.code).not.toBe('stale_weights');
        return;
      case 'round.drained':
        this.#isDrained = true;
        return;
      case 'round.completed':
        for (const { promptId, responses } of decision.prompts) {
          this.trained.push(promptId);
          this.lags.push(this.#version - Math.min(...responses.flatMap((one) => one.weightVersions)));
        }
        return;
      default:
    }
  }
}

const shape = {
  promptsPerRound: fc.integer({ min: 1, max: 5 }),
  responsesPerPrompt: fc.integer({ min: 1, max: 3 }),
  promptSpeculation: fc.double({ min: 1, max: 2, noNaN: true }),
  maxStaleness: fc.integer({ min: 1, max: 4 }),
};
const policies: readonly [string, AnyPolicyDefinition, Record<string, unknown>][] = [
  ['lossless-tail', losslessTail as never, { windowRounds: 3 }],
  ['tail-batching with partialRollout', tailBatching as never, { partialRollout: true, responseSpeculation: 1 }],
  ['tail-batching that carries prompts', tailBatching as never, { responseSpeculation: 1 }],
];

test.each(policies)(
  'invariant 12, and 8 of the queue: no token is too old, and none is dropped for its age: %s',
  (_name, definition, more) => {
    const seen = { late: 0, atBound: 0 };
    fc.assert(
      fc.property(fc.record(shape), tapes(), (settings, tape) => {
        const config = { ...settings, ...more, retry: { infrastructure: 1000 } };
        const start = (from: object = config): Trainee => create(definition, from as never) as unknown as Trainee;
        const { trained, lags } = new Training().run(start, tape);
        expect([...trained].sort()).toEqual([...all].sort());
        for (const lag of lags) {
          expect(lag).toBeLessThanOrEqual(settings.maxStaleness);
          if (lag > 0) seen.late += 1;
          if (lag === settings.maxStaleness) seen.atBound += 1;
        }
      }),
      runs(100),
    );
    expect(Math.min(seen.late, seen.atBound)).toBeGreaterThan(met(100));
  },
);
