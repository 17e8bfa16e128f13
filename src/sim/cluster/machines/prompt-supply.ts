/** The data source as a machine: prompts that a policy asks for come at once. */
import type { AnyEvent } from '../../../core/machine/definition.ts';
import type { VocabularyDecision } from '../../../schemas/decisions/index.ts';
import type { PromptSource } from '../source.ts';
import type { Machine } from './machine.ts';

const nothing: readonly AnyEvent[] = [];

/** Supplies the prompts of a source, and says when it is exhausted. */
export class PromptSupply implements Machine {
  readonly #source: PromptSource;
  #holdsDeferred: boolean;
  #asked: { readonly at: number; readonly roundId: string; readonly count: number }[] = [];
  #isExhausted = false;

  /** @param holdsDeferred - whether the policy keeps deferred and returned prompts; if not, the source gets them back */
  constructor(source: PromptSource, holdsDeferred: boolean) {
    this.#source = source;
    this.#holdsDeferred = holdsDeferred;
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'prompts.request':
        this.#asked.push({ at, roundId: decision.roundId, count: decision.count });
        break;
      case 'prompt.deferred':
        this.#source.deferred(decision.prompt);
        if (!this.#holdsDeferred) this.#source.giveBack(decision.prompt);
        break;
      case 'prompts.passed':
        for (const prompt of decision.prompts) this.#source.passedOver(prompt);
        break;
      case 'response.dropped':
        this.#source.dropped(decision.requestId);
        break;
      case 'prompt.returned':
        if (!this.#holdsDeferred) this.#source.giveBack(decision.prompt);
        break;
      default:
    }
  }

  /** Takes over after a host has supplied prompts: these were the next ones in the source. */
  supplied(roundId: string, count: number): void {
    this.#source.take(count);
    let left = count;
    this.#asked = this.#asked.flatMap((one) => {
      if (one.roundId !== roundId) return [one];
      const here = Math.min(left, one.count);
      left -= here;
      return here === one.count ? [] : [{ ...one, count: one.count - here }];
    });
  }

  /** Whether the policy keeps deferred and returned prompts, from now on. */
  set holdsDeferred(value: boolean) {
    this.#holdsDeferred = value;
  }

  /** Takes over that the source has no more prompts, or has some again. */
  set isExhausted(value: boolean) {
    this.#isExhausted = value;
  }

  nextAt(): number {
    return this.#asked[0]?.at ?? Infinity;
  }

  advanceTo(at: number): readonly AnyEvent[] {
    if (this.#asked.length === 0) return nothing;
    const asked = this.#asked;
    this.#asked = [];
    const events: AnyEvent[] = [];
    for (const { roundId, count } of asked) {
      const prompts = this.#source.take(count);
      if (prompts.length > 0) events.push({ type: 'prompts.supplied', at, roundId, prompts } as AnyEvent);
    }
    if (this.#source.left === 0 && !this.#isExhausted) {
      this.#isExhausted = true;
      events.push({ type: 'source.exhausted', at } as AnyEvent);
    }
    return events;
  }

  /** Returns the event that reopens an exhausted source after prompts have come back. */
  reopened(at: number): AnyEvent[] {
    if (!this.#isExhausted || this.#source.left === 0) return [];
    this.#isExhausted = false;
    return [{ type: 'source.reopened', at } as AnyEvent];
  }
}
