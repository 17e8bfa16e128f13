/** The two lines of a pool, its workers with a free slot, and the notices to a host about its queue. */

import type { Ctx } from './messages.ts';
import { type Pool, queued, type RewardState, reheap, type Sample, type Worker } from './state.ts';

/** Puts a response in line again, at its old place: before all that were asked for later. */
export function queueAgain(state: RewardState, sample: Sample, cause: Sample['cause'], at: number): void {
  sample.dispatch = null;
  sample.cause = cause;
  sample.since = at;
  state.pools[sample.kind].again.update(sample);
}

/** Takes a waiting response out of its line. */
export function takeFromLine(state: RewardState, sample: Sample): void {
  const pool = state.pools[sample.kind];
  if (sample.cause === 'requested') pool.fresh.remove(sample);
  else pool.again.remove(sample);
}

/** Returns the response that was asked for first, of those that wait. */
export function nextInLine(pool: Pool): Sample | undefined {
  return pool.again.peek() ?? pool.fresh.peek();
}

/** Whether a worker takes dispatches. */
export function setActive(worker: Worker, active: boolean): void {
  if (worker.active !== active) worker.pool.activeWorkers += active ? 1 : -1;
  worker.active = active;
  reheap(worker);
}

/** Returns the fields by which decisions name a response. */
export function named({ requestId, promptId, kind }: Sample) {
  return promptId === null ? { requestId, kind } : { requestId, promptId, kind };
}

/** Says when a queue has become long, or short again; that it is long still, to a host that may have forgotten. */
export function reportPressure(state: RewardState, pool: Pool, ctx: Ctx): void {
  const { kind } = pool;
  const waiting = queued(pool);
  const { saturated: saturatedQueued, resumed: resumedQueued } = state.marks;
  const isStuck = waiting > 0 && pool.activeWorkers === 0;
  if (!pool.saturated && (isStuck || waiting >= saturatedQueued)) {
    pool.saturated = true;
    const reason = isStuck
      ? ({ code: 'no_worker', queued: waiting } as const)
      : ({ code: 'queue_long', queued: waiting, saturatedQueued } as const);
    ctx.emit({ type: 'rewards.saturated', at: ctx.at, kind, reason });
  } else if (pool.saturated && !isStuck && waiting <= resumedQueued) {
    pool.saturated = false;
    const reason = { code: 'queue_short', queued: waiting, resumedQueued } as const;
    ctx.emit({ type: 'rewards.resumed', at: ctx.at, kind, reason });
  } else if (pool.saturated && state.restarted) {
    const reason = isStuck
      ? ({ code: 'no_worker', queued: waiting } as const)
      : ({ code: 'host_restarted', queued: waiting, resumedQueued } as const);
    ctx.emit({ type: 'rewards.saturated', at: ctx.at, kind, reason });
  }
}
