/** Handles workers that come and go, and restarts of the host. */
import { LinkedList } from '../../core/collections/linked-list.ts';
import { replacePrefix } from '../../core/ids/minted-ids.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { release } from './dispatches.ts';
import { forgetWorker, workerLostUnder } from './faults.ts';
import type { Ctx } from './messages.ts';
import { queueAgain, setActive } from './pool.ts';
import { deadlines } from './reports.ts';
import { type Dispatch, kinds, type RewardState } from './state.ts';

export function checkKind(state: RewardState, event: Message<'reward-worker.added'>): void {
  const kind = state.workers.get(event.workerId)?.kind;
  if (kind === undefined || kind === event.kind) return;
  refuse('duplicate_id', 'kind', `${kind}, as ${event.workerId} was added before`, event.kind);
}

export function addWorker(state: RewardState, event: Message<'reward-worker.added'>, ctx: Ctx): void {
  const { workerId: id, kind, slots } = event;
  let worker = state.workers.get(id);
  if (worker === undefined) {
    const pool = state.pools[kind];
    const load = { running: new LinkedList<Dispatch>(), live: 0, assignedMs: 0, heapIndex: -1 };
    worker = { id, kind, slots, active: false, pool, ...load };
    state.workers.set(id, worker);
  }
  worker.slots = slots;
  const suspension = worker.active ? undefined : worker.pool.faults.find({ scope: 'reward', id: null })?.suspension;
  // A new worker may be what was missing.
  if (suspension != null) suspension.retryAt = ctx.at;
  setActive(worker, true);
}

export function checkWorker(state: RewardState, { workerId }: { readonly workerId: string }): void {
  if (!state.workers.has(workerId)) refuse('unknown_id', 'workerId', 'a reward worker that was added', workerId);
}

export function drainWorker(state: RewardState, { workerId }: Message<'reward-worker.drained'>, ctx: Ctx): void {
  const worker = state.workers.get(workerId)!;
  setActive(worker, false);
  forgetWorker(state, worker, ctx);
}

/** Dispatches the rewards of a lost worker elsewhere. */
export function loseWorker(state: RewardState, { workerId }: Message<'reward-worker.lost'>, ctx: Ctx): void {
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
export function restart(state: RewardState, { idPrefix }: Message<'host.restarted'>, ctx: Ctx): void {
  replacePrefix(state, idPrefix);
  deadlines.forget(state);
  state.restarted = true;
  for (const dispatch of [...state.dispatches.values()]) {
    release(state, dispatch);
    if (dispatch.sample !== null) queueAgain(state, dispatch.sample, 'host_restarted', ctx.at);
  }
  for (const kind of kinds) state.pools[kind].faults.restart(ctx.at);
}
