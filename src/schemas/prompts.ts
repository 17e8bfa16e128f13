/** Prompts, their responses, and the history of deferred prompts. */
import { z } from 'zod';
import {
  count,
  domain,
  mostTokens,
  positiveCount,
  promptId,
  ref,
  requestId,
  reward,
  seconds,
  tokens,
  weightVersion,
} from './units.ts';

export type {
  CountedResponse,
  Deferral,
  DroppedResponse,
  FinalPrompt,
  FinalResponse,
  KeptResponse,
  Prompt,
  PromptChoice,
  RewardedResponse,
} from '../generated/messages/objects.ts';

export const keptResponse = z
  .strictObject({
    requestId: requestId.describe('Id of the request that generated the tokens last.'),
    index: count.describe('Which response of the prompt, from 0.'),
    tokens: tokens.describe('Tokens generated so far, over all attempts: the budget is cumulative.'),
    weightVersions: z.array(weightVersion).min(1).describe('Versions of the weights that generated them, ascending.'),
    finished: z.boolean().describe('Whether the response is complete.'),
    reward: reward.optional().describe('Raw reward, where it is known already.'),
  })
  .describe('A response whose tokens are kept beyond the round that began it.');

export const deferral = z
  .strictObject({
    count: z.int().positive().describe('How often the prompt has been deferred.'),
    sinceRound: count.describe('Ordinal of the round in which it was first deferred.'),
    sinceSeconds: seconds.describe('When it was first deferred, in seconds.'),
  })
  .describe('What a deferred prompt carries through the queue and through later rounds.');

export const prompt = z
  .strictObject({
    promptId,
    ref: ref.optional(),
    domain: domain.optional(),
    promptTokens: tokens.optional().describe('Tokens of the prompt itself; used for placement.'),
    expectedTokens: tokens.optional().describe('Expected tokens of its longest response, where something is known.'),
    keptChance: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe(
        'Chance that the filter keeps it: a round begins prompts until these add up to what it needs. Absent: 1, or 1 ÷ `promptSpeculation`.',
      ),
    deferral: deferral.optional().describe('How often and since when it has been deferred.'),
    kept: z.array(keptResponse).optional().describe('Responses kept from earlier rounds (`partialRollout`).'),
  })
  .describe('A prompt as the host supplies it.');

export const promptChoice = z
  .strictObject({
    promptId,
    responses: positiveCount.describe('Responses that it is to have (the group size).'),
    expectedTokens: z.number().nonnegative().describe('Tokens that one of these responses is expected to have.'),
    keptChance: z.number().min(0).max(1).describe('Chance that their rewards differ, so that the group teaches.'),
    worth: z
      .number()
      .nonnegative()
      .describe('What they are expected to teach ÷ expected tokens to the power `lengthExponent`.'),
    chance: z.number().min(0).max(1).describe('Chance with which it was taken.'),
    weight: z
      .number()
      .min(1)
      .optional()
      .describe('With `unbiased`: 1 ÷ chance, by which the gradient of the prompt is multiplied.'),
  })
  .describe('What was expected of a prompt that was offered.');

export const chunkRequest = z
  .strictObject({
    requestId,
    promptTokens: tokens.describe('Tokens of the prompt.'),
    tokens: tokens.optional().describe('Tokens of the response that the host has kept; absent: none.'),
    maxTokens: z
      .int()
      .positive()
      .max(mostTokens)
      .optional()
      .describe('Most tokens of the response; absent: it ends by itself.'),
    domain: domain.optional(),
  })
  .describe('A request that needs an engine, and what it has.');

export const droppedResponse = z
  .strictObject({
    requestId,
    tokens,
    cause: z.enum(['stale_weights', 'filtered', 'failed', 'round_failed', 'merged']).describe('Why it is of no use.'),
    reward: reward.optional().describe('Raw reward, where it is known and its prompt was filtered.'),
  })
  .describe('A response that was generated and is given up, and why.');

const otherVersions = z
  .array(weightVersion)
  .min(1)
  .optional()
  .describe('Versions of the weights that generated it, ascending; absent: that of the round alone.');

export const countedResponse = z
  .strictObject({
    requestId,
    tokens,
    weightVersions: otherVersions,
    reward: reward.optional().describe('Raw reward, where it is known.'),
  })
  .describe('A response of a prompt that counts.');

export const rewardedResponse = z
  .strictObject({
    requestId,
    tokens,
    weightVersions: otherVersions,
    reward,
  })
  .describe('A response with its reward.');

export const finalResponse = z
  .strictObject({
    requestId,
    index: count.describe('Which response of the prompt, from 0.'),
    tokens,
    weightVersions: z.array(weightVersion).min(1).describe('Versions of the weights that generated it, ascending.'),
    reward: reward.optional().describe('Raw reward, where it is known.'),
  })
  .describe('A response that belongs to a completed round.');

export const finalPrompt = z
  .strictObject({
    promptId,
    ref: ref.optional(),
    domain: domain.optional(),
    deferral: deferral.optional().describe('How often and since when it had been deferred.'),
    responses: z.array(finalResponse).min(1).describe('R0 responses, in the order of their indices.'),
  })
  .describe('A prompt of a completed round, with exactly R0 responses in the order of their indices.');
