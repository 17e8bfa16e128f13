/** The decisions of group-assembly, and their context. */
import { type Context, handlersOf } from '../../core/machine/definition.ts';
import type { GroupAssemblyDecision } from '../../generated/settings/group-assembly.ts';
import {
  groupRewarded,
  groupUnrewarded,
  groupWithdrawn,
  rewardUnused,
  roundRewarded,
} from '../../schemas/decisions/groups.ts';
import { rewardRequest } from '../../schemas/decisions/rewards.ts';
import { roundResumed } from '../../schemas/decisions/rounds.ts';
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

/** The context through which handlers emit decisions. */
export type Ctx = Context<GroupAssemblyDecision>;
/** Declares the handler of an event. */
export const on = handlersOf<AssemblyState, GroupAssemblyDecision>();
