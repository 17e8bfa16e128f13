/** The words that group-assembly understands and answers with. */
import type { Context } from '../../core/definition.ts';
import {
  groupRewarded,
  groupUnrewarded,
  groupWithdrawn,
  rewardUnused,
  roundRewarded,
} from '../../schemas/decisions/groups.ts';
import {
  promptCounted,
  promptDeferred,
  promptFiltered,
  promptMerged,
  promptQuarantined,
  promptReturned,
} from '../../schemas/decisions/prompts.ts';
import { responseAccepted, responseDropped } from '../../schemas/decisions/requests.ts';
import { rewardFailed } from '../../schemas/decisions/reward-workers.ts';
import { rewardRequest } from '../../schemas/decisions/rewards.ts';
import { roundCompleted, roundResumed } from '../../schemas/decisions/rounds.ts';
import { rewardReady } from '../../schemas/events/rewards.ts';
import { roundFailed } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const assemblyEvents = [
  responseAccepted,
  responseDropped,
  promptCounted,
  promptDeferred,
  promptReturned,
  promptFiltered,
  promptQuarantined,
  promptMerged,
  roundCompleted,
  roundFailed,
  rewardReady,
  rewardFailed,
  hostRestarted,
] as const;

export const assemblyDecisions = [
  groupRewarded,
  groupUnrewarded,
  groupWithdrawn,
  roundRewarded,
  roundResumed,
  rewardRequest,
  rewardUnused,
] as const;

/** What group-assembly understands. */
export type AssemblyEvent = Of<(typeof assemblyEvents)[number]>;
/** What group-assembly answers with. */
export type AssemblyDecision = Of<(typeof assemblyDecisions)[number]>;
/** An event by its type. */
export type EventNamed<T extends AssemblyEvent['type']> = Extract<AssemblyEvent, { type: T }>;
/** Where decisions go. */
export type Ctx = Context<AssemblyDecision>;
