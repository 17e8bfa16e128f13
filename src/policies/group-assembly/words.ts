/** What group-assembly answers with. */
import { type Context, handlersOf } from '../../core/definition.ts';
import {
  groupRewarded,
  groupUnrewarded,
  groupWithdrawn,
  rewardUnused,
  roundRewarded,
} from '../../schemas/decisions/groups.ts';
import { rewardRequest } from '../../schemas/decisions/rewards.ts';
import { roundResumed } from '../../schemas/decisions/rounds.ts';
import type { Of } from '../../schemas/vocabulary.ts';
import type { AssemblyState } from './state.ts';

export const assemblyDecisions = [
  groupRewarded,
  groupUnrewarded,
  groupWithdrawn,
  roundRewarded,
  roundResumed,
  rewardRequest,
  rewardUnused,
] as const;

/** One of them. */
export type AssemblyDecision = Of<(typeof assemblyDecisions)[number]>;
/** Where decisions go. */
export type Ctx = Context<AssemblyDecision>;
/** Declares an event. */
export const on = handlersOf<AssemblyState, AssemblyDecision>();
