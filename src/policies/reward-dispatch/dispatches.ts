/** Handles tries on workers: start, cancellation, end, and deadlines. */
import { mintedId, wasMinted } from '../../core/minted-ids.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './messages.ts';
import { nextInLine, reportPressure, takeFromLine } from './pool.ts';
import {
  type Dispatch,
  kinds,
  milliseconds,
  occupy,
  type Pool,
  type RewardState,
  reheap,
  type Sample,
  type Worker,
} from './state.ts';

const kind = 'reward/';

/** Returns the id of a dispatch. */
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
  for (let worker = pool.open.peek(); worker !== undefined; worker = pool.open.peek()) {
    const sample = nextInLine(pool);
    if (sample === undefined) return;
    takeFromLine(state, sample);
    start(state, sample, worker, ctx);
  }
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
  const reason = reasonOf(state, sample, worker, ctx.at);
  const { id: dispatchId, workerId } = dispatch;
  const { promptId, kind } = sample;
  const { at } = ctx;
  sample.dispatch = dispatch;
  sample.attempts += 1;
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
  worker: Worker,
  at: number,
): Message<'reward.dispatch'>['reason'] {
  const { cause: code } = sample;
  const waitedSeconds = at - sample.since;
  const running = worker.running.size;
  const { retry } = state.config;
  if (code === 'retry_infrastructure') {
    return { code, waitedSeconds, running, attempt: sample.failures, budget: retry.infrastructure, scope: 'reward' };
  }
  if (code === 'retry_timeout') {
    return { code, waitedSeconds, running, attempt: sample.timeouts, budget: retry.timeout };
  }
  return { code, waitedSeconds, running };
}

/** Cancels a dispatch; it holds its slot until the cancellation is confirmed, or its grace time is over. */
export function cancelDispatch(
  state: RewardState,
  dispatch: Dispatch,
  reason: Message<'reward.cancel'>['reason'],
  ctx: Ctx,
): void {
  const { id, workerId, requestId } = dispatch;
  dispatch.cancelled = true;
  dispatch.sample = null;
  dispatch.deadline = ctx.at + state.config.cancelGraceSeconds;
  state.deadlines.update(dispatch);
  ctx.emit({ type: 'reward.cancel', at: ctx.at, dispatchId: id, workerId, requestId, reason });
}

/** Ends a dispatch: its slot is free. */
export function release(state: RewardState, dispatch: Dispatch): void {
  const { worker } = dispatch;
  state.dispatches.delete(dispatch.id);
  state.deadlines.remove(dispatch);
  worker.running.remove(dispatch);
  worker.assignedMs -= milliseconds(dispatch.budgetSeconds);
  reheap(worker);
}
