/** Configuration of divided-rollout. */
import { z } from 'zod';
import { decodeOf, kvCapacityTokens, prefillTokensPerSecond } from '../../core/rollout/engine-settings.ts';
import { positiveCount, positiveSeconds, seconds } from '../../schemas/units.ts';

/** Settings of the policy; a recipe adds them to its own. */
export const dividedSettings = {
  kvCapacityTokens,
  budgetShare: z
    .number()
    .min(0.05)
    .max(1)
    .default(0.97)
    .describe('Part of its KV cache that the chunks of an engine may fill.'),
  maxWaitSeconds: positiveSeconds
    .max(1_000_000)
    .default(14_400)
    .describe('A request that has waited so long for room, in seconds, is next.'),
  prefillTokensPerSecond,
  poolTokensPerSecond: z
    .number()
    .min(1)
    .optional()
    .describe(
      'Tokens of a context that an engine loads in a second from a KV cache that engines share; absent: there is none, and an engine reads the context again.',
    ),
  chunkSeconds: seconds
    .default(0.03)
    .describe('What a chunk costs its response, in seconds, beside its tokens: the way to the host and back.'),
  decode: decodeOf('response'),
  rememberedPrompts: positiveCount
    .max(10_000_000)
    .default(1_000_000)
    .describe('Prompts whose lengths are remembered, for when they return.'),
};

export const dividedConfig = z.strictObject(dividedSettings);
