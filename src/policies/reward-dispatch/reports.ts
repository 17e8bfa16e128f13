/** Handles reports about dispatches, and dispatches whose reports are missing. */
import { Deadlines, onlyTimer } from '../../core/rollout/deadlines.ts';
import { longestPauseSeconds } from '../../core/rollout/shared-faults.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { cancelDispatch, checkDispatch, fillPools, release } from './dispatches.ts';
import { answered, fail, fault, firstAside, settleFaults } from './faults.ts';
import type { Ctx } from './messages.ts';
import { queueAgain } from './pool.ts';
import { end } from './samples.ts';
import { type Dispatch, kinds, queued, type RewardState, type Sample } from './state.ts';

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
    answered(state, sample, dispatch, ctx);
    score(state, sample, dispatch, reward!, reason, ctx);
  } else if (outcome === 'timeout') {
    // A worker that reports a time-out works.
    answered(state, sample, dispatch, ctx);
    timedOut(state, sample, dispatch, seconds, ctx);
  } else {
    // The worker has cancelled without being asked, which is a fault of the worker.
    fault(state, sample, dispatch, ctx);
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
    fail(state, sample, reason, ctx);
  }
}

/** Cancels and retries a dispatch that was not answered in time; ends a cancellation that was not confirmed in time. */
function expire(state: RewardState, overdue: Dispatch, ctx: Ctx): void {
  const { answerGraceSeconds, cancelGraceSeconds } = state.config;
  const { sample, id: dispatchId, workerId, requestId, budgetSeconds } = overdue;
  if (sample === null) {
    release(state, overdue);
    const reason = { code: 'cancel_unconfirmed', graceSeconds: cancelGraceSeconds } as const;
    ctx.emit({ type: 'reward.expired', at: ctx.at, dispatchId, workerId, requestId, reason });
    return;
  }
  const ranSeconds = ctx.at - overdue.dispatchedAt;
  const reason = { code: 'no_answer', ranSeconds, budgetSeconds, graceSeconds: answerGraceSeconds } as const;
  cancelDispatch(state, overdue, reason, ctx);
  fault(state, sample, overdue, ctx);
}

/** Returns the earliest end of a pause, of a retry or between single tries, in seconds, if something waits for it. */
function pauseEndsAt(state: RewardState): number | undefined {
  const { pools, config } = state;
  let first: number | undefined;
  for (const kind of kinds) {
    const pool = pools[kind];
    const aside = firstAside(state, pool);
    const all = [
      pool.pauses.peek()?.pausedUntil,
      pool.faults.isQuiet || queued(pool) === 0 ? undefined : pool.faults.nextTryAt(),
      aside && aside.at + config.retry.giveUpSeconds!,
    ];
    for (const one of all) if (one != null && (first === undefined || one < first)) first = one;
  }
  return first;
}

/** Two kinds of deadlines: workers must have answered, and pauses of retries end. */
export const deadlines = new Deadlines<RewardState>({
  ...onlyTimer,
  timerId: 'reward-dispatch/deadline',
  first: (state) => {
    const answer = state.deadlines.peek()?.deadline;
    const pause = pauseEndsAt(state);
    return answer === undefined || pause === undefined ? (answer ?? pause) : Math.min(answer, pause);
  },
  reason: (state) => {
    const { config } = state;
    const next = state.deadlines.peek();
    const pause = pauseEndsAt(state);
    if (next === undefined || (pause !== undefined && pause < next.deadline)) {
      return { code: 'retry_pause', longestPauseSeconds };
    }
    const { sample, budgetSeconds } = next;
    return sample === null
      ? { code: 'reward_cancel_grace', graceSeconds: config.cancelGraceSeconds }
      : { code: 'reward_budget', budgetSeconds, graceSeconds: config.answerGraceSeconds };
  },
});

/** Runs at the end of every event. */
export function settle(state: RewardState, ctx: Ctx): void {
  for (
    let next = state.deadlines.peek();
    next !== undefined && next.deadline <= ctx.at;
    next = state.deadlines.peek()
  ) {
    expire(state, next, ctx);
  }
  for (const kind of kinds) settleFaults(state, state.pools[kind], ctx);
  fillPools(state, ctx);
  deadlines.arm(state, ctx);
}
