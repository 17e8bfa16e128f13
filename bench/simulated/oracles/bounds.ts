/** Shows nothing by itself: bounds that no schedule of the simulator can beat, against which its oracles are held. */
import { baseSeconds, type CostModel } from '../../../src/sim/models/cost-model.ts';

/** What engines have to do, whoever schedules. */
export interface Work {
  /** Tokens to generate. */
  readonly tokens: number;
  /** Σ of the contexts over all steps of all responses: each token reads the context before it. */
  readonly contextTokens: number;
  /** The same without what responses may share in the KV cache. */
  readonly ownTokens: number;
  /** Tokens that have to be read at least once. */
  readonly readTokens: number;
}

/** Σ of the contexts of `tokens` steps, the first of which has this context. */
export const contextsOf = (first: number, tokens: number): number => tokens * first + (tokens * (tokens - 1)) / 2;

/**
 * Least seconds of work, over all engines. A step has at most `maxRunningSequences` sequences, whose contexts fit the KV cache, so that
 * there are at least N steps; α is convex, so that N equal steps cost least, and more steps cost more.
 */
export function leastSeconds(cost: CostModel, { tokens, contextTokens, ownTokens, readTokens }: Work): number {
  if (cost.expertSeconds > 0 || cost.drafts !== undefined) throw new Error('expected a dense model without drafts');
  const steps = Math.max(tokens / cost.maxRunningSequences, ownTokens / cost.kvCapacityTokens);
  const decoding = steps === 0 ? 0 : steps * baseSeconds(cost, tokens / steps);
  return decoding + cost.secondsPerContextToken * contextTokens + cost.prefillSecondsPerToken * readTokens;
}
