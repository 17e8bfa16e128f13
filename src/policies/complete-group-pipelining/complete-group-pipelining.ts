/**
 * Complete-group pipelining (RolloutPipe §3.2): groups go to the trainer as soon as U of them are complete, while later groups are
 * still generated. The weights of a round are published once, after its last update. See README.md.
 */

import { checkNewPrefix } from '../../core/ids/minted-ids.ts';
import { definePolicy, type HeldLedger, handlersOf, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import type {
  CompleteGroupPipeliningDecision,
  CompleteGroupPipeliningTypes,
} from '../../generated/settings/complete-group-pipelining.ts';
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
import { groupKey } from '../../schemas/moves.ts';
import type { EventMessage } from '../../schemas/vocabulary.ts';
import { addGroup, checkGroup } from './groups.ts';
import * as rounds from './rounds.ts';
import { pipeliningConfig } from './schema.ts';
import {
  begin,
  checkRound,
  link,
  migrateFromOne,
  type PipeliningState,
  pipeliningState,
  type SavedPipelining,
} from './state.ts';
import * as updates from './updates.ts';
import { waits } from './waits.ts';

const on = handlersOf<PipeliningState, CompleteGroupPipeliningDecision>();
const fromTrainer = [
  on(updateConsumed, updates.consume, updates.checkConsumed),
  on(optimizerStepped, updates.finishStep, updates.checkStepped),
  on(weightsPublished, rounds.finishRound, rounds.checkPublished),
  on(updateLost, updates.loseUpdate, (state, event) => void updates.checkUpdate(state, event)),
  on(trainerRestarted, rounds.restartedTrainer, rounds.checkRestart),
];
const handlers = [
  on(roundOpened, rounds.openRound, rounds.checkOpening),
  on(groupRewarded, addGroup, checkGroup),
  on(roundRewarded, rounds.closeRound, rounds.checkRewarded),
  ...fromTrainer,
  on(roundFailed, rounds.failRound, (state, event) => void checkRound(state, event)),
  on(hostRestarted, rounds.restartHost, checkNewPrefix),
];

type TrainerReport =
  | 'update.consumed'
  | 'update.lost'
  | 'optimizer.stepped'
  | 'weights.published'
  | 'trainer.restarted';

/** Events that report the work of the trainer. */
export const trainerReports: readonly EventMessage<TrainerReport>[] = fromTrainer.flatMap<EventMessage<TrainerReport>>(
  ({ messages }) => [...messages],
);

/** Holds rewarded groups, which leave trained with their round, late, or dropped. */
const groupLedger: HeldLedger<SavedPipelining> = {
  name: 'groups',
  held: ({ rounds }) =>
    rounds.flatMap(({ roundId, waiting, updates }) =>
      [...waiting, ...updates.flatMap((one) => one.groups)].map(({ groupId }) => groupKey(roundId, groupId)),
    ),
};

/** Trains complete groups on-policy while the rollout continues, and publishes the weights once. */
export const completeGroupPipelining: PolicyDefinitionOf<
  CompleteGroupPipeliningTypes,
  PipeliningState,
  SavedPipelining
> = definePolicy({
  id: 'complete-group-pipelining',
  version: 2,
  summary: 'Trains complete groups, U an update, while later ones are generated; weights are published once a round.',
  source: 'RolloutPipe §3.2',
  config: pipeliningConfig,
  state: pipeliningState,
  begin,
  link,
  handlers,
  after: rounds.settle,
  decisions: [
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
  ],
  migrations: { 1: migrateFromOne },
  ledgers: [groupLedger],
  waits,
});
