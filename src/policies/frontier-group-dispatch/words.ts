/** The words that frontier-group-dispatch understands and answers with. */
import type { Context } from '../../core/definition.ts';
import {
  frontierResized,
  frontierStarved,
  groupLeft,
  requestAdmit,
  requestAwaited,
  requestDeferred,
  requestDropped,
} from '../../schemas/decisions/frontier.ts';
import { promptCollected, promptDeferred, promptQuarantined } from '../../schemas/decisions/prompts.ts';
import { requestAbort, requestLaunch, responseAbandoned, responseLate } from '../../schemas/decisions/requests.ts';
import { roundCompleted } from '../../schemas/decisions/rounds.ts';
import { requestArrived } from '../../schemas/events/frontier.ts';
import { requestAborted, responseCompleted, responseFailed } from '../../schemas/events/requests.ts';
import { roundFailed } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import { trainConsumed } from '../../schemas/events/training.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const frontierEvents = [
  requestArrived,
  requestLaunch,
  responseCompleted,
  responseFailed,
  responseAbandoned,
  requestAbort,
  requestAborted,
  promptCollected,
  promptDeferred,
  promptQuarantined,
  roundCompleted,
  roundFailed,
  trainConsumed,
  hostRestarted,
] as const;

export const frontierDecisions = [
  requestAdmit,
  requestDeferred,
  requestDropped,
  requestAwaited,
  groupLeft,
  responseLate,
  frontierResized,
  frontierStarved,
] as const;

/** What frontier-group-dispatch understands. */
export type FrontierEvent = Of<(typeof frontierEvents)[number]>;
/** What frontier-group-dispatch answers with. */
export type FrontierDecision = Of<(typeof frontierDecisions)[number]>;
export type Ctx = Context<FrontierDecision>;
export type EventNamed<T extends FrontierEvent['type']> = Extract<FrontierEvent, { type: T }>;
export type ReasonOf<T extends FrontierDecision['type']> = Extract<FrontierDecision, { type: T }>['reason'];
