/** Predicted lengths: what somebody knows of the responses of a prompt before they are generated. */

import { oneOf } from '../../core/ids/nearest.ts';
import { refuse } from '../../errors.ts';
import { normal } from './random.ts';
import type { Workload, WorkloadPrompt } from './workload.ts';

/** How prompts come: without a prediction, with one that errs, or with the truth. */
export const predicts = ['none', 'noisy', 'oracle'] as const;
/** How prompts come: without a prediction, with one that errs, or with the truth. */
export type Predict = (typeof predicts)[number];

/** Options of {@link withPredictions}. */
export interface PredictionOptions {
  /** `oracle`: the true length; `noisy`: the true length times a lognormal error; `none`: nothing. */
  readonly predict: Predict;
  /** R0: the prediction is of the longest among so many first responses of a prompt. */
  readonly responsesPerPrompt: number;
  /** Standard deviation of the natural logarithm of the error of `noisy`, whose median is 1; 0 to 5 (default 0.5). */
  readonly sigma?: number;
  /** Seed of the errors, a safe whole number (default 1). */
  readonly seed?: number;
}

const errorKey = 31;

/** The usual error of `noisy`: two of three predictions are between 0.6 and 1.65 times the truth. */
export const usualSigma = 0.5;

/**
 * Returns the workload whose prompts come with a predicted length (`expectedTokens`): that of the longest of the first responses of
 * a prompt. The lengths themselves are the same. A prompt that is put off keeps the prediction of its first try.
 *
 * @throws PolicyError `invalid_input` for an unknown way, or an error or a seed out of range
 */
export function withPredictions(workload: Workload, options: PredictionOptions): Workload {
  const { predict, responsesPerPrompt, sigma = usualSigma, seed = 1 } = options;
  if (!predicts.includes(predict)) refuse('invalid_input', 'predict', oneOf(predicts, predict), predict);
  if (!(sigma >= 0 && sigma <= 5)) refuse('invalid_input', 'sigma', 'a number from 0 to 5', sigma);
  if (!Number.isSafeInteger(seed)) refuse('invalid_input', 'seed', 'a whole number', seed);
  if (!Number.isSafeInteger(responsesPerPrompt) || responsesPerPrompt < 1)
    refuse('invalid_input', 'responsesPerPrompt', 'a whole number >= 1', responsesPerPrompt);
  if (predict === 'none') return workload;
  const errs = predict === 'noisy';
  return {
    ...workload,
    predict,
    ...(errs ? { predictSigma: sigma } : {}),
    prompt: (index): WorkloadPrompt => {
      const prompt = workload.prompt(index);
      let longest = 1;
      for (let k = 0; k < responsesPerPrompt; k += 1) longest = Math.max(longest, prompt.sample(k).tokens);
      const error = errs ? Math.exp(sigma * normal(seed, errorKey, index)) : 1;
      const expectedTokens = Math.min(workload.capTokens, Math.max(1, Math.round(longest * error)));
      return { ...prompt, expectedTokens };
    },
  };
}

/** Says in words which predictions prompts come with. */
export const predictionText = ({ predict, predictSigma }: Workload): string =>
  predict === 'noisy' ? `noisy (lognormal, sigma ${predictSigma})` : 'oracle (the true lengths)';
