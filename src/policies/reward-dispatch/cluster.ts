/** Workers that come and go, and a host that restarts. */
import type { Context } from '../../core/definition.ts';
import { LinkedList } from '../../core/linked-list.ts';
import { replacePrefix } from '../../core/minted-ids.ts';
import { release } from './dispatches.ts';
import { queueAgain, setActive } from './pool.ts';
import { fault } from './samples.ts';
import type { RewardState } from './state.ts';
import type { RewardDecision, RewardEvent } from './words.ts';

type Ctx = Context<RewardDecision>;
type EventOf<T extends RewardEvent['type']> = Extract<RewardEvent, { type: T }>;

export function workerAdded(state: RewardState, event: EventOf<'reward-worker.added'>): void {
  const { workerId: id, kind, slots } = event;
  let worker = state.workers.get(id);
  if (worker === undefined) {
    const pool = state.pools[kind];
    worker = { id, pool, slots, active: false, running: new LinkedList(), assignedMs: 0, heapIndex: -1 };
    state.workers.set(id, worker);
  }
  worker.slots = slots;
  setActive(worker, true);
}

export function workerDrained(state: RewardState, id: string): void {
  setActive(state.workers.get(id)!, false);
}

/** What ran on a lost worker is dispatched elsewhere, as after any fault of a worker. */
export function workerLost(state: RewardState, id: string, ctx: Ctx): void {
  const worker = state.workers.get(id)!;
  setActive(worker, false);
  state.workers.delete(id);
  for (let dispatch = worker.running.peek(); dispatch !== undefined; dispatch = worker.running.peek()) {
    const { sample } = dispatch;
    release(state, dispatch);
    if (sample !== null) fault(state, sample, ctx);
  }
}

/** All that ran is gone; it is dispatched again under the new prefix, and no retry is charged. */
export function hostRestarted(state: RewardState, idPrefix: string, ctx: Ctx): void {
  replacePrefix(state, idPrefix);
  state.timerAt = null;
  for (const dispatch of [...state.dispatches.values()]) {
    release(state, dispatch);
    if (dispatch.sample !== null) queueAgain(state, dispatch.sample, 'host_restarted', ctx.at);
  }
}
