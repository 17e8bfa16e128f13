/** The words that long-prompt-queue understands and answers with. */
import {
  promptCarried,
  promptDeferred,
  promptFiltered,
  promptMerged,
  promptQuarantined,
  promptReturned,
} from '../../schemas/decisions/prompts.ts';
import { promptsRequest, roundPlanned, sourceDrained } from '../../schemas/decisions/rounds.ts';
import { rewardReady } from '../../schemas/events/rewards.ts';
import { roundRequested, sourceExhausted, sourceReopened } from '../../schemas/events/rounds.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const queueEvents = [
  promptDeferred,
  promptReturned,
  promptCarried,
  promptFiltered,
  promptQuarantined,
  rewardReady,
  roundRequested,
  sourceExhausted,
  sourceReopened,
] as const;
export const queueDecisions = [roundPlanned, promptsRequest, promptMerged, sourceDrained] as const;

/** What long-prompt-queue understands. */
export type QueueEvent = Of<(typeof queueEvents)[number]>;
/** What long-prompt-queue answers with. */
export type QueueDecision = Of<(typeof queueDecisions)[number]>;
