/**
 * Simulates the correctness of responses for which none is recorded. Each prompt has its own share of correct responses, so that
 * the responses to one prompt correlate, as their lengths do (a Gaussian copula). Correctness does not depend on length.
 */
import { z } from 'zod';
import { normal, normalDistribution, normalQuantile, uniform } from '../workload/random.ts';

const share = z.number().min(0).max(1);

/** Settings for the share of correct responses. */
export const correctnessSettings = {
  correctShare: share
    .default(0.5)
    .describe('Share of the responses that are correct; of code, of what ends by itself.'),
  correctCorrelation: share
    .lt(1)
    .default(0.5)
    .describe(
      'Correlation of the normal scores of correctness of two responses of one prompt. 0: every prompt is solved as often as all; 0.5 at a share of 0.5: solve rates of prompts are spread evenly from 0 to 1.',
    ),
};

/** Shares of correct responses. */
export interface CorrectnessSettings {
  readonly correctShare: number;
  readonly correctCorrelation: number;
}

// Keys of independent draws.
const [sampleKey, promptKey] = [103, 106];

/** Correctness of all samples in a workload, determined by seed, prompt and sample. */
export class Correctness {
  readonly #settings: CorrectnessSettings;
  readonly #seed: number;
  /** Share of correct responses per prompt, by prompt index. */
  readonly #rates = new Map<number, number>();

  constructor(settings: CorrectnessSettings, seed: number) {
    this.#settings = settings;
    this.#seed = seed;
  }

  /** Whether the sample of a prompt is correct, where this share of its responses is. */
  isCorrect(promptIndex: number, sample: number, rate = this.rateOf(promptIndex)): boolean {
    return uniform(this.#seed, sampleKey, promptIndex, sample) < rate;
  }

  /** Returns the share of correct responses to a prompt before anything was learnt. */
  rateOf(promptIndex: number): number {
    const { correctShare, correctCorrelation } = this.#settings;
    if (correctCorrelation === 0) return correctShare;
    const known = this.#rates.get(promptIndex);
    if (known !== undefined) return known;
    const effect = Math.sqrt(correctCorrelation) * normal(this.#seed, promptKey, promptIndex);
    const rate = normalDistribution((normalQuantile(correctShare) - effect) / Math.sqrt(1 - correctCorrelation));
    this.#rates.set(promptIndex, rate);
    return rate;
  }
}
