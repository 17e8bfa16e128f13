/** The decisions of reward-dispatch, and their context. */
import { type Context, handlersOf } from '../../core/machine/definition.ts';
import type { RewardDispatchDecision } from '../../generated/settings/reward-dispatch.ts';
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
import { timerSet } from '../../schemas/decisions/session.ts';
import { triesRecovered, triesSuspended } from '../../schemas/decisions/tries.ts';
import type { RewardState } from './state.ts';

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
  triesSuspended,
  triesRecovered,
  timerSet,
] as const;

/** The context through which handlers emit decisions. */
export type Ctx = Context<RewardDispatchDecision>;
/** Declares the handler of an event. */
export const on = handlersOf<RewardState, RewardDispatchDecision>();
