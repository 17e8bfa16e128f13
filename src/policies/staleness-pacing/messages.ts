/** The decisions of staleness-pacing, and their context. */
import { type Context, handlersOf } from '../../core/machine/definition.ts';
import type { StalenessPacingDecision } from '../../generated/settings/staleness-pacing.ts';
import { groupWithdrawn } from '../../schemas/decisions/groups.ts';
import { groupDrop, groupLaunch, trainBatch } from '../../schemas/decisions/pacing.ts';
import { promptMerged, promptReturned } from '../../schemas/decisions/prompts.ts';
import { promptsRequest, roundDrained, roundResumed, sourceDrained } from '../../schemas/decisions/rounds.ts';
import { groupLate, trainingLate } from '../../schemas/decisions/training.ts';
import type { PacingState } from './state.ts';

export const pacingDecisions = [
  promptsRequest,
  groupLaunch,
  trainBatch,
  groupDrop,
  groupWithdrawn,
  promptMerged,
  promptReturned,
  roundResumed,
  roundDrained,
  sourceDrained,
  groupLate,
  trainingLate,
] as const;

/** The context through which handlers emit decisions. */
export type Ctx = Context<StalenessPacingDecision>;
/** Declares the handler of an event. */
export const on = handlersOf<PacingState, StalenessPacingDecision>();
