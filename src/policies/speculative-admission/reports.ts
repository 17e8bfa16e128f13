/** Handles reports: placement, progress and ends of requests, requests that never end, and engines that come and go. */

import { Heap } from '../../core/collections/heap.ts';
import { replacePrefix } from '../../core/ids/minted-ids.ts';
import { checkEngine, removeEngine } from '../../core/rollout/engines.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { endAsides, engineLostUnder, fault, forgetEngine, succeeded } from './faults.ts';
import {
  addEngine,
  enqueue,
  freeSlot,
  limitTime,
  queueResume,
  reheap,
  takeSlot,
  takeTimedOut,
  timeouts,
} from './launch.ts';
import { endAbort, finishDeferral } from './leave.ts';
import { pauses, takePauses } from './pauses.ts';
import { collect, nameOwed, unrewarded } from './progress.ts';
import {
  abort,
  checkRequestId,
  endRequest,
  findRequest,
  grace,
  inFlight,
  late,
  rememberLaunched,
  reportDrained,
  takeExpiredAborts,
} from './requests.ts';
import { restartAt } from './rounds.ts';
import type { Ctx } from './schema.ts';
import { type AdmissionState, byDue, type FaultKind, isLive, newResponse, type ResponseState } from './state.ts';
import { acceptedReason, dropStale, isStale, saidVersions, takeVersions } from './versions.ts';

/** Weight of an earlier response in the pace at each further completion: about the last hundred count. */
const weightOfOld = 0.99;

export function completed(state: AdmissionState, event: Message<'response.completed'>, ctx: Ctx): void {
  const { requestId, tokens } = event;
  const response = findRequest(state, requestId);
  if (response === undefined) {
    ctx.emit({ type: 'response.late', at: ctx.at, requestId, reason: { code: 'completion', tokens } });
    return;
  }
  const { prompt } = response;
  const { promptId, domain } = prompt.spec;
  const isAborting = response.status === 'aborting';
  succeeded(state, response, ctx);
  if (!isAborting && response.resume === null && response.cause !== 'host_restarted')
    learnPace(state, response, tokens, ctx.at);
  if ((isAborting && !response.awaited) || response.cause === 'control') {
    const code = isAborting ? 'after_abort' : 'control';
    ctx.emit({ type: 'response.surplus', at: ctx.at, requestId, promptId, reason: { code, tokens } });
    if (isAborting) endAbort(state, response, tokens, ctx);
    else endControl(state, response, ctx);
    return;
  }
  const said = saidVersions(response, event);
  if (!isAborting && isStale(state, response, said)) {
    dropStale(state, response, { said, tokens, finished: true }, ctx);
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
    reason: acceptedReason(state, response, said),
  });
  if (event.weightVersions !== undefined) takeVersions(state, response, said);
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

/** Ends a response that was only made for comparison. */
function endControl(state: AdmissionState, response: ResponseState, ctx: Ctx): void {
  const round = endRequest(state, response);
  Object.assign(response, { status: 'abandoned', tokens: 0, resume: null });
  reportDrained(state, round, ctx);
}

/** Learns how long responses take, to limit later ones. */
function learnPace({ config, pace }: AdmissionState, { since }: ResponseState, tokens: number, at: number): void {
  if (config.responseTimeoutSeconds === undefined) return;
  pace.tokens = pace.tokens * weightOfOld + tokens;
  pace.seconds = pace.seconds * weightOfOld + at - since;
}

/** Handles a request that has ended without a usable response. */
export function failed(state: AdmissionState, requestId: string, kind: FaultKind, ctx: Ctx): void {
  const response = findRequest(state, requestId);
  // A request that is not in flight has completed: its response can no longer get a reward.
  if (response === undefined) unrewarded(state, { requestId }, ctx);
  else failRequest(state, response, kind, ctx);
}

function failRequest(state: AdmissionState, response: ResponseState, kind: FaultKind, ctx: Ctx): void {
  if (response.status === 'aborting') {
    endAbort(state, response, undefined, ctx);
    return;
  }
  const round = endRequest(state, response);
  fault(state, response, kind, ctx);
  reportDrained(state, round, ctx);
}

export function aborted(state: AdmissionState, event: Message<'request.aborted'>, ctx: Ctx): void {
  const response = findRequest(state, event.requestId);
  if (response === undefined) late(event.requestId, ctx);
  else if (response.status !== 'aborting') endedEarly(state, response, event, ctx);
  else {
    response.weightVersions = saidVersions(response, event);
    endAbort(state, response, event.tokens, ctx);
  }
}

/** Handles a request that its engine has ended unasked: its tokens are kept, or the end counts as a fault of the engine. */
function endedEarly(state: AdmissionState, response: ResponseState, event: Message<'request.aborted'>, ctx: Ctx): void {
  const { requestId, index, resume, failures } = response;
  const { tokens = 0 } = event;
  if (!state.config.partialRollout || tokens <= (resume?.tokens ?? 0)) {
    failRequest(state, response, 'infrastructure', ctx);
    return;
  }
  const said = saidVersions(response, event);
  if (isStale(state, response, said)) {
    dropStale(state, response, { said, tokens, finished: false }, ctx);
    return;
  }
  const round = endRequest(state, response);
  state.elsewhere.delete(requestId);
  response.resume = { requestId, index, tokens, weightVersions: said.slice(), finished: false };
  response.failures = { ...failures, uncharged: failures.uncharged + 1 };
  enqueue(state, response, 'retry_ended_early');
  reportDrained(state, round, ctx);
}

export function checkStart(state: AdmissionState, event: Message<'request.started'>): void {
  checkRequestId(state, event);
  if (state.config.placement === 'policy') checkEngine(state, event);
}

export function started(state: AdmissionState, event: Message<'request.started'>, ctx: Ctx): void {
  const response = findRequest(state, event.requestId);
  if (response === undefined) {
    late(event.requestId, ctx);
    return;
  }
  const known = state.engines.get(event.engineId);
  // The engine has left, and only the host may add it again.
  if (known === undefined && state.config.placement === 'policy') return;
  const engine = known ?? addEngine(state, event.engineId);
  if (!response.holdsSlot || response.engine === engine) return;
  freeSlot(state, response);
  takeSlot(state, response, engine);
}

/** Returns the response of a request, unless the request is over or being aborted. */
function findLive(state: AdmissionState, requestId: string, ctx: Ctx): ResponseState | undefined {
  const response = findRequest(state, requestId);
  if (response !== undefined && isLive(response)) return response;
  late(requestId, ctx);
  return undefined;
}

/** Handles a report that a request has generated more: the request does not hang, however long it takes. */
export function progressed(
  state: AdmissionState,
  event: Message<'request.progressed' | 'turn.finished'>,
  ctx: Ctx,
): void {
  const response = findLive(state, event.requestId, ctx);
  if (response === undefined || event.tokens <= response.tokens) return;
  response.heardAt = ctx.at;
  const more = event.tokens - response.tokens;
  response.tokens = event.tokens;
  response.load += more;
  const { engine } = response;
  if (!response.holdsSlot || engine === null) return;
  engine.tokens += more;
  if (engine.active) reheap(state, engine);
}

export function checkToolStart(state: AdmissionState, event: Message<'tool.started'>): void {
  checkStatus(state, event, 'running', 'a request that is running');
}

/** Frees the engine slot of a response that waits for a tool. */
export function toolStarted(state: AdmissionState, { requestId }: Message<'tool.started'>, ctx: Ctx): void {
  const response = findLive(state, requestId, ctx);
  if (response === undefined) return;
  response.status = 'waiting';
  freeSlot(state, response);
}

export function checkToolEnd(state: AdmissionState, event: Message<'tool.finished'>): void {
  checkStatus(state, event, 'waiting', 'a request that waits for a tool');
}

export function toolFinished(state: AdmissionState, { requestId }: Message<'tool.finished'>, ctx: Ctx): void {
  const response = findLive(state, requestId, ctx);
  if (response === undefined) return;
  if (response.cause === 'host_restarted') response.cause = 'planned';
  queueResume(state, response);
}

/** Refuses a report about a request whose status does not fit, unless the request is being aborted. */
function checkStatus(
  state: AdmissionState,
  event: Message<'tool.started' | 'tool.finished'>,
  wanted: ResponseState['status'],
  expected: string,
): void {
  const status = checkRequestId(state, event)?.status;
  if (status === undefined || status === 'aborting' || status === wanted) return;
  refuse('out_of_order', 'requestId', expected, `${event.requestId} (${status})`);
}

/** Ends what is overdue: aborts that nobody has confirmed, and responses that have run too long. */
export function endOverdue(state: AdmissionState, ctx: Ctx): void {
  const { abortGraceSeconds: graceSeconds } = state.config;
  const expired = takeExpiredAborts(state, ctx.at);
  if (expired.length > 0) grace.arm(state, ctx);
  for (const response of expired) {
    const { requestId, prompt } = response;
    const reason = { code: 'abort_unconfirmed', graceSeconds } as const;
    ctx.emit({ type: 'request.expired', at: ctx.at, requestId, promptId: prompt.spec.promptId, reason });
    endAbort(state, response, undefined, ctx);
  }
  const late = takeTimedOut(state, ctx.at);
  if (late.length > 0) timeouts.arm(state, ctx);
  // An earlier replacement may have removed the prompt of this response.
  for (const response of late) if (isLive(response)) replaceLate(state, response, ctx);
  takePauses(state, ctx.at);
  endAsides(state, ctx);
}

export function armTimers(state: AdmissionState, ctx: Ctx): void {
  grace.arm(state, ctx);
  timeouts.arm(state, ctx);
  pauses.arm(state, ctx);
}

/** Aborts the request of a response that ran too long, and launches another request in its place. */
function replaceLate(state: AdmissionState, response: ResponseState, ctx: Ctx): void {
  const { prompt, index, requestId, failures, resume, engine, cause, launched, asideAt, limitSeconds } = response;
  const ranSeconds = ctx.at - response.since;
  abort(state, response, { code: 'response_timeout', ranSeconds, limitSeconds }, ctx);
  const again = { ...newResponse(prompt, index), requestId, failures, resume, engine, cause, launched, asideAt };
  prompt.responses[prompt.responses.indexOf(response)] = again;
  fault(state, again, 'timeout', ctx);
  again.engine = null;
}

export function engineAdded(state: AdmissionState, { engineId }: { engineId: string }): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) addEngine(state, engineId);
  else {
    engine.active = true;
    engine.stale = 0;
    reheap(state, engine);
  }
}

export function engineDrained(state: AdmissionState, { engineId }: { engineId: string }, ctx: Ctx): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) return;
  engine.active = false;
  reheap(state, engine);
  forgetEngine(state, engineId, ctx);
}

/** Launches the requests of a lost engine elsewhere. */
export function engineLost(state: AdmissionState, event: Message<'engine.lost'>, ctx: Ctx): void {
  const engine = state.engines.get(event.engineId);
  if (engine === undefined) return;
  engine.active = false;
  reheap(state, engine);
  engine.isLost = true;
  removeEngine(state, event.engineId);
  const lost = [...engine.running].sort((a, b) => a.order - b.order);
  // All lost requests end before any fault is handled, because a lost request cannot be aborted.
  const faulty = lost.filter(isLive);
  const rounds = new Set(faulty.map((response) => endRequest(state, response)));
  for (const response of lost) if (response.status === 'aborting') endAbort(state, response, undefined, ctx);
  for (const response of faulty) response.status = 'pending';
  engineLostUnder(state, faulty, ctx);
  forgetEngine(state, event.engineId, ctx);
  for (const round of rounds) reportDrained(state, round, ctx);
}

/**
 * Forgets all requests in flight. Depending on the configuration, requests that the open round still needs are launched again
 * under the new prefix, or continue under their old ids. Aborts are forgotten in both cases.
 */
export function hostRestarted(
  state: AdmissionState,
  { idPrefix, weightVersion }: Message<'host.restarted'>,
  ctx: Ctx,
): void {
  changePrefix(state, idPrefix);
  grace.forget(state);
  timeouts.forget(state);
  pauses.forget(state);
  const goesOn = state.config.onRestart === 'continue';
  state.deadlines = new Heap(byDue);
  state.live.clear();
  if (!state.faults.isQuiet) {
    state.faults.restart(ctx.at);
    state.faults.endSuspensions('prompt', ctx);
  }
  for (const response of inFlight(state)) {
    freeSlot(state, response);
    if (goesOn && response.status !== 'aborting' && response.cause !== 'control') {
      state.elsewhere.set(response.requestId, response);
      response.cause = 'host_restarted';
      response.since = ctx.at;
      response.heardAt = ctx.at;
      state.live.set(response.prompt, (state.live.get(response.prompt) ?? 0) + 1);
      queueResume(state, response);
      limitTime(state, response, ctx);
      continue;
    }
    if (response.round !== null) response.round.inFlight -= 1;
    response.round = null;
    if (response.cause === 'control') response.status = 'abandoned';
    else if (response.status !== 'aborting') enqueue(state, response, 'host_restarted');
    else Object.assign(response, { status: 'abandoned', awaited: false });
  }
  state.aborting.clear();
  for (const prompt of [...state.settling]) {
    prompt.unsettled = 0;
    finishDeferral(state, prompt, ctx);
  }
  for (const round of [...state.draining]) reportDrained(state, round, ctx);
  for (const quota of state.round?.quotas ?? []) quota.awaiting = 0;
  if (weightVersion !== undefined) restartAt(state, weightVersion, ctx);
  state.unsettled = 'host_restarted';
  nameOwed(state, 'host_restarted', ctx);
}

/** Changes the prefix for new ids; held responses keep their ids. */
function changePrefix(state: AdmissionState, idPrefix: string): void {
  const isForgotten = replacePrefix(state, idPrefix);
  for (const prompt of state.prompts.values()) {
    for (const one of prompt.responses) if (one.status === 'held') state.elsewhere.set(one.requestId, one);
    if (!isForgotten) continue;
    // A forgotten prefix may be used again, but not with an attempt number that was minted under it.
    rememberLaunched(state, prompt);
    prompt.attemptBase = state.nextAttempt;
  }
  state.restarts += 1;
}
