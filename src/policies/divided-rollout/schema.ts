/** Configuration of divided-rollout. */
import { z } from 'zod';
import { positiveCount, positiveSeconds, seconds } from '../../schemas/units.ts';

/** Settings of the policy; a recipe adds them to its own. */
export const dividedSettings = {
  kvCapacityTokens: positiveCount
    .default(400_000)
    .describe('Tokens that fit the KV cache of an engine, until it reports its own number.'),
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
  prefillTokensPerSecond: z
    .number()
    .min(1)
    .default(10_000)
    .describe('Tokens of a context that an engine reads in a second. The order of magnitude is enough.'),
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
  decode: z
    .strictObject({
      stepSeconds: seconds.default(0.01).describe('Seconds of a step, whatever runs.'),
      sequenceSeconds: seconds.default(0.0002).describe('Seconds that each running response adds to a step.'),
      contextTokenSeconds: seconds
        .default(0.000_000_03)
        .describe('Seconds that each token in the contexts of running responses adds to a step.'),
    })
    .prefault({})
    .describe(
      'How long an engine takes to generate a token for each of its responses. The order of magnitude is enough.',
    ),
  rememberedPrompts: positiveCount
    .max(10_000_000)
    .default(1_000_000)
    .describe('Prompts whose lengths are remembered, for when they return.'),
};

/** Schema of the configuration. */
export const dividedConfig = z.strictObject(dividedSettings);
