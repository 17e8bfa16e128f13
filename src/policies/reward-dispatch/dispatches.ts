/** Handles tries on workers: start, cancellation, end, and deadlines. */
import { mintedId, wasMinted } from '../../core/ids/minted-ids.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './messages.ts';
import { reportPressure } from './pool.ts';
import { beginSingle, isUntroubled, nextTry, openFailures } from './singles.ts';
import {
  countLive,
  type Dispatch,
  kinds,
  milliseconds,
  occupy,
  type Pool,
  queued,
  type RewardState,
  reheap,
  type Sample,
  takeFromLine,
  type Worker,
} from './state.ts';

const kind = 'reward/';

/** Returns the id for a dispatch. */
export const dispatchIdOf = (prefix: string, number: number): string => mintedId(prefix, kind, number);

export function checkDispatch(state: RewardState, { dispatchId }: { readonly dispatchId: string }): void {
  if (state.dispatches.has(dispatchId) || wasMinted(state, dispatchId, state.nextDispatch, kind)) return;
  refuse('unknown_id', 'dispatchId', 'the id of a dispatch that was made', dispatchId);
}

/** Gives every free slot to the response that was requested first, and tells the host of long queues. */
export function fillPools(state: RewardState, ctx: Ctx): void {
  for (const kind of kinds) {
    const pool = state.pools[kind];
    fill(state, pool, ctx);
    reportPressure(state, pool, ctx);
  }
  state.restarted = false;
}

function fill(state: RewardState, pool: Pool, ctx: Ctx): void {
  if (!isUntroubled(pool)) return fillTroubled(state, pool, ctx);
  for (let worker = pool.open.peek(); worker !== undefined; worker = pool.open.peek()) {
    const sample = pool.again.peek() ?? pool.fresh.peek();
    if (sample === undefined) return;
    takeFromLine(pool, sample);
    start(state, sample, worker, ctx);
  }
}

/** Does the same while dispatches fail, or responses are suspected. */
function fillTroubled(state: RewardState, pool: Pool, ctx: Ctx): void {
  if (queued(pool) > 0) {
    for (let next = nextTry(state, pool, ctx.at); next !== undefined; next = nextTry(state, pool, ctx.at)) {
      takeFromLine(pool, next.sample);
      start(state, next.sample, next.worker, ctx);
    }
  }
  pool.faults.dropDue(ctx.at);
}

function start(state: RewardState, sample: Sample, worker: Worker, ctx: Ctx): void {
  const { budgetSeconds, requestId } = sample;
  const number = state.nextDispatch++;
  const dispatch: Dispatch = {
    id: dispatchIdOf(state.prefix, number),
    number,
    requestId,
    workerId: worker.id,
    budgetSeconds,
    dispatchedAt: ctx.at,
    started: false,
    deadline: ctx.at + budgetSeconds + state.config.answerGraceSeconds,
    cancelled: false,
    sample,
    worker,
    heapIndex: -1,
    previous: null,
    next: null,
  };
  const reason = reasonOf(state, sample, dispatch, ctx.at);
  const { id: dispatchId, workerId } = dispatch;
  const { promptId, kind } = sample;
  const { at } = ctx;
  sample.dispatch = dispatch;
  sample.attempts += 1;
  sample.lastDispatch = number;
  state.dispatches.set(dispatchId, dispatch);
  occupy(state, dispatch);
  reheap(worker);
  // The fields are written out twice, because a spread costs more than the rest of the decision.
  ctx.emit(
    promptId === null
      ? { type: 'reward.dispatch', at, dispatchId, workerId, requestId, kind, budgetSeconds, reason }
      : { type: 'reward.dispatch', at, dispatchId, workerId, requestId, promptId, kind, budgetSeconds, reason },
  );
}

function reasonOf(
  state: RewardState,
  sample: Sample,
  { id, worker }: Dispatch,
  at: number,
): Message<'reward.dispatch'>['reason'] {
  const { cause: code } = sample;
  const waitedSeconds = at - sample.since;
  const { running: all, pool } = worker;
  const running = all.size;
  const { retry } = state.config;
  const single = isUntroubled(pool) ? undefined : beginSingle(pool, sample, worker, id, at);
  if (single !== undefined) return { waitedSeconds, running, ...single };
  if (code === 'retry_infrastructure') {
    const attempt = sample.failures + openFailures(pool, sample);
    const pauseSeconds = at - sample.failedAt!;
    const where = pool.faults.named({ scope: 'reward', id: sample.failedOn });
    return { code, waitedSeconds, running, attempt, budget: retry.infrastructure, pauseSeconds, ...where };
  }
  if (code === 'retry_timeout') {
    return { code, waitedSeconds, running, attempt: sample.timeouts, budget: retry.timeout };
  }
  return { code, waitedSeconds, running };
}

/** Cancels a dispatch, which keeps its slot until the cancellation is confirmed or its grace time is over. */
export function cancelDispatch(
  state: RewardState,
  dispatch: Dispatch,
  reason: Message<'reward.cancel'>['reason'],
  ctx: Ctx,
): void {
  const { id, workerId, requestId } = dispatch;
  dispatch.cancelled = true;
  countLive(dispatch.worker, -1);
  dispatch.sample = null;
  dispatch.deadline = ctx.at + state.config.cancelGraceSeconds;
  state.deadlines.update(dispatch);
  ctx.emit({ type: 'reward.cancel', at: ctx.at, dispatchId: id, workerId, requestId, reason });
}

/** Ends a dispatch, which frees its slot. */
export function release(state: RewardState, dispatch: Dispatch): void {
  const { worker } = dispatch;
  state.dispatches.delete(dispatch.id);
  if (!dispatch.cancelled) countLive(worker, -1);
  state.deadlines.remove(dispatch);
  worker.running.remove(dispatch);
  worker.assignedMs -= milliseconds(dispatch.budgetSeconds);
  reheap(worker);
}
