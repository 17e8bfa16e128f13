/** Counters of the requests that an engine has accepted: each request is in flight, or has ended in exactly one way. */
import type { Ending, Generation } from './generation.ts';

/** Requests by how they ended, and tokens. A crash does not reset them. */
export class Counts {
  /** Requests that were accepted. */
  accepted = 0;
  /** Requests that ended by themselves. */
  stop = 0;
  /** Requests that ended at their limit of tokens. */
  length = 0;
  /** Requests that were aborted. */
  abort = 0;
  /** Requests that were lost with their engine. */
  lost = 0;
  /** Tokens of the prompts of requests that have ended. */
  promptTokens = 0;
  /** Tokens generated for requests that ended by themselves or at their limit. */
  completedTokens = 0;
  /** Tokens generated for requests that were aborted. */
  abortedTokens = 0;
  /** Tokens generated for requests that were lost. */
  lostTokens = 0;

  /** Number of unfinished requests by id, and number of all unfinished requests that are streamed. */
  readonly #open = new Map<string, number>();
  #streams = 0;

  /** Requests that are streamed and have not ended. */
  get streams(): number {
    return this.#streams;
  }

  /** Whether a request of this id has not ended. */
  has(requestId: string): boolean {
    return this.#open.has(requestId);
  }

  /** Counts a request that is taken. */
  accept({ requestId, listener }: Generation): void {
    this.accepted += 1;
    this.#open.set(requestId, (this.#open.get(requestId) ?? 0) + 1);
    if (listener.progress !== undefined) this.#streams += 1;
  }

  /** Requests that have not ended. */
  get inFlight(): number {
    return this.accepted - this.stop - this.length - this.abort - this.lost;
  }

  /** Counts a request that has ended. */
  end({ requestId, listener, count, planned }: Generation, ending: Ending): void {
    const left = this.#open.get(requestId)! - 1;
    if (left === 0) this.#open.delete(requestId);
    else this.#open.set(requestId, left);
    if (listener.progress !== undefined) this.#streams -= 1;
    this[ending] += 1;
    this.promptTokens += planned.promptTokens;
    if (ending === 'abort') this.abortedTokens += count;
    else if (ending === 'lost') this.lostTokens += count;
    else this.completedTokens += count;
  }
}
