/** The books of a host about what it has handed over and not got back: prompts, and complete responses. */
import type { Prompt } from '../schemas/index.ts';
import { claim } from './host-rules.ts';
import { addTo, fewer, type Multiset, multisetOf, textOfSet } from './multiset.ts';

/** Prompts and responses that a policy says it holds, by their ids; one that is held twice stands there twice. */
export interface Places {
  /** Ids of prompts. */
  readonly prompts: readonly string[];
  /** Request ids of complete responses. */
  readonly responses: readonly string[];
}

interface Named {
  readonly requestId: string;
}

/** Prompts and responses that a policy must have. */
export class PlaceBook {
  readonly #prompts: Multiset = new Map();
  readonly #responses: Multiset = new Map();
  readonly #accepted = new Set<string>();

  /** Prompts that must be there, and how often each. */
  get prompts(): readonly (readonly [string, number])[] {
    return [...this.#prompts];
  }

  /** Prompts come in, with the complete responses that they bring along. */
  enter(prompts: readonly Prompt[]): void {
    for (const prompt of prompts) {
      addTo(this.#prompts, prompt.promptId, 1);
      for (const { requestId } of finished(prompt)) this.completed(requestId);
    }
  }

  /** A prompt is handed back, with the complete responses that it takes along. */
  leave(prompt: Prompt): void {
    this.promptLeft(prompt.promptId);
    this.drop(finished(prompt));
  }

  /** A prompt leaves without its responses. */
  promptLeft(promptId: string): void {
    addTo(this.#prompts, promptId, -1);
  }

  /** A complete response comes in. */
  completed(requestId: string): void {
    addTo(this.#responses, requestId, 1);
  }

  /** Complete responses are handed back, or given up by name. */
  drop(responses: readonly Named[]): void {
    for (const { requestId } of responses) addTo(this.#responses, requestId, -1);
  }

  /** A response that is there is accepted, once. */
  accepted(requestId: string): void {
    claim(!this.#accepted.has(requestId), `nothing twice: ${requestId} is accepted a second time`);
    claim(this.#responses.has(requestId), `${requestId} is accepted and is not there`);
    this.#accepted.add(requestId);
  }

  /** Nothing was handed over that never came in, nor twice. */
  settle(): void {
    const bad = fewer(this.#prompts) ?? fewer(this.#responses);
    claim(bad === undefined, `nothing twice: ${bad} is handed over more often than it came in`);
  }

  /** Invariants 1 and 2: a policy holds exactly what the books say is there. */
  compareWith(places: Places): void {
    for (const [name, here, book] of [
      ['prompts', places.prompts, this.#prompts],
      ['responses', places.responses, this.#responses],
    ] as const) {
      const [got, want] = [textOfSet(multisetOf(here)), textOfSet(book)];
      claim(got === want, `nothing is lost, ${name}: the host has handed over ${want}, the policy holds ${got}`);
    }
  }
}

const finished = (prompt: Prompt): Named[] => (prompt.kept ?? []).filter((one) => one.finished);
