/** Recognises the cap of a dump that does not say which responses were cut: many of them have exactly the largest length. */

/** The cap that lengths pile up at. */
export interface PileUp {
  /** The cap, in tokens. */
  readonly tokens: number;
  /** Responses of exactly this length. */
  readonly responses: number;
}

/** Least share of the responses that has the largest length, and least number: a few may be as long by chance. */
const [leastShare, leastResponses] = [0.01, 4];
/** How many times as frequent the largest length is as any nearby one. */
const timesNearby = 2;
/** Nearby lengths: those from this share of the largest on, and as many others as this in any case. */
const [nearbyShare, nearbyLengths] = [0.8, 10];

/**
 * Returns the cap that lengths pile up at, if they do. Where every length is frequent, the largest says nothing.
 *
 * @param sorted - lengths of responses in tokens, shortest first
 */
export function pileUpOf(sorted: ArrayLike<number>): PileUp | undefined {
  const tokens = sorted[sorted.length - 1] ?? 0;
  let [at, length, responses, most] = [sorted.length - 1, tokens, 0, 0];
  for (let lengths = 0; at >= 0 && (lengths <= nearbyLengths || length >= nearbyShare * tokens); lengths += 1) {
    const before = at;
    while (at >= 0 && sorted[at] === length) at -= 1;
    if (lengths === 0) responses = before - at;
    else most = Math.max(most, before - at);
    length = sorted[at] ?? 0;
  }
  const isMany = responses >= leastResponses && responses > leastShare * sorted.length;
  // Without any other length, all responses may be as long as they should be.
  return isMany && responses < sorted.length && responses >= timesNearby * most ? { tokens, responses } : undefined;
}

/**
 * Says that a pile-up is taken for the cap.
 *
 * @param all - responses of the dump
 */
export const pileUpSentence = ({ tokens, responses }: PileUp, all: number): string =>
  `${((100 * responses) / all).toFixed(1)}% of the responses have exactly ${tokens} tokens, and nothing says which were cut: ` +
  'this is taken for the cap of the dump (--cap says another)';
