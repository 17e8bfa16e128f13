/** What complete-group-pipelining understands and answers with. */
import type { Context } from '../../core/definition.ts';
import { groupRewarded, roundRewarded } from '../../schemas/decisions/groups.ts';
import {
  groupTrainable,
  pipelineMeasured,
  trainDispatch,
  updateCancel,
  weightsPublish,
} from '../../schemas/decisions/pipelining.ts';
import { roundResumed } from '../../schemas/decisions/rounds.ts';
import {
  groupLate,
  groupsDropped,
  optimizerStep,
  roundTrained,
  trainingLate,
} from '../../schemas/decisions/training.ts';
import { trainerRestarted, updateConsumed, updateLost, weightsPublished } from '../../schemas/events/pipelining.ts';
import { roundFailed, roundOpened } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import { optimizerStepped } from '../../schemas/events/training.ts';
import type { Of } from '../../schemas/vocabulary.ts';

/** What the trainer says of its work. */
export const trainerReports = [
  updateConsumed,
  optimizerStepped,
  weightsPublished,
  updateLost,
  trainerRestarted,
] as const;

export const pipeliningEvents = [
  roundOpened,
  groupRewarded,
  roundRewarded,
  ...trainerReports,
  roundFailed,
  hostRestarted,
] as const;

export const pipeliningDecisions = [
  groupTrainable,
  trainDispatch,
  optimizerStep,
  weightsPublish,
  updateCancel,
  roundTrained,
  pipelineMeasured,
  roundResumed,
  groupsDropped,
  groupLate,
  trainingLate,
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
