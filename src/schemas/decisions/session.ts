/** Decisions: timers. */
import { rewardBudgetSeconds } from '../reward-workers.ts';
import { seconds, timerId } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

export const timerSet = defineDecision(
  'timer.set',
  'command',
  'Answer with `timer.fired` at this time; a later one with the same id replaces it.',
  { timerId, fireAtSeconds: seconds.describe('When, on the clock of the session, in seconds.') },
  {
    abort_grace: { graceSeconds: seconds },
    response_timeout: { limitSeconds: seconds },
    reward_budget: { budgetSeconds: rewardBudgetSeconds, graceSeconds: seconds },
    reward_cancel_grace: { graceSeconds: seconds },
  },
);
