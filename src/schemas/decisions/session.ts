/** Decisions: timers. */
import { rewardBudgetSeconds } from '../reward-workers.ts';
import { seconds, timerId } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const graceSeconds = seconds.describe('How long the report of a worker is waited for beyond that, in seconds.');

export const timerSet = defineDecision(
  'timer.set',
  'command',
  'Answer with `timer.fired` at this time, not before it; a later `timer.set` with the same id replaces it.',
  { timerId, fireAtSeconds: seconds.describe('When, on the clock of `at`, in seconds.') },
  {
    abort_grace: { graceSeconds: seconds.describe('How long the confirmation of an abort is waited for, in seconds.') },
    response_timeout: { limitSeconds: seconds.describe('How long a request may run, in seconds.') },
    reward_budget: { budgetSeconds: rewardBudgetSeconds, graceSeconds },
    reward_cancel_grace: { graceSeconds },
  },
);
