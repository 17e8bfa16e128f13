/**
 * Complete-group pipelining (RolloutPipe §3.2): groups go to the trainer as soon as U of them are complete, while later
 * ones are still generated, and the round's weights are published once, after all. See README.md.
 */
import { definePolicyByHand, type Ledger } from '../../core/definition.ts';
import { groupKey, groupsLeft } from '../../core/trained-groups.ts';
import { check } from './check.ts';
import { addGroup } from './groups.ts';
import { closeRound, failRound, finishRound, openRound, restartedTrainer, restartHost, settle } from './rounds.ts';
import { pipeliningConfig } from './schema.ts';
import { load, migrateFromOne, pipeliningSnapshot, type SavedPipelining, save } from './snapshot.ts';
import { newState, type PipeliningState } from './state.ts';
import { consume, finishStep, loseUpdate } from './updates.ts';
import {
  type Ctx,
  type PipeliningDecision,
  type PipeliningEvent,
  pipeliningDecisions,
  pipeliningEvents,
} from './words.ts';

function apply(state: PipeliningState, event: PipeliningEvent, ctx: Ctx): void {
  take(state, event, ctx);
  settle(state, ctx);
}

function take(state: PipeliningState, event: PipeliningEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'group.rewarded':
      return addGroup(state, event, ctx);
    case 'update.consumed':
      return consume(state, event, ctx);
    case 'optimizer.stepped':
      return finishStep(state, event, ctx);
    case 'round.opened':
      return openRound(state, event, ctx);
    case 'round.rewarded':
      return closeRound(state, event, ctx);
    case 'weights.published':
      return finishRound(state, event, ctx);
    case 'update.lost':
      return loseUpdate(state, event, ctx);
    case 'trainer.restarted':
      return restartedTrainer(state, event, ctx);
    case 'round.failed':
      return failRound(state, event, ctx);
    case 'host.restarted':
      return restartHost(state, event, ctx);
  }
}

/** Rewarded groups enter, and leave with their round, late, or left out by name. */
const groupLedger: Ledger<SavedPipelining, PipeliningEvent, PipeliningDecision> = {
  name: 'groups',
  entered: (event) => (event.type === 'group.rewarded' ? [groupKey(event.roundId, event.promptId)] : []),
  left: groupsLeft,
  held: ({ rounds }) =>
    rounds.flatMap(({ roundId, waiting, updates }) =>
      [...waiting, ...updates.flatMap((one) => one.groups)].map(({ groupId }) => groupKey(roundId, groupId)),
    ),
};

/** Trains complete groups while the rollout goes on, on-policy, and publishes the weights once. */
export const completeGroupPipelining = definePolicyByHand({
  id: 'complete-group-pipelining',
  version: 2,
  summary: 'Trains complete groups, U an update, while later ones are generated; weights are published once a round.',
  source: 'RolloutPipe §3.2',
  config: pipeliningConfig,
  events: pipeliningEvents,
  decisions: pipeliningDecisions,
  state: pipeliningSnapshot,
  init: newState,
  check,
  apply,
  save,
  load,
  migrations: { 1: migrateFromOne },
  ledgers: [groupLedger],
});
