/** Configuration of program-scheduling. */
import { z } from 'zod';
import { decodeOf, kvCapacityTokens, prefillTokensPerSecond } from '../../core/rollout/engine-settings.ts';
import { positiveSeconds } from '../../schemas/units.ts';

/** Settings of the policy; a recipe adds them to its own. */
export const programSettings = {
  kvCapacityTokens,
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
  prefillTokensPerSecond,
  tailSlowdown: z
    .number()
    .min(1)
    .max(100)
    .optional()
    .describe(
      'How many times as long as alone on an engine a turn may take where the last programs are packed onto few engines, so that others become free; absent: none is freed.',
    ),
  decode: decodeOf('turn'),
};

export const programConfig = z.strictObject(programSettings);
