/** The requests of prompts that have left, so that what is late is told from what was never minted. */
import { Fifo } from '../../core/fifo.ts';

/** What was launched for a prompt. */
export interface Launched {
  readonly promptId: string;
  /** The lowest attempt that was minted. */
  readonly first: number;
  /** The highest one. */
  readonly last: number;
  /** Above every index that was launched. */
  readonly indices: number;
  /** Prefixes that were in use meanwhile, counted from 0: the first. */
  readonly firstPrefix: number;
  /** The last one. */
  readonly lastPrefix: number;
}

/** How many prompts are remembered: those of the last rounds. */
const leastRemembered = 64;
const roundsRemembered = 4;

/**
 * The last prompts that have left: as many as four rounds train on, and at least 64. Every operation is O(1), but for
 * prompts that came and left several times since.
 */
export class Departures implements Iterable<Launched> {
  readonly #most: number;
  readonly #inOrder = new Fifo<Launched>();
  readonly #byPrompt = new Map<string, Launched[]>();
  #horizon: number;

  /** @param horizon - the attempt number below which nothing is known for sure */
  constructor(promptsPerRound: number, horizon = 0) {
    this.#most = Math.max(leastRemembered, roundsRemembered * promptsPerRound);
    this.#horizon = horizon;
  }

  /** Attempts below this may be of prompts that are forgotten. */
  get horizon(): number {
    return this.#horizon;
  }

  /** What was launched for a prompt of this name, each time that it was here; oldest first. */
  of(promptId: string): readonly Launched[] {
    return this.#byPrompt.get(promptId) ?? [];
  }

  /** Remembers what was launched for a prompt, and forgets the oldest where there is no more room. */
  add(launched: Launched): void {
    const same = this.#byPrompt.get(launched.promptId);
    if (same === undefined) this.#byPrompt.set(launched.promptId, [launched]);
    else same.push(launched);
    this.#inOrder.push(launched);
    if (this.#inOrder.size > this.#most) this.#forget(this.#inOrder.shift()!);
  }

  #forget({ promptId, last }: Launched): void {
    this.#horizon = Math.max(this.#horizon, last + 1);
    const same = this.#byPrompt.get(promptId)!;
    same.shift();
    if (same.length === 0) this.#byPrompt.delete(promptId);
  }

  [Symbol.iterator](): Iterator<Launched> {
    return this.#inOrder[Symbol.iterator]();
  }
}
