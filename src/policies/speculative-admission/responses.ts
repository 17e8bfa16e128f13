/** What is reported about requests: responses, failures, aborts, rewards and judgements. */
import type { Context } from '../../core/definition.ts';
import { newResponse } from './create.ts';
import type { AdmissionDecision, AdmissionEvent } from './decisions.ts';
import { enqueue } from './launch.ts';
import { endAbort } from './leave.ts';
import { collect, judge, pass, quarantine, reject } from './progress.ts';
import { abort, endRequest, findRequest, heldResponse, reportDrained } from './requests.ts';
import type { AdmissionState, FaultKind, ResponseState } from './state.ts';

type Ctx = Context<AdmissionDecision>;
type EventOf<T extends AdmissionEvent['type']> = Extract<AdmissionEvent, { type: T }>;

/** A report about a request that is over. */
export function late(requestId: string, ctx: Ctx): void {
  ctx.emit({ type: 'response.late', at: ctx.at, requestId, reason: { code: 'report' } });
}

export function completed(state: AdmissionState, event: EventOf<'response.completed'>, ctx: Ctx): void {
  const { requestId, tokens } = event;
  const response = findRequest(state, requestId);
  if (response === undefined) {
    ctx.emit({ type: 'response.late', at: ctx.at, requestId, reason: { code: 'completion', tokens } });
    return;
  }
  const { prompt } = response;
  const { promptId, domain } = prompt.spec;
  const isAborting = response.status === 'aborting';
  if (isAborting && !response.awaited) {
    ctx.emit({ type: 'response.surplus', at: ctx.at, requestId, promptId, reason: { code: 'after_abort', tokens } });
    endAbort(state, response, tokens, ctx);
    return;
  }
  const needed = state.config.responsesPerPrompt;
  prompt.held += 1;
  ctx.emit({
    type: 'response.accepted',
    at: ctx.at,
    requestId,
    promptId,
    ...(domain === undefined ? undefined : { domain }),
    reason: { code: 'held', held: prompt.held, needed },
  });
  if (isAborting) {
    state.aborting.delete(requestId);
    response.status = 'held';
    state.elsewhere.set(requestId, response);
    endAbort(state, response, tokens, ctx);
    return;
  }
  endRequest(state, response);
  response.status = 'held';
  response.tokens = tokens;
  if (prompt.held === needed) collect(state, prompt, ctx);
}

/** A request has ended without a response that is of use. */
export function failed(state: AdmissionState, requestId: string, kind: FaultKind, ctx: Ctx): void {
  const response = findRequest(state, requestId);
  if (response === undefined) late(requestId, ctx);
  else failRequest(state, response, kind, ctx);
}

export function failRequest(state: AdmissionState, response: ResponseState, kind: FaultKind, ctx: Ctx): void {
  if (response.status === 'aborting') {
    endAbort(state, response, undefined, ctx);
    return;
  }
  const round = endRequest(state, response);
  fault(state, response, kind, ctx);
  reportDrained(state, round, ctx);
}

/** Tries a response again within its budget. A fault of the data is the prompt's own, whichever response shows it. */
export function fault(state: AdmissionState, response: ResponseState, kind: FaultKind, ctx: Ctx): void {
  const { prompt } = response;
  const failures = response.failures[kind] + 1;
  response.failures = { ...response.failures, [kind]: failures };
  const budget = state.config.retry[kind];
  if (failures <= budget) {
    enqueue(state, response, `retry_${kind}`);
    return;
  }
  response.status = 'abandoned';
  response.tokens = 0;
  response.resume = null;
  if (kind === 'data') {
    quarantine(state, prompt, kind, failures, ctx);
    return;
  }
  ctx.emit({
    type: 'response.abandoned',
    at: ctx.at,
    requestId: response.requestId,
    promptId: prompt.spec.promptId,
    reason: { code: kind, failures, budget },
  });
  const possible = prompt.responses.filter((one) => one.status !== 'abandoned').length;
  if (possible < state.config.responsesPerPrompt) quarantine(state, prompt, kind, failures, ctx);
}

export function aborted(state: AdmissionState, event: EventOf<'request.aborted'>, ctx: Ctx): void {
  const response = findRequest(state, event.requestId);
  if (response === undefined) late(event.requestId, ctx);
  // An abort that was not asked for is the engine's doing.
  else if (response.status !== 'aborting') failRequest(state, response, 'infrastructure', ctx);
  else endAbort(state, response, event.tokens, ctx);
}

/** A response ran too long: its request is aborted, and another takes its place. */
export function timedOut(state: AdmissionState, response: ResponseState, limitSeconds: number, ctx: Ctx): void {
  const { prompt, index, requestId, failures, resume } = response;
  const ranSeconds = ctx.at - response.since;
  abort(state, response, { code: 'response_timeout', ranSeconds, limitSeconds }, ctx);
  const again = { ...newResponse(prompt, index), requestId, failures, resume };
  prompt.responses[prompt.responses.indexOf(response)] = again;
  fault(state, again, 'infrastructure', ctx);
}

export function rewarded(state: AdmissionState, event: EventOf<'reward.ready'>, ctx: Ctx): void {
  const response = heldResponse(state, event.requestId);
  if (response === undefined || response.reward !== null) {
    late(event.requestId, ctx);
    return;
  }
  response.reward = event.reward;
  response.prompt.rewards += 1;
  if (state.config.filter === 'zero-variance') judge(state, response.prompt, ctx);
}

/** A held response will never have a reward: with a filter that needs all of them its prompt leaves, by name. */
export function unrewarded(state: AdmissionState, requestId: string, ctx: Ctx): void {
  const response = heldResponse(state, requestId);
  if (response === undefined) late(requestId, ctx);
  else if (state.config.filter === 'zero-variance' && response.prompt.status !== 'counted') {
    quarantine(state, response.prompt, 'reward', 1, ctx);
  }
}

export function judged(state: AdmissionState, event: EventOf<'prompt.judged'>, ctx: Ctx): void {
  const { promptId, roundId } = event;
  const prompt = state.prompts.get(promptId);
  if (prompt?.status !== 'collected') {
    ctx.emit({ type: 'judgement.late', at: ctx.at, promptId, roundId, reason: { code: 'not_waiting' } });
  } else if (event.keep) pass(state, prompt, ctx);
  else reject(state, prompt, { code: 'host' }, ctx);
}
