/** The decisions of stream-training, and their context. */
import { type Context, handlersOf } from '../../core/machine/definition.ts';
import type { StreamTrainingDecision } from '../../generated/settings/stream-training.ts';
import { roundResumed } from '../../schemas/decisions/rounds.ts';
import {
  gradientScale,
  gradientsDiscard,
  gradientsOffload,
  gradientsReload,
  groupLate,
  groupsDropped,
  optimizerStep,
  referenceCompute,
  roundTrained,
  trainFetch,
  trainFinish,
  trainingLate,
  trainRequeued,
  weightsSwap,
} from '../../schemas/decisions/training.ts';
import type { StreamTrainingState } from './state.ts';

export const streamTrainingDecisions = [
  trainFetch,
  trainFinish,
  gradientsOffload,
  gradientsReload,
  gradientsDiscard,
  weightsSwap,
  referenceCompute,
  gradientScale,
  optimizerStep,
  roundTrained,
  roundResumed,
  trainRequeued,
  groupsDropped,
  groupLate,
  trainingLate,
] as const;

/** The context through which handlers emit decisions. */
export type Ctx = Context<StreamTrainingDecision>;
/** Declares the handler of an event. */
export const on = handlersOf<StreamTrainingState, StreamTrainingDecision>();
