/** Prompts, their responses, and the history of deferred prompts. */
import { z } from 'zod';
import type { Deferral, FinalPrompt, KeptResponse, Prompt } from './types/objects.ts';
import { count, domain, promptId, ref, requestId, seconds, tokens, weightVersion } from './units.ts';

export type {
  CountedResponse,
  Deferral,
  DroppedResponse,
  FinalPrompt,
  FinalResponse,
  KeptResponse,
  Prompt,
  RewardedResponse,
} from './types/objects.ts';

export const keptResponse = z
  .strictObject({
    requestId: requestId.describe('Id of the request that generated the tokens last.'),
    index: count.describe('Which response of the prompt, from 0.'),
    tokens: tokens.describe('Tokens generated so far, over all attempts: the budget is cumulative.'),
    weightVersions: z.array(weightVersion).min(1).describe('Versions of the weights that generated them, ascending.'),
    finished: z.boolean().describe('Whether the response is complete.'),
    reward: z.number().optional().describe('Raw reward, where it is known already.'),
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
    deferral: deferral.optional().describe('How often and since when it has been deferred.'),
    kept: z.array(keptResponse).optional().describe('Responses kept from earlier rounds (`partialRollout`).'),
  })
  .describe('A prompt as the host supplies it.');

export const chunkRequest = z
  .strictObject({
    requestId,
    promptTokens: tokens.describe('Tokens of the prompt.'),
    tokens: tokens.optional().describe('Tokens of the response that the host has kept; absent: none.'),
    maxTokens: z.int().positive().optional().describe('Most tokens of the response; absent: it ends by itself.'),
    domain: domain.optional(),
  })
  .describe('A request that needs an engine, and what it has.');

export const droppedResponse = z
  .strictObject({
    requestId,
    tokens,
    cause: z.enum(['stale_weights', 'filtered', 'failed', 'round_failed', 'merged']).describe('Why it is of no use.'),
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
    reward: z.number().optional().describe('Raw reward, where it is known.'),
  })
  .describe('A response of a prompt that counts.');

export const rewardedResponse = z
  .strictObject({
    requestId,
    tokens,
    weightVersions: otherVersions,
    reward: z.number().describe('Raw reward.'),
  })
  .describe('A response with its reward.');

export const finalResponse = z
  .strictObject({
    requestId,
    index: count.describe('Which response of the prompt, from 0.'),
    tokens,
    weightVersions: z.array(weightVersion).min(1).describe('Versions of the weights that generated it, ascending.'),
    reward: z.number().optional().describe('Raw reward, where it is known.'),
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

/** Copies a prompt; the copy shares no object with it, and its keys are in the order of the schema. */
export function copyPrompt(given: Prompt): Prompt {
  const { promptId, ref, domain, promptTokens, expectedTokens, deferral, kept } = given;
  const copy: Prompt = { promptId };
  if (ref !== undefined) copy.ref = ref;
  if (domain !== undefined) copy.domain = domain;
  if (promptTokens !== undefined) copy.promptTokens = promptTokens;
  if (expectedTokens !== undefined) copy.expectedTokens = expectedTokens;
  if (deferral !== undefined) copy.deferral = copyDeferral(deferral);
  if (kept !== undefined) copy.kept = kept.map(copyKept);
  return copy;
}

/** Copies the deferral of a prompt. */
export function copyDeferral({ count, sinceRound, sinceSeconds }: Deferral): Deferral {
  return { count, sinceRound, sinceSeconds };
}

/** Copies a kept response. */
export function copyKept({ requestId, index, tokens, weightVersions, finished, reward }: KeptResponse): KeptResponse {
  const copy = { requestId, index, tokens, weightVersions: weightVersions.slice(), finished };
  return reward === undefined ? copy : { ...copy, reward };
}

/** Copies a prompt of a completed round. */
export function copyFinal({ promptId, ref, domain, deferral, responses }: FinalPrompt): FinalPrompt {
  return {
    promptId,
    ...(ref === undefined ? undefined : { ref }),
    ...(domain === undefined ? undefined : { domain }),
    ...(deferral === undefined ? undefined : { deferral: copyDeferral(deferral) }),
    responses: responses.map(({ requestId, index, tokens, weightVersions, reward }) => {
      const copy = { requestId, index, tokens, weightVersions: weightVersions.slice() };
      return reward === undefined ? copy : { ...copy, reward };
    }),
  };
}

/** Returns the oldest version of the weights that have generated a token of the prompt; none is older than infinity. */
export function oldestVersionOf({ kept = [] }: Prompt): number {
  return Math.min(...kept.flatMap((one) => one.weightVersions));
}

/** Whether tokens of a version may be trained with weights of this version, but not with newer ones. */
export function isExpiring(oldestVersion: number, weightVersion: number, maxStaleness: number): boolean {
  return maxStaleness > 0 && weightVersion - oldestVersion >= maxStaleness;
}
