/** The KV cache that requests needed, now that all lengths are known. */

/** A request on an engine. */
export interface Decoding {
  /** Tokens in the KV cache now. */
  readonly heldTokens: number;
  /** Tokens that it still generated. */
  readonly leftTokens: number;
}

/** Returns the most tokens in the KV cache at one time, if all requests decode at the same pace from now on. */
export function peakTokens(requests: readonly Decoding[]): number {
  let [there, held, peak] = [0, 0, 0];
  // Requests that stay longest come first: until one ends, it and those before it are in the cache.
  for (const { heldTokens, leftTokens } of [...requests].sort((a, b) => b.leftTokens - a.leftTokens)) {
    there += 1;
    held += heldTokens;
    peak = Math.max(peak, held + there * leftTokens);
  }
  return peak;
}
