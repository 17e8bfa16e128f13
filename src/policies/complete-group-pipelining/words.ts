/** What complete-group-pipelining understands and answers with. */
import type { Context } from '../../core/definition.ts';
import * as d from '../../schemas/decisions/index.ts';
import * as e from '../../schemas/events/index.ts';
import type { Of } from '../../schemas/vocabulary.ts';

/** What the trainer says of its work. */
export const trainerReports = [
  e.updateConsumed,
  e.optimizerStepped,
  e.weightsPublished,
  e.updateLost,
  e.trainerRestarted,
] as const;

export const pipeliningEvents = [
  e.roundOpened,
  d.groupRewarded,
  d.roundRewarded,
  ...trainerReports,
  e.roundFailed,
  e.hostRestarted,
] as const;

export const pipeliningDecisions = [
  d.groupTrainable,
  d.trainDispatch,
  d.optimizerStep,
  d.weightsPublish,
  d.updateCancel,
  d.roundTrained,
  d.pipelineMeasured,
  d.groupsDropped,
  d.groupLate,
  d.trainingLate,
] as const;

/** What complete-group-pipelining understands. */
export type PipeliningEvent = Of<(typeof pipeliningEvents)[number]>;
/** What complete-group-pipelining answers with. */
export type PipeliningDecision = Of<(typeof pipeliningDecisions)[number]>;
/** An event by its type. */
export type EventNamed<T extends PipeliningEvent['type']> = Extract<PipeliningEvent, { type: T }>;
/** A decision by its type. */
export type DecisionNamed<T extends PipeliningDecision['type']> = Extract<PipeliningDecision, { type: T }>;
/** Where decisions go. */
export type Ctx = Context<PipeliningDecision>;
/** Why an update is dispatched. */
export type DispatchReason = DecisionNamed<'train.dispatch'>['reason'];
/** Why an update is dispatched again. */
export type AgainCode = Exclude<DispatchReason['code'], 'batch_ready' | 'round_end'>;
