/**
 * The stream trainer (RollPacker §4.4, §5): while the rollout continues, completed groups are trained on GPUs that it has released.
 * Gradients stay on their replicas until the round is over; then the optimizer steps once. See README.md.
 */

import { checkNewPrefix } from '../../core/ids/minted-ids.ts';
import { definePolicy, type HeldLedger, handlersOf, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import type { StreamTrainingDecision, StreamTrainingTypes } from '../../generated/settings/stream-training.ts';
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
import { groupKey } from '../../schemas/moves.ts';
import { feed, spread } from './fetches.ts';
import {
  addReplica,
  checkConsumed,
  checkGpus,
  checkReplica,
  consume,
  consumeFetch,
  loseReplica,
  makeRoom,
  releaseGpus,
  restartHost,
  returnGpus,
} from './replicas.ts';
import {
  checkCompleted,
  checkOpening,
  checkRound,
  checkStepped,
  completeGroup,
  completeRound,
  failRound,
  handOver,
  openRound,
  step,
  stepped,
} from './rounds.ts';
import { streamTrainingConfig } from './schema.ts';
import {
  begin,
  type Ctx,
  link,
  type SavedStreamTraining,
  type StreamTrainingState,
  streamTrainingState,
  waitingCount,
} from './state.ts';
import { waits } from './waits.ts';

const on = handlersOf<StreamTrainingState, StreamTrainingDecision>();
const handlers = [
  on(roundOpened, openRound, checkOpening),
  on(groupCompleted, completeGroup, checkRound),
  on(gpusReleased, releaseGpus, checkGpus),
  on(trainConsumed, consumeFetch, checkConsumed),
  on(roundCompleted, completeRound, checkCompleted),
  on(trainFinished, consume, checkConsumed),
  on(optimizerStepped, stepped, checkStepped),
  on(gpusReturned, returnGpus, checkGpus),
  on(replicaLost, loseReplica, checkReplica),
  on(replicaAdded, addReplica, checkReplica),
  on(roundFailed, failRound, checkRound),
  on(hostRestarted, restartHost, checkNewPrefix),
];

function after(state: StreamTrainingState, ctx: Ctx): void {
  settle(state, ctx);
  const { consumer } = state;
  if (consumer === null) return;
  state.consumer = null;
  makeRoom(state, consumer, ctx);
}

/** Makes all decisions that the state allows: fetches, shares and the step; a round without groups is followed by the next one. */
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

const groupLedger: HeldLedger<SavedStreamTraining> = {
  name: 'groups',
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

/** Trains completed groups while the rollout continues, and steps once when the round is over. */
export const streamTraining: PolicyDefinitionOf<StreamTrainingTypes, StreamTrainingState, SavedStreamTraining> =
  definePolicy({
    id: 'stream-training',
    version: 3,
    summary: 'Trains completed groups on released GPUs during the rollout; one exact optimizer step at its end.',
    source: 'RollPacker §4.4, §5',
    config: streamTrainingConfig,
    state: streamTrainingState,
    begin,
    link,
    handlers,
    after,
    decisions: [
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
    ],
    ledgers: [groupLedger],
    waits,
  });
