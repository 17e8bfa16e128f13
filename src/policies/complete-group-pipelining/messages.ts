/** The decisions of complete-group-pipelining, and their context. */
import type { Context } from '../../core/machine/definition.ts';
import type { CompleteGroupPipeliningDecision } from '../../generated/settings/complete-group-pipelining.ts';
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

/** The context through which handlers emit decisions. */
export type Ctx = Context<CompleteGroupPipeliningDecision>;
