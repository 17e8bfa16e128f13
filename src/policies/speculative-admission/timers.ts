/** Wake-ups: aborts that are never confirmed, and responses that run too long. One timer each, for the earliest. */
import type { Context } from '../../core/definition.ts';
import type { AdmissionDecision } from './decisions.ts';
import { type AdmissionState, byPlace, isLive, type ResponseState } from './state.ts';

type Ctx = Context<AdmissionDecision>;

/** Ids of the two timers. */
export const timerIds = {
  abortGrace: 'speculative-admission/abort-grace',
  responseTimeout: 'speculative-admission/response-timeout',
} as const;

/** Sees to it that an unconfirmed abort is noticed. */
export function armAbortGrace(state: AdmissionState, abortedAt: number, ctx: Ctx): void {
  if (state.timers.abortGrace !== null) return;
  const graceSeconds = state.config.abortGraceSeconds;
  state.timers.abortGrace = abortedAt + graceSeconds;
  ctx.emit({
    type: 'timer.set',
    at: ctx.at,
    timerId: timerIds.abortGrace,
    fireAtSeconds: state.timers.abortGrace,
    reason: { code: 'abort_grace', graceSeconds },
  });
}

/** Remembers a launch, where responses have a time limit. */
export function armResponseTimeout(state: AdmissionState, response: ResponseState, ctx: Ctx): void {
  const limitSeconds = state.config.responseTimeoutSeconds;
  if (limitSeconds === undefined) return;
  const isOver = ({ response, requestId }: { response: ResponseState; requestId: string }): boolean =>
    response.requestId !== requestId || !isLive(response);
  while (state.deadlines.size > 0 && isOver(state.deadlines.peek()!)) state.deadlines.shift();
  state.deadlines.push({ response, requestId: response.requestId });
  setResponseTimer(state, response.since + limitSeconds, limitSeconds, ctx);
}

function setResponseTimer(state: AdmissionState, fireAtSeconds: number, limitSeconds: number, ctx: Ctx): void {
  if (state.timers.responseTimeout !== null) return;
  state.timers.responseTimeout = fireAtSeconds;
  ctx.emit({
    type: 'timer.set',
    at: ctx.at,
    timerId: timerIds.responseTimeout,
    fireAtSeconds,
    reason: { code: 'response_timeout', limitSeconds },
  });
}

/** Aborts whose grace is over, oldest first; sets the timer for the next one. */
export function takeExpiredAborts(state: AdmissionState, ctx: Ctx): ResponseState[] {
  const expired: ResponseState[] = [];
  state.timers.abortGrace = null;
  for (let next = state.aborts.peek(); next !== undefined; next = state.aborts.peek()) {
    if (next.status === 'aborting') {
      if (next.since + state.config.abortGraceSeconds > ctx.at) {
        armAbortGrace(state, next.since, ctx);
        break;
      }
      expired.push(next);
    }
    state.aborts.shift();
  }
  return expired;
}

/** Responses that have run too long, oldest first, of those the earlier prompt; sets the timer for the next one. */
export function takeTimedOut(state: AdmissionState, ctx: Ctx): ResponseState[] {
  const limitSeconds = state.config.responseTimeoutSeconds;
  const late: ResponseState[] = [];
  state.timers.responseTimeout = null;
  if (limitSeconds === undefined) return late;
  for (let next = state.deadlines.peek(); next !== undefined; next = state.deadlines.peek()) {
    const { response, requestId } = next;
    if (response.requestId === requestId && isLive(response)) {
      if (response.since + limitSeconds > ctx.at) {
        setResponseTimer(state, response.since + limitSeconds, limitSeconds, ctx);
        break;
      }
      late.push(response);
    }
    state.deadlines.shift();
  }
  return late.sort((a, b) => a.since - b.since || byPlace(a, b));
}
