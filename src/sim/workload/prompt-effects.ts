/**
 * Estimates what the responses of a prompt have in common if some of them were aborted. The normal score of a response is u + e:
 * u is the effect of the prompt, with variance ρ, and e is the response's own part, with variance 1 − ρ. The score of an aborted
 * response is only known to exceed that of its abort. ρ is the maximum-likelihood estimate, and u is drawn from its distribution
 * given the prompt's responses, both on a grid.
 */
import { normalDistribution, pickIndex } from './random.ts';

/** The normal scores of the responses of a prompt. */
export interface PromptScores {
  readonly exact: readonly number[];
  /** Scores at which responses were aborted. */
  readonly above: readonly number[];
}

/** The effects of prompts. */
export interface PromptEffects {
  /** ρ, 0 to 0.95. */
  readonly correlation: number;
  /** Returns the effect of a prompt, given its responses, at a share (0 to 1) of its distribution. */
  effect(row: number, share: number): number;
}

const nodes = Array.from({ length: 41 }, (_, index) => (index - 20) * 0.15);
const correlations = Array.from({ length: 20 }, (_, index) => index * 0.05);
/** Most prompts that ρ is estimated from: with more prompts, the grid would be coarser than the estimate. */
const mostForCorrelation = 400;
const leastShare = 1e-12;

/** Returns the log-likelihood of a prompt at each node, including that of the node itself, up to a constant. */
function logWeights({ exact, above }: PromptScores, correlation: number): number[] {
  const [shared, own] = [Math.sqrt(correlation), Math.sqrt(1 - correlation)];
  return nodes.map((node) => {
    const effect = shared * node;
    let sum = -(node * node) / 2 - exact.length * Math.log(own);
    for (const score of exact) sum -= ((score - effect) / own) ** 2 / 2;
    for (const score of above) sum += Math.log(Math.max(leastShare, 1 - normalDistribution((score - effect) / own)));
    return sum;
  });
}

function logSum(weights: readonly number[]): number {
  const most = Math.max(...weights);
  return most + Math.log(weights.reduce((sum, one) => sum + Math.exp(one - most), 0));
}

/**
 * Estimates ρ, and the effects.
 *
 * @param seed - chooses the prompts that ρ is estimated from, where there are many
 */
export function promptEffects(prompts: readonly PromptScores[], seed: number): PromptEffects {
  const sample =
    prompts.length <= mostForCorrelation
      ? prompts
      : Array.from({ length: mostForCorrelation }, (_, k) => prompts[pickIndex(prompts.length, seed, k)]!);
  let [correlation, best] = [0, -Infinity];
  for (const candidate of correlations) {
    const likelihood = sample.reduce((sum, one) => sum + logSum(logWeights(one, candidate)), 0);
    if (likelihood > best) [correlation, best] = [candidate, likelihood];
  }
  return {
    correlation,
    effect: (row, share) => {
      const weights = logWeights(prompts[row]!, correlation);
      const most = Math.max(...weights);
      const shares = weights.map((one) => Math.exp(one - most));
      let left = share * shares.reduce((sum, one) => sum + one, 0);
      let at = 0;
      while (at < nodes.length - 1 && left >= shares[at]!) left -= shares[at++]!;
      const within = shares[at] === 0 ? 0.5 : Math.min(1, left / shares[at]!);
      return Math.sqrt(correlation) * (nodes[at]! + (within - 0.5) * 0.15);
    },
  };
}
