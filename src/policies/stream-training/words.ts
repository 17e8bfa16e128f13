/** What stream-training understands and answers with. */
import type { Context } from '../../core/definition.ts';
import * as d from '../../schemas/decisions/index.ts';
import * as e from '../../schemas/events/index.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const streamTrainingEvents = [
  e.roundOpened,
  e.groupCompleted,
  e.gpusReleased,
  e.trainConsumed,
  d.roundCompleted,
  e.trainFinished,
  e.optimizerStepped,
  e.gpusReturned,
  e.replicaLost,
  e.replicaAdded,
  e.roundFailed,
  e.hostRestarted,
] as const;

export const streamTrainingDecisions = [
  d.trainFetch,
  d.trainFinish,
  d.gradientsOffload,
  d.gradientsReload,
  d.gradientsDiscard,
  d.weightsSwap,
  d.referenceCompute,
  d.gradientScale,
  d.optimizerStep,
  d.roundTrained,
  d.trainRequeued,
  d.groupsDropped,
  d.groupLate,
  d.trainingLate,
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
