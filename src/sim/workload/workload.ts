/** Workloads: prompts, and how long each of their responses would be. */
import { PolicyError } from '../../errors.ts';

/** A response that a prompt would give. */
export interface Sample {
  /** Tokens, at most the cap. */
  readonly tokens: number;
  /** Whether it ran into the cap. */
  readonly capped: boolean;
}

/** A prompt of a workload. */
export interface WorkloadPrompt {
  /** Id of the prompt. */
  readonly promptId: string;
  /** Tokens of the prompt. */
  readonly promptTokens: number;
  /** What it is about, where the trace says so. */
  readonly task?: string;
  /**
   * The k-th response of the prompt, k from 0. It depends on the workload's seed, the prompt and k alone: never on
   * what was asked before.
   */
  sample(k: number): Sample;
}

/** An endless sequence of prompts. */
export interface Workload {
  /** For people: tables and charts. */
  readonly name: string;
  /** Where the lengths come from, in words. */
  readonly source: string;
  /** What a reader must know of the lengths: a note of every result. */
  readonly caveat?: string;
  /** How responses come about: `recorded`, then `within-prompt`, `copula` or `parametric`; or `marginal`. */
  readonly resampling: string;
  /** Correlation of the normal scores of two responses of one prompt: 0 to 1. */
  readonly correlation: number;
  /** Longest response, in tokens. */
  readonly capTokens: number;
  /** Distinct prompts; later ones repeat them (further epochs). */
  readonly distinctPrompts: number;
  /** The prompt at this place of the data set, from 0; the same for every caller. */
  prompt(index: number): WorkloadPrompt;
}

/** Refuses a cap or a seed that is none. Throws `PolicyError` `invalid_input`. */
export function checkWorkload({ capTokens, seed }: { readonly capTokens: number; readonly seed: number }): void {
  const refuse = (path: string, expected: string, got: unknown): never => {
    throw new PolicyError('invalid_input', { expected, got, path });
  };
  if (!Number.isSafeInteger(capTokens) || capTokens < 1) refuse('capTokens', 'a whole number >= 1', capTokens);
  if (!Number.isSafeInteger(seed)) refuse('seed', 'a whole number', seed);
}

/** Cuts a length at the cap. */
export function capped(tokens: number, capTokens: number): Sample {
  const whole = Math.max(1, Math.round(tokens));
  return whole >= capTokens ? { tokens: capTokens, capped: true } : { tokens: whole, capped: false };
}
