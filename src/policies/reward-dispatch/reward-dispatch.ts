/**
 * Reward dispatch (RollPacker §4.3): the reward of every response is computed as soon as the response is complete, on
 * the least loaded worker of its kind, while others are still being generated. See README.md.
 */
import { type Context, definePolicyByHand, type Ledger } from '../../core/definition.ts';
import { check } from './check.ts';
import * as cluster from './cluster.ts';
import { settle } from './dispatches.ts';
import * as reports from './reports.ts';
import * as rounds from './rounds.ts';
import { want } from './samples.ts';
import { rewardDispatchConfig } from './schema.ts';
import { load, migrateFromOne, rewardSnapshot, type SavedRewards, save } from './snapshot.ts';
import { newState, type RewardState } from './state.ts';
import { type RewardDecision, type RewardEvent, rewardDecisions, rewardEvents } from './words.ts';

type Ctx = Context<RewardDecision>;

function apply(state: RewardState, event: RewardEvent, ctx: Ctx): void {
  handle(state, event, ctx);
  settle(state, event.type === 'host.restarted', ctx);
}

function handle(state: RewardState, event: RewardEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'reward.requested':
    case 'reward.request':
    case 'response.accepted':
      return want(state, event, ctx);
    case 'reward.started':
      return reports.started(state, event, ctx);
    case 'reward.finished':
      return reports.finished(state, event, ctx);
    case 'timer.fired':
      return reports.expireOverdue(state, ctx);
    case 'reward.withdrawn':
      return rounds.cancelNamed(state, [event], 'withdrawn', ctx);
    case 'response.dropped':
      return rounds.cancelNamed(state, [event], 'response_dropped', ctx);
    case 'prompt.merged':
      return rounds.cancelNamed(state, event.dropped, 'prompt_merged', ctx);
    case 'prompt.deferred':
      return rounds.promptAway(state, event, 'prompt_deferred', ctx);
    case 'prompt.returned':
      return rounds.promptAway(state, event, 'prompt_returned', ctx);
    case 'prompt.filtered':
      return rounds.promptLeft(state, event, 'prompt_filtered', ctx);
    case 'prompt.quarantined':
      return rounds.promptLeft(state, event, 'prompt_quarantined', ctx);
    case 'round.completed':
      return rounds.roundCompleted(state, event, ctx);
    case 'round.failed':
      return rounds.cancelRound(state, event.roundId, 'round_failed', ctx);
    case 'reward-worker.added':
      return cluster.workerAdded(state, event);
    case 'reward-worker.drained':
      return cluster.workerDrained(state, event.workerId);
    case 'reward-worker.lost':
      return cluster.workerLost(state, event.workerId, ctx);
    case 'host.restarted':
      return cluster.hostRestarted(state, event.idPrefix, ctx);
  }
}

/** Responses whose reward is wanted: each leaves with a reward, failed, cancelled, or merged into itself. */
const samples: Ledger<SavedRewards, RewardEvent, RewardDecision> = {
  name: 'samples',
  entered: (event) => {
    const isWanted =
      event.type === 'reward.requested' || event.type === 'reward.request' || event.type === 'response.accepted';
    return isWanted ? [event.requestId] : [];
  },
  left: (decision) => {
    switch (decision.type) {
      case 'reward.scored':
      case 'reward.failed':
      case 'reward.cancelled':
      case 'reward.merged':
        return [decision.requestId];
      default:
        return [];
    }
  },
  held: (saved) => saved.samples.map((one) => one.requestId),
};

/** Computes each reward as soon as its response is complete, on the least loaded worker of its kind. */
export const rewardDispatch = definePolicyByHand({
  id: 'reward-dispatch',
  version: 2,
  summary: 'Computes each reward as soon as its response is complete, on the least loaded worker of its kind.',
  source: 'RollPacker §4.3',
  config: rewardDispatchConfig,
  events: rewardEvents,
  decisions: rewardDecisions,
  state: rewardSnapshot,
  init: newState,
  check,
  apply,
  save,
  load,
  migrations: { 1: migrateFromOne },
  ledgers: [samples],
});
