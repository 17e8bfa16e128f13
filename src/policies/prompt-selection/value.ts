/**
 * What the responses to a prompt are expected to teach, and how many each prompt of a round gets: one more goes to where it is
 * expected to teach most for its tokens. Only additions, products and quotients of doubles are used, so that the
 * same history gives the same numbers on every machine.
 */

import { Heap } from '../../core/collections/heap.ts';
import { logLengthOf, tokensAt } from '../../core/lengths/scale.ts';
import type { PromptSelectionConfig } from '../../generated/settings/prompt-selection.ts';

/** Sums of rewards, in which older ones count less: of a prompt, or of a domain. */
export interface Evidence {
  /** Weight of the responses. */
  readonly responses: number;
  /** Sum of the rewards; with binary rewards, of passes. */
  readonly sum: number;
  /** Sum of the squares of the rewards. */
  readonly squares: number;
  /** Weight of the groups of responses. */
  readonly groups: number;
  /** Weight of the groups whose rewards differ. */
  readonly differing: number;
}

/** What is known of a prompt, its domain included. */
export interface Posterior {
  /** With binary rewards: passes and fails of a Beta distribution of the pass rate. */
  readonly passes: number;
  readonly fails: number;
  /** Mean of p · (1 − p), or variance of the rewards on a scale. */
  readonly variance: number;
  /** With rewards on a scale: chance that those of a group differ. */
  readonly differing: number;
}

/** A pass rate of which nothing is known counts as 1/2, with the weight of so many responses. */
const unknownWeight = 2;

/** Returns what is known of a prompt: what the domain says counts as `priorResponses` of its own responses. */
export function posteriorOf(config: PromptSelectionConfig, domain: Evidence, own: Evidence): Posterior {
  const { priorResponses: prior, rewards } = config;
  const { responses, sum } = own;
  const total = responses + prior;
  if (rewards === 'binary') {
    const rate = (domain.sum + unknownWeight / 2) / (domain.responses + unknownWeight);
    const passes = sum + prior * rate;
    const fails = responses - sum + prior * (1 - rate);
    return { passes, fails, variance: (passes * fails) / (total * (total + 1)), differing: 0 };
  }
  const spread = (of: Evidence): number =>
    of.responses === 0 ? 0 : Math.max(0, of.squares - (of.sum * of.sum) / of.responses);
  const ofDomain = domain.responses === 0 ? 0 : spread(domain) / domain.responses;
  const rate = (domain.differing + unknownWeight / 2) / (domain.groups + unknownWeight);
  const priorGroups = prior / config.responsesPerPrompt;
  return {
    ...{ passes: 0, fails: 0 },
    variance: (spread(own) + prior * ofDomain) / total,
    differing: (own.differing + priorGroups * rate) / (own.groups + priorGroups),
  };
}

/** Returns the chance that the rewards of n responses are not all the same, 0 to 1. */
export function chanceToDiffer({ rewards }: PromptSelectionConfig, of: Posterior, n: number): number {
  if (rewards === 'real') return of.differing;
  const { passes, fails } = of;
  let allPass = 1;
  let allFail = 1;
  for (let i = 0; i < n; i += 1) {
    const all = passes + fails + i;
    allPass *= (passes + i) / all;
    allFail *= (fails + i) / all;
  }
  return Math.min(1, Math.max(0, 1 - allPass - allFail));
}

/**
 * Returns what n responses are expected to teach: where advantages are divided by the standard deviation, the chance that rewards
 * differ; else (n − 1) × the variance of rewards.
 */
export function teaches(config: PromptSelectionConfig, of: Posterior, n: number): number {
  return config.normalization === 'std' ? chanceToDiffer(config, of, n) : (n - 1) * of.variance;
}

/** Returns 1 + tokens to the power `exponent`, about: from 1 to 1 + tokens. */
export function costOf(tokens: number, exponent: number): number {
  return 1 + tokensAt(exponent * logLengthOf(Math.round(tokens)));
}

/** A prompt that gets responses. */
export interface Share {
  /** Returns what n responses teach: concave in n, so that going step by step finds the best. */
  value(n: number): number;
  /** What one response costs, > 0: a step is the better, the more it teaches for it. */
  readonly cost: number;
  /** What one response takes of the budget, >= 0. */
  readonly size: number;
}

/** How much there is to share out. */
export interface Budget {
  readonly least: number;
  readonly most: number;
  /** Most responses of all prompts together. */
  readonly responses: number;
  /** Most of all sizes together. */
  readonly total: number;
}

/** Shares responses out: returns their numbers, in the order of the prompts; each has `least` of them in any case. */
export function shareOut(prompts: readonly Share[], { least, most, responses, total }: Budget): number[] {
  const counts = prompts.map(() => least);
  let left = responses - least * prompts.length;
  let room = total - prompts.reduce((sum, { size }) => sum + size * least, 0);
  if (most === least || left <= 0) return counts;
  const gainOf = (index: number): number => {
    const { value, cost } = prompts[index]!;
    const n = counts[index]!;
    return (value(n + 1) - value(n)) / cost;
  };
  const next = new Heap<{ index: number; gain: number }>((a, b) => b.gain - a.gain || a.index - b.index);
  for (let index = 0; index < prompts.length; index += 1) next.push({ index, gain: gainOf(index) });
  for (let best = next.pop(); best !== undefined && left > 0; best = next.pop()) {
    const { index } = best;
    const { size } = prompts[index]!;
    if (size > room) continue;
    counts[index]! += 1;
    left -= 1;
    room -= size;
    if (counts[index]! < most) next.push({ index, gain: gainOf(index) });
  }
  return counts;
}
