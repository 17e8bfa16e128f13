/** The words that reward-dispatch understands and answers with. */
import * as d from '../../schemas/decisions/index.ts';
import * as e from '../../schemas/events/index.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const rewardEvents = [
  e.rewardWorkerAdded,
  e.rewardWorkerDrained,
  e.rewardWorkerLost,
  e.rewardRequested,
  e.rewardWithdrawn,
  e.rewardStarted,
  e.rewardFinished,
  d.responseAccepted,
  d.responseDropped,
  d.rewardRequest,
  d.roundCompleted,
  e.roundFailed,
  d.promptDeferred,
  d.promptReturned,
  d.promptFiltered,
  d.promptQuarantined,
  d.promptMerged,
  e.timerFired,
  e.hostRestarted,
] as const;

export const rewardDecisions = [
  d.rewardDispatch,
  d.rewardCancel,
  d.rewardScored,
  d.rewardFailed,
  d.rewardCancelled,
  d.rewardMerged,
  d.rewardLate,
  d.rewardExpired,
  d.rewardsSaturated,
  d.rewardsResumed,
  d.timerSet,
] as const;

/** What reward-dispatch understands. */
export type RewardEvent = Of<(typeof rewardEvents)[number]>;
/** What reward-dispatch answers with. */
export type RewardDecision = Of<(typeof rewardDecisions)[number]>;
/** Why a reward is not needed any more. */
export type CancelCode = Extract<RewardDecision, { type: 'reward.cancelled' }>['reason']['code'];
