/** The data source as a machine: prompts that a policy asks for come at once. */
import type { AnyEvent } from '../../core/definition.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { Machine } from './machine.ts';
import type { PromptSource } from './source.ts';

/** Deals as many as are asked for. */
export class PromptSupply implements Machine {
  readonly #source: PromptSource;
  #asked: { readonly at: number; readonly roundId: string; readonly count: number }[] = [];

  constructor(source: PromptSource) {
    this.#source = source;
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    if (decision.type !== 'prompts.request') return;
    this.#asked.push({ at, roundId: decision.roundId, count: decision.count });
  }

  nextAt(): number {
    return this.#asked[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  advanceTo(at: number): AnyEvent[] {
    const asked = this.#asked;
    this.#asked = [];
    return asked.map(({ roundId, count }) => {
      return { type: 'prompts.supplied', at, roundId, prompts: this.#source.take(count) } as AnyEvent;
    });
  }
}
