/** Handles the queues of a pool, its workers with a free slot, and the notices to the host about its queue. */

import type { IndexedHeap } from '../../core/collections/heap.ts';
import type { Ctx } from './messages.ts';
import {
  noteAside,
  type Pool,
  putInLine,
  queued,
  type RewardState,
  reheap,
  type Sample,
  type Worker,
} from './state.ts';

/** Queues a response again at its old place: before all responses that were requested later. */
export function queueAgain(state: RewardState, sample: Sample, cause: Sample['cause'], at: number): void {
  sample.dispatch = null;
  sample.cause = cause;
  sample.since = at;
  sample.pausedUntil = null;
  putInLine(state.pools[sample.kind], sample);
  if (sample.asideAt !== null) noteAside(state, sample);
}

/** Takes all responses out of some queues of a pool, so that they can be queued anew; none of them is put off any longer. */
export function drain(at: number, ...queues: readonly IndexedHeap<Sample>[]): Sample[] {
  const all: Sample[] = [];
  for (const queue of queues) {
    for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
      queue.remove(next);
      next.pausedUntil = null;
      next.since = Math.min(next.since, at);
      all.push(next);
    }
  }
  return all;
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
