/** Configuration of round-composition. */

import { z } from 'zod';
import { scaledCount } from '../../core/rollout/prompts.ts';
import { positiveCount, speculationFactor } from '../../schemas/units.ts';

/** Settings of the composition alone; a recipe adds them to the shared settings. */
export const compositionSettings = {
  windowRounds: positiveCount
    .max(1000)
    .default(10)
    .describe(
      'W: rounds that are composed together; a prompt moves by at most W − 1 rounds. 1: the order of the data.',
    ),
  rememberedPrompts: positiveCount
    .max(10_000_000)
    .default(1_000_000)
    .describe(
      'Prompts whose lengths are remembered: at least those of the data set, or none is known when it returns.',
    ),
};

export const compositionConfig = z.strictObject({
  promptsPerRound: positiveCount.describe('P0: prompts that a round trains on.'),
  responsesPerPrompt: positiveCount.describe('R0: responses that a prompt needs (the group size).'),
  promptSpeculation: speculationFactor
    .default(1)
    .describe('Over-provisioning of prompts by the admission that follows: a round gets that many more.'),
  ...compositionSettings,
});

/** Returns the number of prompts per round. */
export function roundSize({ promptSpeculation, promptsPerRound }: z.output<typeof compositionConfig>): number {
  return scaledCount(promptSpeculation, promptsPerRound);
}
