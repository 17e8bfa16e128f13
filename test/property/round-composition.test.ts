/** The invariants of round-composition, by their numbers in its README, against a host that knows the place of every prompt. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { type RoundCompositionDecision, roundComposition } from '../../src/policies/round-composition/index.ts';
import { roundSize } from '../../src/policies/round-composition/schema.ts';
import type { Prompt } from '../../src/schemas/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { met, runs } from '../support/basics/runs.ts';

type Choices = ReturnType<typeof choicesFrom>;
type Planned = Extract<RoundCompositionDecision, { type: 'round.planned' }>;
interface Saved {
  due: Prompt[];
  window: { prompt: Prompt }[];
  copies: Prompt[];
  later: Prompt[];
}

const settings = fc.record({
  promptsPerRound: fc.integer({ min: 1, max: 5 }),
  responsesPerPrompt: fc.integer({ min: 1, max: 3 }),
  promptSpeculation: fc.constantFrom(1, 1, 1.25),
  windowRounds: fc.integer({ min: 1, max: 4 }),
  rememberedPrompts: fc.constantFrom(3, 1000),
});
type Settings = typeof settings extends fc.Arbitrary<infer S> ? S : never;

/** A host that supplies prompts, each with a ref of its own, and reports their lengths. */
class Host {
  readonly size: number;
  /** Prompts that were supplied and not planned, by their refs; and the rounds that were planned over their heads. */
  readonly here = new Map<string, { readonly promptId: string; passed: number; cameBack: number }>();
  readonly rounds: Planned[] = [];
  requested = 0;
  isDrained = false;
  #policy;
  #exhausted = false;
  #awaited = 0;
  #refs = 0;
  readonly #choices: Choices;
  readonly #settings: Settings;
  readonly #lengthOf: (promptId: string) => number;

  constructor(given: Settings, choices: Choices, lengthOf: (promptId: string) => number) {
    this.#policy = create(roundComposition, given);
    this.#settings = given;
    this.#choices = choices;
    this.#lengthOf = lengthOf;
    this.size = roundSize(roundComposition.config.parse(given));
  }

  get awaited(): number {
    return this.#awaited;
  }

  request(): void {
    this.#send({ type: 'round.requested', at: 0, roundId: `r${this.requested++}`, weightVersion: 0 });
  }

  supply(ids: readonly string[]): void {
    const prompts = ids.map((promptId) => {
      const ref = `n${this.#refs++}`;
      this.here.set(ref, { promptId, passed: 0, cameBack: 0 });
      return { promptId, ref };
    });
    this.#awaited = Math.max(0, this.#awaited - ids.length);
    this.#send({ type: 'prompts.supplied', at: 0, roundId: `r${this.requested - 1}`, prompts });
  }

  exhaust(): void {
    this.#exhausted = true;
    this.#awaited = 0;
    this.#send({ type: 'source.exhausted', at: 0 });
  }

  reopen(): void {
    this.#exhausted = false;
    this.isDrained = false;
    this.#send({ type: 'source.reopened', at: 0 });
  }

  restart(): void {
    this.#send({ type: 'host.restarted', at: 0, idPrefix: `h${this.#refs}-` });
  }

  /** Gives a prompt of an earlier round back. */
  giveBack(prompt: Prompt): void {
    for (const one of this.here.values()) one.cameBack += 1;
    this.here.set(prompt.ref!, { promptId: prompt.promptId, passed: 0, cameBack: 0 });
    this.#send({
      ...{ type: 'prompt.returned', at: 0, prompt, roundId: 'x', dropped: [], reason: { code: 'round_failed' } },
    });
  }

  #send(event: object): void {
    const before = this.#saved();
    const decisions = this.#policy.send(event as never);
    for (const decision of decisions) this.#told(decision, before);
    const { due, window, copies, later } = this.#saved();
    const refs = [...due, ...window.map((one) => one.prompt), ...copies, ...later].map((one) => one.ref!);
    expect(refs.sort()).toEqual([...this.here.keys()].sort()); // invariant 1
    if (this.#choices.below(10) === 0) {
      this.#policy = create(roundComposition, { snapshot: JSON.parse(JSON.stringify(this.#policy.snapshot())) });
    }
  }

  #saved(): Saved {
    return this.#policy.snapshot().state as never;
  }

  #told(decision: RoundCompositionDecision, before: Saved): void {
    if (decision.type === 'prompts.request') this.#awaited = decision.count;
    if (decision.type === 'source.drained') {
      expect(this.here.size).toBe(0); // invariant 7
      this.isDrained = true;
    }
    if (decision.type !== 'round.planned') return;
    this.rounds.push(decision);
    const { queued } = decision;
    const ids = queued.map((one) => one.promptId);
    expect(new Set(ids).size).toBe(ids.length); // invariant 2
    const distinct = new Set([...this.here.values()].map((one) => one.promptId)).size;
    if (!this.#exhausted) expect(ids.length).toBe(Math.min(this.size, distinct)); // invariant 3
    for (const { ref } of queued) expect(this.here.delete(ref!)).toBe(true);
    const inWindow = new Set(before.window.map((one) => one.prompt.ref!));
    for (const [ref, one] of this.here) {
      if (!inWindow.has(ref)) continue;
      one.passed += 1;
      const most = this.#settings.windowRounds - 1 + Math.ceil(one.cameBack / this.size);
      expect(one.passed).toBeLessThanOrEqual(most); // invariant 4
    }
    this.#report(decision);
  }

  /** Reports the responses of a round, sooner or later. */
  #report({ queued, roundId }: Planned): void {
    for (const { promptId } of queued) {
      const responses = Array.from({ length: this.#settings.responsesPerPrompt }, (_, index) => {
        const tokens = this.#lengthOf(promptId) + (this.#lengthOf(promptId) > 0 ? this.#choices.below(20) : 0);
        return { requestId: `${promptId}/${index}#0`, tokens };
      });
      const reason = { code: 'no_filter', counted: 1, needed: 1 } as const;
      this.#policy.send({ type: 'prompt.counted', at: 0, promptId, roundId, responses, reason });
    }
  }
}

/** Supplies what is asked for, in portions. */
function supplyAll(host: Host, next: () => string | undefined, choices: Choices): void {
  while (host.awaited > 0) {
    const portion: string[] = [];
    for (let left = 1 + choices.below(host.awaited); left > 0; left -= 1) {
      const one = next();
      if (one !== undefined) portion.push(one);
    }
    if (portion.length > 0) host.supply(portion);
    else host.exhaust();
  }
}

/** Returns the prompts of several epochs, each in another order. */
function epochs(prompts: number, count: number, choices: Choices): string[][] {
  return Array.from({ length: count }, () => {
    const order = Array.from({ length: prompts }, (_, index) => `p${index}`);
    for (let at = order.length - 1; at > 0; at -= 1) {
      const other = choices.below(at + 1);
      [order[at], order[other]] = [order[other]!, order[at]!];
    }
    return order;
  });
}

const counts = (ids: readonly string[]): [string, number][] =>
  [...new Set(ids)].sort().map((id) => [id, ids.filter((one) => one === id).length]);

describe('round-composition', () => {
  test('invariants 1 to 4 and 7 hold while prompts come again, come back, and come in any number', () => {
    fc.assert(
      fc.property(settings, tapes(), (given, tape) => {
        const choices = choicesFrom(tape);
        const host = new Host(given, choices, (id) => 10 * 2 ** Number(id.slice(1)));
        const ids = 1 + choices.below(12);
        for (let step = 0; step < 60; step += 1) {
          const draw = () => (choices.below(30) === 0 ? undefined : `p${choices.below(ids)}`);
          if (choices.below(8) === 0) host.restart();
          if (choices.below(8) === 0) host.reopen();
          const lost = host.rounds.at(-1 - choices.below(3));
          const one = lost?.queued.splice(0, 1)[0];
          if (one !== undefined && choices.below(3) === 0) host.giveBack(one);
          if (host.requested > 0 && choices.below(6) === 0) host.supply([`p${choices.below(ids)}`]);
          host.request();
          supplyAll(host, draw, choices);
        }
      }),
      runs(300),
    );
  });

  test('invariant 5: equals the order of the data where nothing is known, or all is the same', () => {
    fc.assert(
      fc.property(settings, fc.boolean(), fc.nat(20), tapes(), (given, isSame, prompts, tape) => {
        const choices = choicesFrom(tape);
        const window = given.windowRounds * roundSize(roundComposition.config.parse(given));
        // Either every prompt is new, or all responses have the same length, and no window holds a prompt twice.
        const epoch = [...Array(prompts + (isSame ? window : 3 * window)).keys()].map(String);
        const data = isSame ? [...epoch, ...epoch, ...epoch] : epoch;
        const host = new Host({ ...given, rememberedPrompts: 1000 }, choices, (id) =>
          isSame ? 0 : 10 * Number(id) + 10,
        );
        let at = 0;
        while (!host.isDrained) {
          host.request();
          supplyAll(host, () => data[at++], choices);
        }
        expect(host.rounds.flatMap(({ queued }) => queued.map((one) => one.promptId))).toEqual(data);
      }),
      runs(200),
    );
  });

  test('invariant 6: over each whole epoch, each prompt is in a round once, at most W − 1 rounds from its place', () => {
    const windows = { smaller: 0, larger: 0 };
    fc.assert(
      fc.property(settings, fc.integer({ min: 1, max: 60 }), fc.boolean(), tapes(), (given, prompts, ends, tape) => {
        const choices = choicesFrom(tape);
        const lengthOf = (id: string) => 10 * 2 ** (Number(id.slice(1)) % 13);
        const rememberedPrompts = ends ? given.rememberedPrompts : 1000;
        const host = new Host({ ...given, rememberedPrompts }, choices, lengthOf);
        windows[prompts < host.size * given.windowRounds ? 'larger' : 'smaller'] += 1;
        const data = epochs(prompts, 4, choices);
        const stream = data.flat();
        let at = 0;
        // The source either ends with each epoch, and begins again, or goes on.
        for (const end of ends ? data.map((_, epoch) => (epoch + 1) * prompts) : [stream.length]) {
          host.reopen();
          while (!host.isDrained) {
            host.request();
            supplyAll(host, () => (at < end ? stream[at++] : undefined), choices);
          }
        }
        const trained = host.rounds.flatMap(({ queued }) => queued.map((one) => one.promptId));
        for (const [epoch, ids] of data.entries()) {
          expect(counts(trained.slice(epoch * prompts, (epoch + 1) * prompts))).toEqual(counts(ids));
        }
        // Where an epoch ends within a round, a copy may have to wait for the one before it.
        const isWhole = ends || prompts % host.size === 0;
        const most = given.windowRounds - 1 + (isWhole ? 0 : prompts < 2 * host.size ? 2 : 1);
        let round = 0;
        const perEpoch = Math.ceil(prompts / host.size);
        const place = new Map(stream.map((id, index) => [`${id} ${Math.floor(index / prompts)}`, index]));
        let planned = 0;
        for (const { queued } of host.rounds) {
          for (const { promptId } of queued) {
            const epoch = Math.floor(planned++ / prompts);
            const index = place.get(`${promptId} ${epoch}`)!;
            const before =
              ends || prompts < host.size
                ? epoch * perEpoch + Math.floor((index - epoch * prompts) / host.size)
                : Math.floor(index / host.size);
            expect(Math.abs(before - round)).toBeLessThanOrEqual(most);
          }
          round += 1;
        }
      }),
      runs(300),
    );
    expect(Math.min(windows.smaller, windows.larger)).toBeGreaterThan(met(50));
  });
});
