/** Handles the two queues of a pool, its workers with a free slot, and the notices to the host about its queue. */

import type { Ctx } from './messages.ts';
import { type Pool, queued, type RewardState, reheap, type Sample, type Worker } from './state.ts';

/** Queues a response again, at its old place: before all that were requested later. */
export function queueAgain(state: RewardState, sample: Sample, cause: Sample['cause'], at: number): void {
  sample.dispatch = null;
  sample.cause = cause;
  sample.since = at;
  state.pools[sample.kind].again.update(sample);
}

/** Takes a waiting response out of its queue. */
export function takeFromLine(state: RewardState, sample: Sample): void {
  const pool = state.pools[sample.kind];
  if (sample.cause === 'requested') pool.fresh.remove(sample);
  else pool.again.remove(sample);
}

/** Returns, among the waiting responses, the one that was requested first. */
export function nextInLine(pool: Pool): Sample | undefined {
  return pool.again.peek() ?? pool.fresh.peek();
}

/** Sets whether a worker takes dispatches. */
export function setActive(worker: Worker, active: boolean): void {
  if (worker.active !== active) worker.pool.activeWorkers += active ? 1 : -1;
  worker.active = active;
  reheap(worker);
}

/** Returns the fields by which decisions name a response. */
export function named({ requestId, promptId, kind }: Sample) {
  return promptId === null ? { requestId, kind } : { requestId, promptId, kind };
}

/** Reports when a queue has become long, or short again; after a restart of the host, reports again that it is long. */
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
