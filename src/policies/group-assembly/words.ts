/** The words that group-assembly understands and answers with. */
import type { Context } from '../../core/definition.ts';
import * as d from '../../schemas/decisions/index.ts';
import * as e from '../../schemas/events/index.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const assemblyEvents = [
  d.responseAccepted,
  d.promptCounted,
  d.promptDeferred,
  d.promptReturned,
  d.promptFiltered,
  d.promptQuarantined,
  d.promptMerged,
  d.roundCompleted,
  e.roundFailed,
  e.rewardReady,
  d.rewardFailed,
  e.hostRestarted,
] as const;

export const assemblyDecisions = [
  d.groupRewarded,
  d.groupUnrewarded,
  d.groupWithdrawn,
  d.roundRewarded,
  d.rewardRequest,
  d.rewardUnused,
] as const;

/** What group-assembly understands. */
export type AssemblyEvent = Of<(typeof assemblyEvents)[number]>;
/** What group-assembly answers with. */
export type AssemblyDecision = Of<(typeof assemblyDecisions)[number]>;
/** An event by its type. */
export type EventNamed<T extends AssemblyEvent['type']> = Extract<AssemblyEvent, { type: T }>;
/** Where decisions go. */
export type Ctx = Context<AssemblyDecision>;
