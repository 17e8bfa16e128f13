/** Workloads: prompts, and how long each of their responses would be. */
import { refuse } from '../../errors.ts';

/** A response that a prompt would give. */
export interface Sample {
  /** Tokens, at most the cap. */
  readonly tokens: number;
  /** Whether it ran into the cap. */
  readonly capped: boolean;
  /** Whether it is correct, where the trace has it. */
  readonly correct?: boolean;
}

/** A prompt of a workload. */
export interface WorkloadPrompt {
  /** Id of the prompt. */
  readonly promptId: string;
  /** Tokens of the prompt. */
  readonly promptTokens: number;
  /** Its task, where the trace has one. */
  readonly task?: string;
  /** Its place in the data set, where the workload has it at another one: rewards go with it. */
  readonly place?: number;
  /** Its id in the first epoch of the data set, where it has another one. */
  readonly firstId?: string;
  /** The id by which policies know it, if it is a prompt of an earlier epoch that comes back. */
  readonly comesBack?: string;
  /** Most samples that were drawn of it in earlier epochs: the reward model counts its samples on from this number. */
  readonly firstSample?: number;
  /**
   * Returns the k-th response of the prompt, k from 0. It depends on the workload's seed, the prompt and k alone: never on
   * earlier calls.
   */
  sample(k: number): Sample;
}

/** An endless sequence of prompts. */
export interface Workload {
  /** For people: tables and charts. */
  readonly name: string;
  /** The source of the lengths, in words. */
  readonly source: string;
  /** A caveat about the lengths, which becomes a note of every result. */
  readonly caveat?: string;
  /** The way responses are made: `recorded`, then `within-prompt`, `copula` or `parametric`; or `marginal`. */
  readonly resampling: string;
  /** Correlation of the normal scores of two responses of one prompt: 0 to 1. */
  readonly correlation: number;
  /** Longest response, in tokens. */
  readonly capTokens: number;
  /** Distinct prompts; later ones repeat them (further epochs). */
  readonly distinctPrompts: number;
  /** Returns the prompt at this place of the data set, from 0; the same for every caller. */
  prompt(index: number): WorkloadPrompt;
}

/** Refuses a cap or a seed that is none. Throws `PolicyError` `invalid_input`. */
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
