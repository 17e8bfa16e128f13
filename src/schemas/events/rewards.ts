/** Events: rewards and judgements. */
import { z } from 'zod';
import { promptId, requestId, reward, roundId } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const rewardReady = defineEvent(
  'reward.ready',
  'The reward of a completed response is known: send it unasked. A round waits for rewards only where its filter reads them; `group-assembly` waits for all.',
  {
    requestId,
    reward: reward.describe('The raw reward, not a shaped one.'),
  },
);
export const promptJudged = defineEvent('prompt.judged', 'The host has judged a collected prompt (filter `host`).', {
  roundId,
  promptId,
  keep: z.boolean().describe('Whether the prompt counts.'),
});
