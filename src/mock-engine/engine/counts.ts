/** What an engine has done with the requests that it took: each of them is in exactly one of these. */
import type { Ending, Generation } from './generation.ts';

/** Requests by how they ended, and tokens. They go on counting when the engine crashes. */
export class Counts {
  /** Requests that were taken. */
  accepted = 0;
  stop = 0;
  length = 0;
  abort = 0;
  /** Requests that their engine was lost with. */
  lost = 0;
  /** Tokens of the prompts of requests that have ended. */
  promptTokens = 0;
  /** Tokens generated for requests that ended by themselves or at their limit. */
  completedTokens = 0;
  /** Tokens generated for requests that were aborted. */
  abortedTokens = 0;
  /** Tokens generated for requests that were lost. */
  lostTokens = 0;

  /** Requests that have not ended. */
  get inFlight(): number {
    return this.accepted - this.stop - this.length - this.abort - this.lost;
  }

  /** Counts a request that has ended. */
  end({ count, planned }: Generation, ending: Ending): void {
    this[ending] += 1;
    this.promptTokens += planned.promptTokens;
    if (ending === 'abort') this.abortedTokens += count;
    else if (ending === 'lost') this.lostTokens += count;
    else this.completedTokens += count;
  }
}
