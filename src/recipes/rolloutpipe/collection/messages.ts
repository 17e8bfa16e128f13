/** The decisions of the collection of rounds, and their context. */
import type { Context } from '../../../core/machine/definition.ts';
import { requestAwaited } from '../../../schemas/decisions/frontier.ts';
import { groupUnrewarded } from '../../../schemas/decisions/groups.ts';
import { promptCounted, promptReturned } from '../../../schemas/decisions/prompts.ts';
import { requestAbort, responseAccepted } from '../../../schemas/decisions/requests.ts';
import { rewardRequest } from '../../../schemas/decisions/rewards.ts';
import { roundCompleted } from '../../../schemas/decisions/rounds.ts';
import type { Of } from '../../../schemas/vocabulary.ts';

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

/** A decision of the collection. */
export type CollectionDecision = Of<(typeof collectionDecisions)[number]>;
/** The context through which handlers emit decisions. */
export type Ctx = Context<CollectionDecision>;
