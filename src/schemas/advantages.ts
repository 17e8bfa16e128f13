/** Settings of group-relative advantages (RolloutPipe §3.2, equation 1). */
import { z } from 'zod';
import { largestReward } from './units.ts';

/** The settings of advantages, as fields of a configuration or of a planner's input. */
export const advantageFields = {
  baseline: z
    .enum(['group', 'leave-one-out'])
    .default('group')
    .describe('What is taken off a reward: the mean of its group, or of the others in it.'),
  normalization: z
    .enum(['std', 'none'])
    .default('std')
    .describe('Whether the difference is divided by standard deviation + `epsilon`.'),
  std: z
    .enum(['sample', 'population'])
    .default('sample')
    .describe('Which standard deviation: over n − 1 (`sample`, as `torch.std`) or over n (`population`).'),
  epsilon: z.number().min(0).max(largestReward).default(1e-6).describe('Added to the standard deviation.'),
  varianceTolerance: z
    .number()
    .min(0)
    .max(largestReward)
    .default(1e-6)
    .describe('Population standard deviation of raw rewards up to which a group has zero variance.'),
  singleResponse: z
    .enum(['zero', 'reward'])
    .default('zero')
    .describe('Advantage of the only response of a group, which has nothing to be compared with: 0, or its reward.'),
};

/** The settings, defaults filled in. */
export type AdvantageSettings = { readonly [F in keyof typeof advantageFields]: z.output<(typeof advantageFields)[F]> };
