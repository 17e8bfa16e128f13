/** Counters of the requests that an engine has accepted: each request is in flight, or has ended in exactly one way. */
import type { Ending, Generation } from './generation.ts';
import { Histogram, secondsBounds, tokenBounds } from './histogram.ts';

/** Counts requests by how they ended, and tokens. A crash does not reset the counts. */
export class Counts {
  /** Accepted requests. */
  accepted = 0;
  /** Requests that ended with an end token. */
  stop = 0;
  /** Requests that ended at their token limit. */
  length = 0;
  /** Aborted requests. */
  abort = 0;
  /** Requests that were lost in a crash of their engine. */
  lost = 0;
  /** Tokens of the prompts of requests that have ended. */
  promptTokens = 0;
  /** Number of prompt tokens that were in the prefix cache. */
  cachedTokens = 0;
  /** Tokens generated for requests that ended with an end token or at their limit. */
  completedTokens = 0;
  /** Tokens generated for aborted requests. */
  abortedTokens = 0;
  /** Tokens generated for lost requests. */
  lostTokens = 0;

  /** Number of unfinished requests per id, and number of all unfinished streamed requests. */
  readonly #open = new Map<string, number>();
  #streams = 0;
  readonly #sizes = {
    prompts: new Histogram(tokenBounds),
    responses: new Histogram(tokenBounds),
    seconds: new Histogram(secondsBounds),
  };

  /** Sizes of the requests that have ended: tokens of prompts and responses, simulated seconds. */
  get sizes(): Readonly<Record<'prompts' | 'responses' | 'seconds', Histogram>> {
    return this.#sizes;
  }

  /** Streamed requests that have not ended. */
  get streams(): number {
    return this.#streams;
  }

  /** Whether an unfinished request has this id. */
  has(requestId: string): boolean {
    return this.#open.has(requestId);
  }

  /** Counts an accepted request. */
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
  end({ requestId, listener, count, planned, cachedTokens, acceptedAt, endedAt }: Generation, ending: Ending): void {
    const left = this.#open.get(requestId)! - 1;
    if (left === 0) this.#open.delete(requestId);
    else this.#open.set(requestId, left);
    if (listener.progress !== undefined) this.#streams -= 1;
    this[ending] += 1;
    this.promptTokens += planned.promptTokens;
    this.cachedTokens += cachedTokens;
    this.#sizes.prompts.add(planned.promptTokens);
    this.#sizes.responses.add(count);
    this.#sizes.seconds.add(endedAt - acceptedAt);
    if (ending === 'abort') this.abortedTokens += count;
    else if (ending === 'lost') this.lostTokens += count;
    else this.completedTokens += count;
  }
}
