/** Decisions: missing rewards and judgements, and late judgements. */
import { z } from 'zod';
import { domain, promptId, requestId, roundId } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

export const rewardRequest = defineDecision(
  'reward.request',
  'command',
  'Send the reward of a completed response by `reward.ready`: it is needed, and did not come unasked.',
  { requestId, promptId, domain: domain.optional() },
  { kept_without_reward: {}, round_opened: {}, host_restarted: {} },
  { entered: { samples: (one) => [one.requestId] } },
);
export const judgementRequest = defineDecision(
  'judgement.request',
  'command',
  'Judge a collected prompt by `prompt.judged`: the judgement is needed, and did not come unasked.',
  {
    promptId,
    roundId,
    domain: domain.optional(),
    requestIds: z.array(requestId).describe('Requests of its held responses, by index.'),
  },
  { round_opened: {}, host_restarted: {} },
);
export const judgementLate = defineDecision(
  'judgement.late',
  'notice',
  'A judgement of a prompt that is not waiting for one any more: nothing changes.',
  { promptId, roundId },
  { not_waiting: {} },
);
