/**
 * Reward dispatch (RollPacker §4.3): the reward of every response is computed as soon as the response is complete, on
 * the least loaded worker of its kind, while others are still being generated. See README.md.
 */

import { checkNewPrefix, replacePrefix } from '../../core/ids/minted-ids.ts';
import { definePolicy, type HeldLedger, handlersOf, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import { checkTimer, timerFired as noteFired } from '../../core/rollout/deadlines.ts';
import { refuse } from '../../errors.ts';
import type { RewardDispatchDecision, RewardDispatchTypes } from '../../generated/settings/reward-dispatch.ts';
import {
  promptDeferred,
  promptFailed,
  promptFiltered,
  promptMerged,
  promptReturned,
} from '../../schemas/decisions/prompts.ts';
import { responseAccepted, responseDropped } from '../../schemas/decisions/requests.ts';
import {
  rewardDispatch as dispatched,
  rewardCancel,
  rewardCancelled,
  rewardExpired,
  rewardFailed,
  rewardLate,
  rewardMerged,
  rewardScored,
  rewardsResumed,
  rewardsSaturated,
} from '../../schemas/decisions/reward-workers.ts';
import { rewardRequest } from '../../schemas/decisions/rewards.ts';
import { roundCompleted } from '../../schemas/decisions/rounds.ts';
import { timerSet } from '../../schemas/decisions/session.ts';
import { triesRecovered, triesSuspended } from '../../schemas/decisions/tries.ts';
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
import {
  cancelNamed,
  cancelRound,
  checkDispatch,
  checkRoom,
  completeRound,
  promptAway,
  promptLeft,
  release,
  want,
} from './dispatches.ts';
import { checkFinished, deadlines, finished, forgetWorker, settle, started, workerLostUnder } from './faults.ts';
import { link, queueAgain, setActive } from './pool.ts';
import { rewardDispatchConfig } from './schema.ts';
import {
  begin,
  type Ctx,
  kinds,
  makeWorker,
  migrateFromThree,
  type RewardState,
  rewardState,
  type SavedRewards,
} from './state.ts';
import { waits } from './waits.ts';

const on = handlersOf<RewardState, RewardDispatchDecision>();
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

function checkKind(state: RewardState, event: Message<'reward-worker.added'>): void {
  const kind = state.workers.get(event.workerId)?.kind;
  if (kind === undefined || kind === event.kind) return;
  refuse('duplicate_id', 'kind', `${kind}, as ${event.workerId} was added before`, event.kind);
}

function addWorker(state: RewardState, event: Message<'reward-worker.added'>, ctx: Ctx): void {
  const { workerId: id, kind, slots } = event;
  let worker = state.workers.get(id);
  if (worker === undefined) {
    const pool = state.pools[kind];
    worker = makeWorker({ id, kind, slots, pool });
    state.workers.set(id, worker);
  }
  worker.slots = slots;
  const suspension = worker.active ? undefined : worker.pool.faults.find({ scope: 'reward', id: null })?.suspension;
  // A new worker may be what was missing.
  if (suspension != null) suspension.retryAt = ctx.at;
  setActive(worker, true);
}

function checkWorker(state: RewardState, { workerId }: { readonly workerId: string }): void {
  if (!state.workers.has(workerId)) refuse('unknown_id', 'workerId', 'a reward worker that was added', workerId);
}

function drainWorker(state: RewardState, { workerId }: Message<'reward-worker.drained'>, ctx: Ctx): void {
  const worker = state.workers.get(workerId)!;
  setActive(worker, false);
  forgetWorker(state, worker, ctx);
}

/** Dispatches the rewards of a lost worker elsewhere. */
function loseWorker(state: RewardState, { workerId }: Message<'reward-worker.lost'>, ctx: Ctx): void {
  const worker = state.workers.get(workerId)!;
  setActive(worker, false);
  state.workers.delete(workerId);
  forgetWorker(state, worker, ctx);
  for (let dispatch = worker.running.peek(); dispatch !== undefined; dispatch = worker.running.peek()) {
    const { sample } = dispatch;
    release(state, dispatch);
    if (sample !== null) workerLostUnder(state, sample, worker, ctx);
  }
}

/** Dispatches again, under the new prefix, all rewards that were being computed; this does not count as a retry. */
function restart(state: RewardState, { idPrefix }: Message<'host.restarted'>, ctx: Ctx): void {
  replacePrefix(state, idPrefix);
  deadlines.forget(state);
  state.restarted = true;
  for (const dispatch of [...state.dispatches.values()]) {
    release(state, dispatch);
    if (dispatch.sample !== null) queueAgain(state, dispatch.sample, 'host_restarted', ctx.at);
  }
  for (const kind of kinds) state.pools[kind].faults.restart(ctx.at);
}

/** Holds responses whose reward is requested: each leaves with a reward, failed, cancelled, or as a repeated request. */
const samples: HeldLedger<SavedRewards> = {
  name: 'samples',
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
  decisions: [
    dispatched,
    rewardCancel,
    rewardScored,
    rewardFailed,
    rewardCancelled,
    rewardMerged,
    rewardLate,
    rewardExpired,
    rewardsSaturated,
    rewardsResumed,
    triesSuspended,
    triesRecovered,
    timerSet,
  ],
  ledgers: [samples],
  waits,
});
