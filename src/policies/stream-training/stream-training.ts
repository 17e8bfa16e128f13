/**
 * The stream trainer (RollPacker §4.4, §5): completed groups are trained on GPUs that the rollout has released while it
 * goes on, gradients stay where they are until the round is over, and the optimizer steps once. See README.md.
 */
import { definePolicyByHand, type Ledger } from '../../core/definition.ts';
import { groupKey, groupsLeft } from '../../core/trained-groups.ts';
import { check } from './check.ts';
import { feed } from './fetch.ts';
import { handOver, spread, step, stepped } from './finish.ts';
import { addReplica, consume, loseReplica, makeRoom, releaseGpus, restartHost, returnGpus } from './replicas.ts';
import { completeGroup, completeRound, failRound, openRound } from './rounds.ts';
import { streamTrainingConfig } from './schema.ts';
import { load, migrateFromOne, type SavedStreamTraining, save, streamTrainingSnapshot } from './snapshot.ts';
import { newState, type StreamTrainingState, waitingCount } from './state.ts';
import {
  type Ctx,
  type StreamTrainingDecision,
  type StreamTrainingEvent,
  streamTrainingDecisions,
  streamTrainingEvents,
} from './words.ts';

function apply(state: StreamTrainingState, event: StreamTrainingEvent, ctx: Ctx): void {
  take(state, event, ctx);
  settle(state, ctx);
  if (event.type === 'train.consumed') makeRoom(state, state.byId.get(event.replica)!, ctx);
}

function take(state: StreamTrainingState, event: StreamTrainingEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'group.completed':
      return completeGroup(state, event, ctx);
    case 'train.consumed':
    case 'train.finished':
      return consume(state, event, ctx);
    case 'round.opened':
      return openRound(state, event);
    case 'round.completed':
      return completeRound(state, event, ctx);
    case 'round.failed':
      return failRound(state, event, ctx);
    case 'gpus.released':
      return releaseGpus(state, event, ctx);
    case 'gpus.returned':
      return returnGpus(state, event, ctx);
    case 'replica.lost':
      return loseReplica(state, event, ctx);
    case 'replica.added':
      return addReplica(state, event);
    case 'host.restarted':
      return restartHost(state, event, ctx);
    case 'optimizer.stepped':
      return stepped(state, event, ctx);
  }
}

/** What follows from the state: fetches, shares, the step; and the next round after one without groups. */
function settle(state: StreamTrainingState, ctx: Ctx): void {
  for (let round = state.head; round !== null; round = state.head) {
    if (round.phase === 'streaming') return feed(state, round, ctx);
    if (round.phase === 'stepping') return;
    if (round.groups.size > 0) {
      if (round.finishCode !== null || waitingCount(round) > 0) spread(state, round, ctx);
      return step(state, round, ctx);
    }
    handOver(state, round, ctx);
  }
}

const groupLedger: Ledger<SavedStreamTraining, StreamTrainingEvent, StreamTrainingDecision> = {
  name: 'groups',
  entered: (event) => (event.type === 'group.completed' ? [groupKey(event.roundId, event.groupId)] : []),
  left: groupsLeft,
  held: ({ rounds, replicas }) => [
    ...rounds.flatMap(({ roundId, again, fresh }) =>
      [...again, ...fresh].map(({ groupId }) => groupKey(roundId, groupId)),
    ),
    // Only the first round is trained.
    ...replicas
      .flatMap(({ works, consumed }) => [...works.flatMap((work) => work.groups), ...consumed])
      .map(({ groupId }) => groupKey(rounds[0]!.roundId, groupId)),
  ],
};

/** Trains completed groups while the rollout goes on, and steps once when the round is over. */
export const streamTraining = definePolicyByHand({
  id: 'stream-training',
  version: 2,
  summary: 'Trains completed groups on released GPUs during the rollout; one exact optimizer step at its end.',
  source: 'RollPacker §4.4, §5',
  config: streamTrainingConfig,
  events: streamTrainingEvents,
  decisions: streamTrainingDecisions,
  state: streamTrainingSnapshot,
  init: newState,
  check,
  apply,
  save,
  load,
  migrations: { 1: migrateFromOne },
  ledgers: [groupLedger],
});
