/** The words that frontier-group-dispatch understands and answers with. */
import type { Context } from '../../core/definition.ts';
import * as d from '../../schemas/decisions/index.ts';
import * as e from '../../schemas/events/index.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const frontierEvents = [
  e.requestArrived,
  d.requestLaunch,
  e.responseCompleted,
  e.responseFailed,
  d.responseAbandoned,
  d.requestAbort,
  e.requestAborted,
  d.promptCollected,
  d.promptDeferred,
  d.promptQuarantined,
  d.roundCompleted,
  e.roundFailed,
  e.trainConsumed,
  e.hostRestarted,
] as const;

export const frontierDecisions = [
  d.requestAdmit,
  d.requestDeferred,
  d.requestDropped,
  d.groupLeft,
  d.responseLate,
  d.frontierResized,
  d.frontierStarved,
] as const;

/** What frontier-group-dispatch understands. */
export type FrontierEvent = Of<(typeof frontierEvents)[number]>;
/** What frontier-group-dispatch answers with. */
export type FrontierDecision = Of<(typeof frontierDecisions)[number]>;
export type Ctx = Context<FrontierDecision>;
export type EventNamed<T extends FrontierEvent['type']> = Extract<FrontierEvent, { type: T }>;
export type ReasonOf<T extends FrontierDecision['type']> = Extract<FrontierDecision, { type: T }>['reason'];
