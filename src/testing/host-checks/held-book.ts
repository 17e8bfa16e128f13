/** Prompts and complete responses that a host has handed over and not received back. */
import type { Prompt } from '../../schemas/index.ts';
import { claim } from './host-rules.ts';
import { addTo, fewer, type Multiset, multisetOf, textOfSet } from './multiset.ts';

/** Ids of the prompts and responses in the ledgers of a policy. An id that is held twice is listed twice. */
export interface Places {
  /** Ids of prompts. */
  readonly prompts: readonly string[];
  /** Request ids of complete responses. */
  readonly responses: readonly string[];
}

interface Named {
  readonly requestId: string;
}

/** Prompts and responses that a policy must hold. */
export class HeldBook {
  readonly #prompts: Multiset = new Map();
  readonly #responses: Multiset = new Map();
  readonly #accepted = new Set<string>();

  /** Prompts that the policy must hold, each with its count. */
  get prompts(): readonly (readonly [string, number])[] {
    return [...this.#prompts];
  }

  /** Records that prompts come in, with their complete responses. */
  enter(prompts: readonly Prompt[]): void {
    for (const prompt of prompts) {
      addTo(this.#prompts, prompt.promptId, 1);
      for (const { requestId } of finished(prompt)) this.completed(requestId);
    }
  }

  /** Records that a prompt is handed back, with its complete responses. */
  leave(prompt: Prompt): void {
    this.promptLeft(prompt.promptId);
    this.drop(finished(prompt));
  }

  /** Records that a prompt leaves without its responses. */
  promptLeft(promptId: string): void {
    addTo(this.#prompts, promptId, -1);
  }

  /** Records that a complete response comes in. */
  completed(requestId: string): void {
    addTo(this.#responses, requestId, 1);
  }

  /** Records that complete responses are handed back or dropped. */
  drop(responses: readonly Named[]): void {
    for (const { requestId } of responses) addTo(this.#responses, requestId, -1);
  }

  /** Checks that an accepted response is in the book, and that it was not accepted before. */
  accepted(requestId: string): void {
    claim(!this.#accepted.has(requestId), `nothing twice: ${requestId} is accepted a second time`);
    claim(this.#responses.has(requestId), `${requestId} is accepted and is not there`);
    this.#accepted.add(requestId);
  }

  /** Checks that no id was handed over more often than it came in. */
  settle(): void {
    const bad = fewer(this.#prompts) ?? fewer(this.#responses);
    claim(bad === undefined, `nothing twice: ${bad} is handed over more often than it came in`);
  }

  /** Checks invariants 1 and 2: a policy holds exactly the recorded ids. */
  compareWith(held: Places): void {
    for (const [name, here, book] of [
      ['prompts', held.prompts, this.#prompts],
      ['responses', held.responses, this.#responses],
    ] as const) {
      const [got, want] = [textOfSet(multisetOf(here)), textOfSet(book)];
      claim(got === want, `nothing is lost, ${name}: the host has handed over ${want}, the policy holds ${got}`);
    }
  }
}

const finished = (prompt: Prompt): Named[] => (prompt.kept ?? []).filter((one) => one.finished);
