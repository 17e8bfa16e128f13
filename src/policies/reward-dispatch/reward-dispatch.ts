/**
 * Reward dispatch (RollPacker §4.3): the reward of every response is computed as soon as the response is complete, on
 * the least loaded worker of its kind, while others are still being generated. See README.md.
 */

import { checkNewPrefix } from '../../core/ids/minted-ids.ts';
import { definePolicy, type Ledger, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import { checkTimer, timerFired as noteFired } from '../../core/rollout/deadlines.ts';
import type { RewardDispatchDecision, RewardDispatchTypes } from '../../generated/settings/reward-dispatch.ts';
import {
  promptDeferred,
  promptFailed,
  promptFiltered,
  promptMerged,
  promptReturned,
} from '../../schemas/decisions/prompts.ts';
import { responseAccepted, responseDropped } from '../../schemas/decisions/requests.ts';
import { rewardRequest } from '../../schemas/decisions/rewards.ts';
import { roundCompleted } from '../../schemas/decisions/rounds.ts';
import {
  rewardFinished,
  rewardRequested,
  rewardStarted,
  rewardWithdrawn,
  rewardWorkerAdded,
  rewardWorkerDrained,
  rewardWorkerLost,
} from '../../schemas/events/reward-workers.ts';
import { roundFailed } from '../../schemas/events/rounds.ts';
import { hostRestarted, timerFired } from '../../schemas/events/session.ts';
import type { Message } from '../../schemas/messages.ts';
import { checkDispatch } from './dispatches.ts';
import { on, rewardDecisions } from './messages.ts';
import { checkFinished, deadlines, finished, settle, started } from './reports.ts';
import { cancelNamed, cancelRound, completeRound, promptAway, promptLeft } from './rounds.ts';
import { checkRoom, want } from './samples.ts';
import { rewardDispatchConfig } from './schema.ts';
import { begin, link, migrateFromThree, type RewardState, rewardState, type SavedRewards } from './state.ts';
import { waits } from './waits.ts';
import { addWorker, checkKind, checkWorker, drainWorker, loseWorker, restart } from './workers.ts';

const handlers = [
  on(rewardWorkerAdded, addWorker, checkKind),
  on(rewardWorkerDrained, drainWorker, checkWorker),
  on(rewardWorkerLost, loseWorker, checkWorker),
  on(rewardRequested, want, checkRoom),
  on(rewardWithdrawn, (state, event, ctx) => cancelNamed(state, [event], 'withdrawn', ctx)),
  on(rewardStarted, started, checkDispatch),
  on(rewardFinished, finished, checkFinished),
  on(responseAccepted, want),
  on(responseDropped, (state, event, ctx) => cancelNamed(state, [event], 'response_dropped', ctx)),
  on(rewardRequest, want),
  on(roundCompleted, completeRound),
  on(roundFailed, (state, event, ctx) => cancelRound(state, event.roundId, 'round_failed', ctx)),
  on(promptDeferred, (state, event, ctx) => promptAway(state, event, 'prompt_deferred', ctx)),
  on(promptReturned, (state, event, ctx) => promptAway(state, event, 'prompt_returned', ctx)),
  on(promptFiltered, (state, event, ctx) => promptLeft(state, event, 'prompt_filtered', ctx)),
  on(promptFailed, (state, event, ctx) => promptLeft(state, event, 'prompt_failed', ctx)),
  on(promptMerged, (state, event, ctx) => cancelNamed(state, event.dropped, 'prompt_merged', ctx)),
  on(timerFired, noteFired(deadlines), checkTimer(deadlines)),
  on(hostRestarted, restart, checkNewPrefix),
];

/** Holds responses whose reward is requested: each leaves with a reward, failed, cancelled, or as a repeated request. */
const samples: Ledger<SavedRewards, Message, RewardDispatchDecision> = {
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

/**
 * Computes each reward as soon as its response is complete, on the least loaded worker of its kind.
 *
 * `reward.requested` asks for a reward. The computation begins with `reward.dispatch`, continues with `reward.started` and ends
 * with `reward.finished`. `reward.scored` gives the result, which other policies take as `reward.ready`.
 */
export const rewardDispatch: PolicyDefinitionOf<RewardDispatchTypes, RewardState, SavedRewards> = definePolicy({
  id: 'reward-dispatch',
  version: 4,
  migrations: { 3: migrateFromThree },
  summary: 'Computes each reward as soon as its response is complete, on the least loaded worker of its kind.',
  source: 'RollPacker §4.3',
  config: rewardDispatchConfig,
  state: rewardState,
  begin,
  link,
  handlers,
  after: settle,
  dueAt: (state) => deadlines.first(state),
  decisions: rewardDecisions,
  ledgers: [samples],
  waits,
});
