/** Configuration of long-prompt-queue. */
import { z } from 'zod';
import { count, domain, positiveCount, speculationFactor } from '../../schemas/units.ts';

/** Settings of the queue alone; a recipe adds them to the shared settings. */
export const queueSettings = {
  order: z
    .enum(['fifo', 'longest-expected-first'])
    .default('fifo')
    .describe('Which queued prompts a long round takes first; overdue ones always come before.'),
  maxDeferrals: positiveCount
    .optional()
    .describe('A prompt that was deferred this often forces a long round; never if absent.'),
  maxWaitRounds: positiveCount
    .default(16)
    .describe('A prompt that has waited this many rounds forces a long round, with fresh prompts where too few wait.'),
};

export const queueConfig = z.strictObject({
  promptsPerRound: positiveCount.describe(
    'P0: prompts that a round trains on; a long round starts with that many queued.',
  ),
  promptSpeculation: speculationFactor.default(1.25).describe('Over-provisioning of prompts in short rounds.'),
  domains: z
    .array(domain)
    .min(1)
    .optional()
    .describe('Domains of the source: it is exhausted when each of them is. If absent, it is so only as a whole.'),
  maxStaleness: count
    .default(0)
    .describe(
      'Weight versions that kept tokens may lag behind: their prompts go into the round after which they would be too old, of either kind. 0: no such rule.',
    ),
  ...queueSettings,
});
