/** What the collection of rounds understands and answers with. */
import type { Context } from '../../../core/definition.ts';
import { groupLeft, requestAdmit, requestAwaited, requestDropped } from '../../../schemas/decisions/frontier.ts';
import { groupRewarded, groupUnrewarded, roundRewarded } from '../../../schemas/decisions/groups.ts';
import { promptCounted, promptReturned } from '../../../schemas/decisions/prompts.ts';
import { requestAbort, responseAbandoned, responseAccepted } from '../../../schemas/decisions/requests.ts';
import { rewardFailed } from '../../../schemas/decisions/reward-workers.ts';
import { rewardRequest } from '../../../schemas/decisions/rewards.ts';
import { roundCompleted } from '../../../schemas/decisions/rounds.ts';
import { requestArrived } from '../../../schemas/events/frontier.ts';
import { requestAborted, responseCompleted, responseFailed } from '../../../schemas/events/requests.ts';
import { rewardReady } from '../../../schemas/events/rewards.ts';
import { roundFailed, roundOpened } from '../../../schemas/events/rounds.ts';
import { hostRestarted } from '../../../schemas/events/session.ts';
import type { Of } from '../../../schemas/vocabulary.ts';

export const collectionEvents = [
  roundOpened,
  requestArrived,
  requestAdmit,
  responseCompleted,
  responseFailed,
  responseAbandoned,
  requestAborted,
  requestDropped,
  groupLeft,
  rewardReady,
  rewardFailed,
  groupRewarded,
  groupUnrewarded,
  roundRewarded,
  roundFailed,
  hostRestarted,
] as const;
export const collectionDecisions = [
  requestAbort,
  responseAccepted,
  promptCounted,
  promptReturned,
  groupUnrewarded,
  roundCompleted,
  requestAwaited,
  rewardRequest,
] as const;

/** What the collection of rounds understands. */
export type CollectionEvent = Of<(typeof collectionEvents)[number]>;
/** An event by its type. */
export type EventNamed<T extends CollectionEvent['type']> = Extract<CollectionEvent, { type: T }>;
/** Where decisions go. */
export type Ctx = Context<Of<(typeof collectionDecisions)[number]>>;
