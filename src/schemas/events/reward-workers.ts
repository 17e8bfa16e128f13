/** Events: reward workers join and leave; rewards are requested, computed, and no longer needed. */
import { z } from 'zod';
import { dispatchId, rewardBudgetSeconds, rewardKind, workerId } from '../reward-workers.ts';
import { domain, message, promptId, requestId, reward, roundId, seconds } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const rewardWorkerAdded = defineEvent(
  'reward-worker.added',
  'A reward worker takes dispatches. May be repeated, to change its slots or after a drain.',
  {
    workerId,
    kind: rewardKind,
    slots: z.int().min(1).max(1_000_000).describe('Dispatches that it runs at once, 1 to 1,000,000.'),
  },
);
export const rewardWorkerDrained = defineEvent(
  'reward-worker.drained',
  'A reward worker finishes what it has and takes nothing new.',
  { workerId },
);
export const rewardWorkerLost = defineEvent('reward-worker.lost', 'A reward worker is gone, with all that ran on it.', {
  workerId,
});
export const rewardRequested = defineEvent(
  'reward.requested',
  'The reward of a completed response is wanted.',
  {
    requestId,
    promptId: promptId
      .optional()
      .describe('Prompt of the response; when the prompt leaves its round, the reward is not needed.'),
    roundId: roundId
      .optional()
      .describe('Round of the response; when it completes without the response, the reward is not needed.'),
    kind: rewardKind.optional().describe('How it is computed; by the domain, or the default kind, if absent.'),
    domain: domain.optional(),
    budgetSeconds: rewardBudgetSeconds.optional().describe('Seconds that the worker may take; by the kind if absent.'),
  },
  { entered: { samples: (one) => [one.requestId] } },
);
export const rewardWithdrawn = defineEvent(
  'reward.withdrawn',
  'The reward of a response is not needed any more. Of one that is over, or was never wanted, nothing changes.',
  { requestId },
);
export const rewardStarted = defineEvent(
  'reward.started',
  'A worker has begun to compute: its budget runs from now, not from the dispatch.',
  { dispatchId },
);
export const rewardFinished = defineEvent('reward.finished', 'A worker has ended a dispatch.', {
  dispatchId,
  outcome: z
    .enum(['scored', 'timeout', 'infrastructure', 'cancelled'])
    .describe(
      '`timeout`: stopped at its budget. `infrastructure`: the worker failed, not the response. `cancelled`: stopped on `reward.cancel`.',
    ),
  reward: reward.optional().describe('The raw reward, not a shaped one; with `scored`, and only then.'),
  seconds: seconds.describe('How long it ran, in seconds.'),
  message,
});
