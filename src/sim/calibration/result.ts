/** The results of a calibration. */

import type { Job } from '../colocated/job.ts';
import type { CostModel } from '../models/cost-model.ts';

/** A measured duration, with the simulated one. */
export interface FittedSeconds {
  /** Whether the model was fitted to this measurement, or is only checked with it. */
  readonly use: 'fit' | 'check';
  /** Seconds that were measured. */
  readonly measuredSeconds: number;
  /** Simulated seconds for the same lengths. */
  readonly simulatedSeconds: number;
  /** Simulated ÷ measured − 1. */
  readonly error: number;
}

/** A measured step in the fitted model. */
export interface CalibratedStep {
  /** Index among the measured steps, from 0. */
  readonly index: number;
  /** Prompts of the measured rollout. */
  readonly prompts: number;
  /** Number of responses. */
  readonly responses: number;
  /** Tokens of all responses. */
  readonly tokens: number;
  /** Tokens of the longest response. */
  readonly longestTokens: number;
  /** The rollout, measured and simulated. */
  readonly rollout: FittedSeconds;
  /** The training, if it was measured. */
  readonly training?: FittedSeconds;
}

/** A job with fitted costs. */
export interface Calibration {
  /** The job with the fitted costs. */
  readonly job: Job;
  /** Names of the fitted costs. */
  readonly fitted: readonly (keyof CostModel)[];
  /** Training time of a step as large as the first measured one, as two numbers; absent if no training was measured. */
  readonly training?: { readonly fixedSeconds: number; readonly secondsPerToken: number };
  /** The measured steps, each with the error of the model. */
  readonly steps: readonly CalibratedStep[];
  /** Warnings to read before you rely on the calibration. */
  readonly warnings: readonly string[];
}
