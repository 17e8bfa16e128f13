/** Configuration of program-scheduling. */
import { z } from 'zod';
import { positiveCount, positiveSeconds, seconds } from '../../schemas/units.ts';

/** Settings of the policy; a recipe adds them to its own. */
export const programSettings = {
  kvCapacityTokens: positiveCount
    .default(400_000)
    .describe('Tokens that fit the KV cache of an engine, until it reports its own number.'),
  budgetShare: z
    .number()
    .min(0.05)
    .max(1)
    .default(0.95)
    .describe('Part of its KV cache that the programs of an engine may fill.'),
  maxPauseSeconds: positiveSeconds
    .max(1_000_000)
    .default(1800)
    .describe('No program is held back or paused for longer, in seconds, while there is an engine.'),
  prefillTokensPerSecond: z
    .number()
    .min(1)
    .default(10_000)
    .describe('Tokens of a context that an engine reads in a second. The order of magnitude is enough.'),
  tailSlowdown: z
    .number()
    .min(1)
    .max(100)
    .optional()
    .describe(
      'How many times as long as alone on an engine a turn may take where the last programs are packed onto few engines, so that others become free; absent: none is freed.',
    ),
  decode: z
    .strictObject({
      stepSeconds: seconds.default(0.01).describe('Seconds of a step, whatever runs.'),
      sequenceSeconds: seconds.default(0.0002).describe('Seconds that each running turn adds to a step.'),
      contextTokenSeconds: seconds
        .default(0.000_000_03)
        .describe('Seconds that each token in the contexts of running turns adds to a step.'),
    })
    .prefault({})
    .describe('How long an engine takes to generate a token for each of its turns. The order of magnitude is enough.'),
};

/** Schema of the configuration. */
export const programConfig = z.strictObject(programSettings);
