/** The Kaplan–Meier estimate of a length distribution from exact and censored lengths. */

/** A length; if it is censored, it is a lower bound. */
export interface Observation {
  readonly tokens: number;
  readonly censored: boolean;
}

/** An estimated distribution of lengths. */
export interface Survival {
  /** Returns the share of responses with more tokens than this. */
  beyond(tokens: number): number;
  /** Returns the length below which this share (0 to 1) of responses lies; `capTokens` beyond the observations. */
  quantile(share: number): number;
}

/** A share is a product of many factors, so that it equals a step of the distribution only up to rounding. */
const rounding = 1e-12;

/**
 * Estimates a distribution (Kaplan and Meier 1958). At equal lengths, exact observations count before censored ones.
 *
 * @param observations - at least one
 * @param capTokens - assumed length of responses that are longer than every observation
 */
export function survivalQuantile(observations: readonly Observation[], capTokens: number): Survival {
  const sorted = [...observations].sort((a, b) => a.tokens - b.tokens || Number(a.censored) - Number(b.censored));
  const lengths: number[] = [];
  const shares: number[] = [];
  let left = 1;
  for (const [index, { tokens, censored }] of sorted.entries()) {
    if (censored) continue;
    left *= 1 - 1 / (sorted.length - index);
    if (lengths[lengths.length - 1] === tokens) shares[shares.length - 1] = left;
    else {
      lengths.push(tokens);
      shares.push(left);
    }
  }
  return {
    beyond: (tokens) => {
      const at = firstWhere(lengths.length, (index) => lengths[index]! > tokens) - 1;
      return at < 0 ? 1 : shares[at]!;
    },
    quantile: (share) => {
      const at = firstWhere(lengths.length, (index) => 1 - shares[index]! >= share - rounding);
      return at < lengths.length ? lengths[at]! : capTokens;
    },
  };
}

/**
 * Returns the first index from which a condition holds; n if it never holds. The condition must hold for all later indices, too.
 */
function firstWhere(n: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
