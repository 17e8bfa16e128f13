/** What a calibration gives back. */
import type { CostModel } from '../cost-model.ts';
import type { Job } from '../host/job.ts';

/** A measured duration beside that of the model. */
export interface FittedSeconds {
  /** Whether the model was fitted to it, or is checked by it. */
  readonly use: 'fit' | 'check';
  readonly measuredSeconds: number;
  readonly simulatedSeconds: number;
  /** Simulated ÷ measured − 1. */
  readonly error: number;
}

/** A measured step in the fitted model. */
export interface CalibratedStep {
  /** Its place among the measured ones, from 0. */
  readonly index: number;
  readonly prompts: number;
  readonly responses: number;
  readonly tokens: number;
  readonly longestTokens: number;
  readonly rollout: FittedSeconds;
  readonly training?: FittedSeconds;
}

/** A job with fitted costs. */
export interface Calibration {
  readonly job: Job;
  /** Which costs were fitted. */
  readonly fitted: readonly (keyof CostModel)[];
  /** Training of a step as large as the first measured one, in two numbers; absent if no training was measured. */
  readonly training?: { readonly fixedSeconds: number; readonly secondsPerToken: number };
  readonly steps: readonly CalibratedStep[];
  /** What a reader must know before relying on it. */
  readonly warnings: readonly string[];
}
