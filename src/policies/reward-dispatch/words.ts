/** The words that reward-dispatch understands and answers with. */
import {
  promptDeferred,
  promptFiltered,
  promptMerged,
  promptQuarantined,
  promptReturned,
} from '../../schemas/decisions/prompts.ts';
import { responseAccepted, responseDropped } from '../../schemas/decisions/requests.ts';
import {
  rewardCancel,
  rewardCancelled,
  rewardDispatch,
  rewardExpired,
  rewardFailed,
  rewardLate,
  rewardMerged,
  rewardScored,
  rewardsResumed,
  rewardsSaturated,
} from '../../schemas/decisions/reward-workers.ts';
import { rewardRequest } from '../../schemas/decisions/rewards.ts';
import { roundCompleted } from '../../schemas/decisions/rounds.ts';
import { timerSet } from '../../schemas/decisions/session.ts';
import {
  rewardFinished,
  rewardRequested,
  rewardStarted,
  rewardWithdrawn,
  rewardWorkerAdded,
  rewardWorkerDrained,
  rewardWorkerLost,
} from '../../schemas/events/reward-workers.ts';
import { roundFailed } from '../../schemas/events/rounds.ts';
import { hostRestarted, timerFired } from '../../schemas/events/session.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const rewardEvents = [
  rewardWorkerAdded,
  rewardWorkerDrained,
  rewardWorkerLost,
  rewardRequested,
  rewardWithdrawn,
  rewardStarted,
  rewardFinished,
  responseAccepted,
  responseDropped,
  rewardRequest,
  roundCompleted,
  roundFailed,
  promptDeferred,
  promptReturned,
  promptFiltered,
  promptQuarantined,
  promptMerged,
  timerFired,
  hostRestarted,
] as const;

export const rewardDecisions = [
  rewardDispatch,
  rewardCancel,
  rewardScored,
  rewardFailed,
  rewardCancelled,
  rewardMerged,
  rewardLate,
  rewardExpired,
  rewardsSaturated,
  rewardsResumed,
  timerSet,
] as const;

/** What reward-dispatch understands. */
export type RewardEvent = Of<(typeof rewardEvents)[number]>;
/** What reward-dispatch answers with. */
export type RewardDecision = Of<(typeof rewardDecisions)[number]>;
/** Why a reward is not needed any more. */
export type CancelCode = Extract<RewardDecision, { type: 'reward.cancelled' }>['reason']['code'];
