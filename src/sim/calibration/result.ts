/** The results of a calibration. */

import type { Job } from '../colocated/job.ts';
import type { CostModel } from '../cost-model.ts';

/** A measured duration beside that of the model. */
export interface FittedSeconds {
  /** Whether the model was fitted to it, or is checked by it. */
  readonly use: 'fit' | 'check';
  /** Seconds that were measured. */
  readonly measuredSeconds: number;
  /** Seconds of the model for the same lengths. */
  readonly simulatedSeconds: number;
  /** Simulated ÷ measured − 1. */
  readonly error: number;
}

/** A measured step in the fitted model. */
export interface CalibratedStep {
  /** Its place among the measured ones, from 0. */
  readonly index: number;
  /** Prompts of the measured rollout. */
  readonly prompts: number;
  /** Number of its responses. */
  readonly responses: number;
  /** Tokens of all its responses. */
  readonly tokens: number;
  /** Tokens of the longest of them. */
  readonly longestTokens: number;
  /** Its rollout, measured and simulated. */
  readonly rollout: FittedSeconds;
  /** Its training, where it was measured. */
  readonly training?: FittedSeconds;
}

/** A job with fitted costs. */
export interface Calibration {
  /** The job with the costs that were fitted. */
  readonly job: Job;
  /** Names of the fitted costs. */
  readonly fitted: readonly (keyof CostModel)[];
  /** Training of a step as large as the first measured one, in two numbers; absent if no training was measured. */
  readonly training?: { readonly fixedSeconds: number; readonly secondsPerToken: number };
  /** The measured steps, and how well the model reproduces each. */
  readonly steps: readonly CalibratedStep[];
  /** Warnings to read before relying on it. */
  readonly warnings: readonly string[];
}
