/** Decisions: rewards that are missing, judgements that come too late. */
import { domain, promptId, requestId, roundId } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

export const rewardRequest = defineDecision(
  'reward.request',
  'command',
  'Give the reward of a completed response with `reward.ready`: it is needed, and has not come.',
  { requestId, promptId, domain: domain.optional() },
  { kept_without_reward: {}, host_restarted: {} },
);
export const judgementLate = defineDecision(
  'judgement.late',
  'notice',
  'A judgement of a prompt that is not waiting for one any more: nothing changes.',
  { promptId, roundId },
  { not_waiting: {} },
);
