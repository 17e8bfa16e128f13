/** Decisions: groups of rewarded responses. */
import { z } from 'zod';
import { groupKey } from '../moves.ts';
import { finalPrompt, rewardedResponse } from '../prompts.ts';
import {
  count,
  positiveCount,
  promptId,
  requestId,
  roundId,
  roundKind,
  seconds,
  tokenSum,
  tokens,
  weightVersion,
} from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const group = {
  groups: (one: { readonly roundId: string; readonly promptId: string }) => [groupKey(one.roundId, one.promptId)],
};

export const groupRewarded = defineDecision(
  'group.rewarded',
  'notice',
  'Every response of a prompt that counts has its reward, or will never have one: the group can train.',
  {
    roundId,
    promptId,
    promptTokens: tokens.optional().describe('Tokens of the prompt itself, where they are known.'),
    samples: positiveCount.describe('Responses with a reward.'),
    tokens: tokenSum.describe('Tokens of those responses, all together, without their prompts.'),
    responses: z.array(rewardedResponse).min(1).describe('Those responses, by index, each with its raw reward.'),
    launched: positiveCount
      .optional()
      .describe(
        'Responses of the prompt that were begun, where more were than its group has: only the first to end are named.',
      ),
  },
  {
    all_rewarded: {
      responses: count.describe('Responses of the prompt that count, those without a reward included.'),
      missing: count.describe('Those that will never have a reward.'),
      waitedSeconds: seconds.describe('How long the group waited for its last reward, in seconds.'),
    },
  },
  { entered: group },
);
export const groupUnrewarded = defineDecision(
  'group.unrewarded',
  'notice',
  'No response of a prompt was completed, or gets a reward: the round trains without it.',
  { roundId, promptId },
  {
    no_reward: { responses: count.describe('Responses of the prompt, none of which gets a reward.') },
    no_response: { givenUp: count.describe('Responses that failed for good or were aborted.') },
  },
  { left: group },
);
export const groupWithdrawn = defineDecision(
  'group.withdrawn',
  'notice',
  'A prompt that counted, or was launched, does not train after all.',
  { roundId, promptId },
  { round_failed: {}, filtered: {}, failed: {} },
  { left: group },
);
export const roundRewarded = defineDecision(
  'round.rewarded',
  'notice',
  'The round is complete and every response of it has its reward, or will never have one.',
  {
    roundId,
    kind: roundKind,
    weightVersion,
    prompts: z
      .array(finalPrompt)
      .describe('Prompts that train, in the order of the round; responses with rewards only.'),
  },
  {
    all_groups: {
      groups: count.describe('Groups that train.'),
      afterSeconds: seconds.describe('Since the round was complete, in seconds.'),
    },
    round_failed: {},
  },
  { left: { groups: ({ roundId, prompts }) => prompts.map((one) => groupKey(roundId, one.promptId)) } },
);
export const rewardUnused = defineDecision(
  'reward.unused',
  'notice',
  'A reward of a response that nobody waits for: it has one, it has left, or it is not known.',
  { requestId },
  { not_awaited: {} },
);
