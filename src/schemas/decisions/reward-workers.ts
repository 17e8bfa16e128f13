/** Decisions: the dispatch of rewards to workers, and the results. */
import { faultDomain, notCompared, sharedFailures } from '../faults.ts';
import { dispatchId, rewardBudgetSeconds, rewardKind, workerId } from '../reward-workers.ts';
import { count, promptId, requestId, reward, seconds } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const waitedSeconds = seconds.describe('Since it was asked for, or queued again, in seconds.');
const running = count.describe('Dispatches on the worker, without this one.');
const ranSeconds = seconds.describe('Since the dispatch, in seconds.');
const graceSeconds = seconds.describe('How long the confirmation of a cancellation is waited for, in seconds.');
const retry = {
  attempt: count.describe('How many further tries there were, this one included, within the budget.'),
  budget: count.describe('Most further tries after failures of this kind.'),
};
const budget = count.describe('Most failures of this kind that lead to another try.');
const queued = count.describe('Rewards of this kind that wait for a worker.');
const resumedQueued = count.describe('With this many or fewer waiting it goes on.');
const runSeconds = seconds.describe('How long the worker took, in seconds.');
const left = { left: { samples: (one: { readonly requestId: string }) => [one.requestId] } };
const sample = { requestId, promptId: promptId.optional(), kind: rewardKind };

const afterSeconds = seconds.describe('Since the reward was asked for, in seconds.');
const noLongerNeeded = {
  round_completed: { afterSeconds },
  round_failed: { afterSeconds },
  prompt_deferred: { afterSeconds },
  prompt_filtered: { afterSeconds },
  prompt_failed: { afterSeconds },
  prompt_returned: { afterSeconds },
  prompt_merged: { afterSeconds },
  response_dropped: { afterSeconds },
  withdrawn: { afterSeconds },
};

export const rewardDispatch = defineDecision(
  'reward.dispatch',
  'command',
  'Compute the reward of this response on this worker, and stop it after this time.',
  { dispatchId, workerId, ...sample, budgetSeconds: rewardBudgetSeconds },
  {
    requested: { waitedSeconds, running },
    retry_infrastructure: {
      waitedSeconds,
      running,
      ...retry,
      pauseSeconds: seconds.describe('Since the try before, in seconds.'),
      ...faultDomain,
    },
    retry_timeout: { waitedSeconds, running, ...retry },
    probe: {
      waitedSeconds,
      running,
      ...faultDomain,
      failures: sharedFailures,
      pauseSeconds: seconds.describe('Since the single try before, in seconds.'),
    },
    host_restarted: { waitedSeconds, running },
  },
);
export const rewardCancel = defineDecision(
  'reward.cancel',
  'command',
  'Stop this dispatch and confirm with `reward.finished`; nothing waits for it but its slot.',
  { dispatchId, workerId, requestId },
  { ...noLongerNeeded, no_answer: { ranSeconds, budgetSeconds: rewardBudgetSeconds, graceSeconds } },
);
export const rewardScored = defineDecision(
  'reward.scored',
  'notice',
  'The reward of a response is known: its number is what `reward.ready` takes.',
  { requestId, promptId: promptId.optional(), kind: rewardKind, workerId, reward },
  {
    scored: { seconds: runSeconds, attempts: count.describe('Dispatches that it took.') },
    timeout: {
      seconds: runSeconds,
      budgetSeconds: rewardBudgetSeconds,
      timeouts: count.describe('Dispatches that ran out of time.'),
    },
  },
  left,
);
export const rewardFailed = defineDecision(
  'reward.failed',
  'notice',
  'A response gets no reward: its tries are used up, or the host cannot compute it, and sends this as an event, without a reason. Where a round waits for the reward, the response is given up, and another takes its place.',
  sample,
  {
    infrastructure: { failures: count.describe('Dispatches that failed.'), budget },
    timeout: { timeouts: count.describe('Dispatches that ran out of time.'), budget },
    not_compared: notCompared,
  },
  // The host has tried once.
  { reported: { code: 'infrastructure', failures: 1, budget: 0 }, ...left },
);
export const rewardCancelled = defineDecision(
  'reward.cancelled',
  'notice',
  'The reward of a response is not needed any more, and is not computed.',
  sample,
  noLongerNeeded,
  left,
);
export const rewardMerged = defineDecision(
  'reward.merged',
  'notice',
  'A reward that is being computed was asked for again: one is computed for both.',
  { requestId },
  { already_requested: { afterSeconds } },
  left,
);
export const rewardLate = defineDecision(
  'reward.late',
  'notice',
  'A report about a dispatch that is over or was cancelled: it changes nothing for the response.',
  { dispatchId, reward: reward.optional().describe('The raw reward that nobody waits for.') },
  { result: { seconds: runSeconds }, after_cancel: { seconds: runSeconds }, report: {} },
);
export const rewardExpired = defineDecision(
  'reward.expired',
  'notice',
  'A cancellation was never confirmed; its slot counts as free.',
  { dispatchId, workerId, requestId },
  { cancel_unconfirmed: { graceSeconds } },
);
export const rewardsSaturated = defineDecision(
  'rewards.saturated',
  'notice',
  'Rewards of this kind are asked for faster than they are computed: hold back what leads to more of them.',
  { kind: rewardKind },
  {
    queue_long: {
      queued,
      saturatedQueued: count.describe('With this many or more waiting it is saturated.'),
    },
    no_worker: { queued },
    host_restarted: { queued, resumedQueued },
  },
);
export const rewardsResumed = defineDecision(
  'rewards.resumed',
  'notice',
  'The queue of this kind is short again.',
  { kind: rewardKind },
  { queue_short: { queued, resumedQueued } },
);
