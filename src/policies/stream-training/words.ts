/** What stream-training understands and answers with. */
import type { Context } from '../../core/definition.ts';
import { roundCompleted, roundResumed } from '../../schemas/decisions/rounds.ts';
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
import { gpusReleased, gpusReturned } from '../../schemas/events/gpus.ts';
import { roundFailed, roundOpened } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import {
  groupCompleted,
  optimizerStepped,
  replicaAdded,
  replicaLost,
  trainConsumed,
  trainFinished,
} from '../../schemas/events/training.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const streamTrainingEvents = [
  roundOpened,
  groupCompleted,
  gpusReleased,
  trainConsumed,
  roundCompleted,
  trainFinished,
  optimizerStepped,
  gpusReturned,
  replicaLost,
  replicaAdded,
  roundFailed,
  hostRestarted,
] as const;

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

/** What stream-training understands. */
export type StreamTrainingEvent = Of<(typeof streamTrainingEvents)[number]>;
/** What stream-training answers with. */
export type StreamTrainingDecision = Of<(typeof streamTrainingDecisions)[number]>;
/** An event by its type. */
export type EventNamed<T extends StreamTrainingEvent['type']> = Extract<StreamTrainingEvent, { type: T }>;
/** A decision by its type. */
export type DecisionNamed<T extends StreamTrainingDecision['type']> = Extract<StreamTrainingDecision, { type: T }>;
/** Where decisions go. */
export type Ctx = Context<StreamTrainingDecision>;
/** Why what remains is spread, once or again. */
export type FinishCode = DecisionNamed<'train.finish'>['reason']['code'];
/** Why gradients are dropped by a replica that is there. */
export type DiscardCode = DecisionNamed<'gradients.discard'>['reason']['code'];
/** Why groups are trained again. */
export type RequeueCode = DecisionNamed<'train.requeued'>['reason']['code'];
