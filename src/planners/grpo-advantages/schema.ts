/** Input and plan of grpo-advantages. */
import { z } from 'zod';
import { advantageFields } from '../../schemas/advantages.ts';
import { count, reward } from '../../schemas/units.ts';

const id = z.string().min(1).max(512);

export const advantageGroup = z
  .strictObject({
    groupId: id.optional().describe('Id of the group (its prompt), given by the host; echoed.'),
    rewards: z
      .array(reward.nullable())
      .min(1)
      .describe(
        'The raw reward of every training sample of the group; `null` where there is none, such as after a failure of its environment: it counts in no statistic.',
      ),
    responseIds: z
      .array(id)
      .optional()
      .describe(
        'Which response each sample belongs to. Samples of one response (the pieces of a trajectory) share its reward and count once; every sample is a response of its own if absent.',
      ),
  })
  .describe('The responses of one prompt.');

export const advantagesInput = z
  .strictObject({
    groups: z.array(advantageGroup).min(1).describe('The groups, each of any size.'),
    ...advantageFields,
  })
  .superRefine(({ groups }, context) => {
    const refuse = (path: (string | number)[], expected: string): void =>
      context.addIssue({ code: 'custom', path: ['groups', ...path], message: `expected ${expected}` });
    const seen = new Set<string>();
    for (const [index, { groupId, rewards, responseIds }] of groups.entries()) {
      if (groupId !== undefined && seen.has(groupId)) refuse([index, 'groupId'], 'an id that no other group has');
      if (groupId !== undefined) seen.add(groupId);
      if (responseIds === undefined) continue;
      if (responseIds.length !== rewards.length) {
        refuse([index, 'responseIds'], `one id for each of the ${rewards.length} rewards`);
        continue;
      }
      const rewardOf = new Map<string, number | null>();
      for (const [at, response] of responseIds.entries()) {
        const known = rewardOf.get(response);
        if (known === undefined) rewardOf.set(response, rewards[at]!);
        else if (known !== rewards[at]) refuse([index, 'rewards', at], `the reward of its response, ${known}`);
      }
    }
  });

export const advantagesPlan = z.strictObject({
  groups: z
    .array(
      z.strictObject({
        groupId: id.optional().describe('As it was given.'),
        responses: count.describe('Responses that count: those with a reward.'),
        mean: z.number().describe('Mean of their rewards; 0 if there are none.'),
        std: z.number().nonnegative().describe('Their standard deviation, of the kind asked for; 0 for one response.'),
        zeroVariance: z
          .boolean()
          .describe('Whether their rewards are all the same; false for one response, which has no variance.'),
        advantages: z
          .array(z.number())
          .describe('The advantage of every sample, in the order of `rewards`; 0 without a reward.'),
      }),
    )
    .describe('In the order of the input.'),
});
