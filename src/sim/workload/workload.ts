/** Workloads: prompts, and the lengths of their responses. */
import { refuse } from '../../errors.ts';

/** A response of a prompt. */
export interface Sample {
  /** Number of tokens, at most the cap. */
  readonly tokens: number;
  /** Whether the response reached the cap. */
  readonly capped: boolean;
  /** Whether the response is correct, if the trace has this. */
  readonly correct?: boolean;
}

/** A prompt of a workload. */
export interface WorkloadPrompt {
  /** Id of the prompt. */
  readonly promptId: string;
  /** Tokens of the prompt. */
  readonly promptTokens: number;
  /** Task of the prompt, if the trace has it. */
  readonly task?: string;
  /** Index in the data set, if different from the index in the workload: rewards depend on this index. */
  readonly place?: number;
  /** Id in the first epoch of the data set, if different. */
  readonly firstId?: string;
  /** For a prompt from an earlier epoch that comes again: the id under which policies know it. */
  readonly comesBack?: string;
  /** Predicted length of its longest response, in tokens, if the workload has predictions (`withPredictions`). */
  readonly expectedTokens?: number;
  /** Largest number of samples that earlier epochs have drawn; the reward model counts its samples from this number. */
  readonly firstSample?: number;
  /**
   * Returns the k-th response of the prompt, k from 0. The response depends only on the workload's seed, the prompt and k, never
   * on earlier calls.
   */
  sample(k: number): Sample;
}

/** An endless sequence of prompts. */
export interface Workload {
  /** Name for readers, in tables and charts. */
  readonly name: string;
  /** The source of the lengths, in words. */
  readonly source: string;
  /** A caveat about the lengths, which becomes a note of every result. */
  readonly caveat?: string;
  /** The method that makes responses: `recorded`, then `within-prompt`, `copula` or `parametric`; or `marginal`. */
  readonly resampling: string;
  /** Correlation between the normal scores of two responses to the same prompt: 0 to 1. */
  readonly correlation: number;
  /** The same for responses of different epochs, if the trace has prompts that come in several steps: 0 to `correlation`. */
  readonly correlationOfEpochs?: number;
  /** How predicted lengths come about; absent: prompts come without. */
  readonly predict?: 'noisy' | 'oracle';
  /** Error of noisy predictions: standard deviation of its logarithm. */
  readonly predictSigma?: number;
  /** Longest response, in tokens. */
  readonly capTokens: number;
  /** Number of distinct prompts; further prompts repeat them (further epochs). */
  readonly distinctPrompts: number;
  /** Returns the prompt at an index, from 0, the same for every caller. */
  prompt(index: number): WorkloadPrompt;
}

/** Sample numbers per epoch and prompt: more than a prompt needs in one epoch. */
export const samplesPerEpoch = 2 ** 20;

/** Refuses an invalid cap or seed. Throws `PolicyError` `invalid_input`. */
export function checkWorkload({ capTokens, seed }: { readonly capTokens: number; readonly seed: number }): void {
  if (!Number.isSafeInteger(capTokens) || capTokens < 1)
    refuse('invalid_input', 'capTokens', 'a whole number >= 1', capTokens);
  if (!Number.isSafeInteger(seed)) refuse('invalid_input', 'seed', 'a whole number', seed);
}

/** Cuts a length at the cap. */
export function capped(tokens: number, capTokens: number): Sample {
  const whole = Math.max(1, Math.round(tokens));
  return whole >= capTokens ? { tokens: capTokens, capped: true } : { tokens: whole, capped: false };
}
