/** What reward-dispatch answers with. */
import { type Context, handlersOf } from '../../core/definition.ts';
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
import type { Of } from '../../schemas/vocabulary.ts';
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
  timerSet,
] as const;

/** One of them. */
export type RewardDecision = Of<(typeof rewardDecisions)[number]>;
/** Where decisions go. */
export type Ctx = Context<RewardDecision>;
/** Declares an event. */
export const on = handlersOf<RewardState, RewardDecision>();
