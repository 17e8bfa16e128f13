/**
 * Shows the least that engines need for work of known lengths, against which oracles and policies are held: no schedule of the
 * simulator beats it.
 */
import { baseSeconds, type CostModel } from '../../../src/sim/models/cost-model.ts';

/** What engines have to do, whoever schedules. */
export interface Work {
  /** Tokens to generate. */
  readonly tokens: number;
  /** Σ of the contexts over all steps of all responses. */
  readonly contextTokens: number;
  /** The same without what responses may share in the KV cache. */
  readonly ownTokens: number;
  /** Seconds of reading what has to be read at least once. */
  readonly readSeconds: number;
}

/** Σ of the contexts of so many steps, of which the first has this context. */
export const contextsOf = (first: number, tokens: number): number => tokens * first + (tokens * (tokens - 1)) / 2;

/**
 * Returns the least seconds of work, over all engines. A step has at most `maxRunningSequences` sequences, whose contexts fit the KV
 * cache, so that there is a least number of steps. A step of b sequences takes α(b), which is convex: equal steps take least together,
 * and more steps take more.
 */
export function leastSeconds(cost: CostModel, { tokens, contextTokens, ownTokens, readSeconds }: Work): number {
  if (cost.expertSeconds > 0 || cost.drafts !== undefined) throw new Error('expected a dense model without drafts');
  const steps = Math.max(tokens / cost.maxRunningSequences, ownTokens / cost.kvCapacityTokens);
  return steps * baseSeconds(cost, tokens / steps) + cost.secondsPerContextToken * contextTokens + readSeconds;
}
