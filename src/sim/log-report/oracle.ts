/** The KV cache that requests needed, computed when all lengths are known. */

/** A request on an engine. */
export interface Decoding {
  /** Tokens in the KV cache at present. */
  readonly heldTokens: number;
  /** Tokens that the request will still generate. */
  readonly leftTokens: number;
}

/** Returns the largest number of tokens in the KV cache at any later time, if all requests decode at the same speed. */
export function peakTokens(requests: readonly Decoding[]): number {
  let [there, held, peak] = [0, 0, 0];
  // Requests that end last come first: when a request ends, the cache contains it and the requests before it.
  for (const { heldTokens, leftTokens } of [...requests].sort((a, b) => b.leftTokens - a.leftTokens)) {
    there += 1;
    held += heldTokens;
    peak = Math.max(peak, held + there * leftTokens);
  }
  return peak;
}
