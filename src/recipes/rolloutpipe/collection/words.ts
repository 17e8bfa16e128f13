/** What the collection of rounds understands and answers with. */
import type { Context } from '../../../core/definition.ts';
import * as d from '../../../schemas/decisions/index.ts';
import * as e from '../../../schemas/events/index.ts';
import type { Of } from '../../../schemas/vocabulary.ts';

export const collectionEvents = [
  e.roundOpened,
  e.requestArrived,
  d.requestAdmit,
  e.responseCompleted,
  e.responseFailed,
  d.responseAbandoned,
  e.requestAborted,
  d.requestDropped,
  d.groupLeft,
  e.rewardReady,
  d.rewardFailed,
  d.groupRewarded,
  d.groupUnrewarded,
  d.roundRewarded,
  e.roundFailed,
  e.hostRestarted,
] as const;
export const collectionDecisions = [
  d.requestAbort,
  d.responseAccepted,
  d.promptCounted,
  d.promptReturned,
  d.groupUnrewarded,
  d.roundCompleted,
  d.rewardRequest,
] as const;

/** What the collection of rounds understands. */
export type CollectionEvent = Of<(typeof collectionEvents)[number]>;
/** An event by its type. */
export type EventNamed<T extends CollectionEvent['type']> = Extract<CollectionEvent, { type: T }>;
/** Where decisions go. */
export type Ctx = Context<Of<(typeof collectionDecisions)[number]>>;
