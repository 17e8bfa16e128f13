/** The words that long-prompt-queue understands and answers with. */
import { promptDeferred, promptMerged, promptReturned } from '../../schemas/decisions/prompts.ts';
import { promptsRequest, roundPlanned, sourceDrained } from '../../schemas/decisions/rounds.ts';
import { roundRequested, sourceExhausted, sourceReopened } from '../../schemas/events/rounds.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const queueEvents = [promptDeferred, promptReturned, roundRequested, sourceExhausted, sourceReopened] as const;
export const queueDecisions = [roundPlanned, promptsRequest, promptMerged, sourceDrained] as const;

/** What long-prompt-queue understands. */
export type QueueEvent = Of<(typeof queueEvents)[number]>;
/** What long-prompt-queue answers with. */
export type QueueDecision = Of<(typeof queueDecisions)[number]>;
