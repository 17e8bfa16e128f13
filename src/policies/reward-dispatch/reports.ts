/** Handles reports about dispatches, and dispatches whose reports do not come. */
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { cancelDispatch, checkDispatch, release } from './dispatches.ts';
import type { Ctx } from './messages.ts';
import { named, queueAgain } from './pool.ts';
import { end, fault } from './samples.ts';
import type { Dispatch, RewardState, Sample } from './state.ts';

/** Starts the budget of a dispatch; only the first report counts. */
export function started(state: RewardState, { dispatchId }: Message<'reward.started'>, ctx: Ctx): void {
  const dispatch = state.dispatches.get(dispatchId);
  if (dispatch === undefined || dispatch.sample === null) {
    ctx.emit({ type: 'reward.late', at: ctx.at, dispatchId, reason: { code: 'report' } });
  } else if (!dispatch.started) {
    dispatch.started = true;
    dispatch.deadline = ctx.at + dispatch.budgetSeconds + state.config.answerGraceSeconds;
    state.deadlines.update(dispatch);
  }
}

export function checkFinished(state: RewardState, event: Message<'reward.finished'>): void {
  checkDispatch(state, event);
  const { outcome, reward } = event;
  if ((outcome === 'scored') === (reward !== undefined)) return;
  const expected = outcome === 'scored' ? 'a reward with `scored`' : `no reward with \`${outcome}\``;
  refuse('invalid_event', 'reward', expected, reward);
}

export function finished(state: RewardState, event: Message<'reward.finished'>, ctx: Ctx): void {
  const { dispatchId, outcome, reward, seconds } = event;
  const dispatch = state.dispatches.get(dispatchId);
  if (dispatch !== undefined) release(state, dispatch);
  const sample = dispatch?.sample;
  if (dispatch === undefined || sample === null || sample === undefined) {
    // A confirmed cancellation needs no notice.
    if (dispatch !== undefined && outcome === 'cancelled') return;
    ctx.emit({
      type: 'reward.late',
      at: ctx.at,
      dispatchId,
      ...(reward === undefined ? undefined : { reward }),
      reason: { code: dispatch === undefined ? 'result' : 'after_cancel', seconds },
    });
  } else if (outcome === 'scored') {
    const reason = { code: 'scored', seconds, attempts: sample.attempts } as const;
    score(state, sample, dispatch, reward!, reason, ctx);
  } else if (outcome === 'timeout') {
    timedOut(state, sample, dispatch, seconds, ctx);
  } else {
    // The worker has cancelled on its own, so this is a fault of the worker.
    fault(state, sample, ctx);
  }
}

function score(
  state: RewardState,
  sample: Sample,
  { workerId }: Dispatch,
  reward: number,
  reason: Message<'reward.scored'>['reason'],
  ctx: Ctx,
): void {
  const { requestId, promptId, kind } = sample;
  const { at } = ctx;
  ctx.emit(
    promptId === null
      ? { type: 'reward.scored', at, requestId, kind, workerId, reward, reason }
      : { type: 'reward.scored', at, requestId, promptId, kind, workerId, reward, reason },
  );
  end(state, sample);
}

/** Handles a response whose reward took too long, through no fault of the worker. */
function timedOut(state: RewardState, sample: Sample, dispatch: Dispatch, seconds: number, ctx: Ctx): void {
  const { onTimeout, timeoutReward, retry } = state.config;
  const { budgetSeconds } = dispatch;
  const timeouts = ++sample.timeouts;
  if (timeouts <= retry.timeout) {
    queueAgain(state, sample, 'retry_timeout', ctx.at);
  } else if (onTimeout === 'reward') {
    score(state, sample, dispatch, timeoutReward, { code: 'timeout', seconds, budgetSeconds, timeouts }, ctx);
  } else {
    const reason = { code: 'timeout', timeouts, budget: retry.timeout } as const;
    ctx.emit({ type: 'reward.failed', at: ctx.at, ...named(sample), reason });
    end(state, sample);
  }
}

/** Cancels and retries dispatches that were not answered in time; ends cancellations that were not confirmed in time. */
export function expireOverdue(state: RewardState, _: Message<'timer.fired'>, ctx: Ctx): void {
  const { answerGraceSeconds, cancelGraceSeconds } = state.config;
  state.timerAt = null;
  for (let next = state.deadlines.peek(); next !== undefined; next = state.deadlines.peek()) {
    if (next.deadline > ctx.at) return;
    const { sample, id: dispatchId, workerId, requestId, budgetSeconds } = next;
    if (sample === null) {
      release(state, next);
      const reason = { code: 'cancel_unconfirmed', graceSeconds: cancelGraceSeconds } as const;
      ctx.emit({ type: 'reward.expired', at: ctx.at, dispatchId, workerId, requestId, reason });
    } else {
      const ranSeconds = ctx.at - next.dispatchedAt;
      const reason = { code: 'no_answer', ranSeconds, budgetSeconds, graceSeconds: answerGraceSeconds } as const;
      cancelDispatch(state, next, reason, ctx);
      fault(state, sample, ctx);
    }
  }
}
