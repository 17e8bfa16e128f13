/**
 * Handles reports: placement, progress and ends of requests, requests that never end, engines that come and go, and restarts of the
 * host. Reported weight versions are passed on unchanged; a response whose oldest version is too old is dropped, and tried again
 * after a pause.
 */

import { Heap } from '../../core/collections/heap.ts';
import { replacePrefix } from '../../core/ids/minted-ids.ts';
import { acceptedReason } from '../../core/rollout/accepted.ts';
import { checkEngine, removeEngine } from '../../core/rollout/engines.ts';
import { isExpiring } from '../../core/rollout/prompts.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import {
  endPauses,
  engineLostUnder,
  fault,
  forgetEngine,
  longestStalePauseSeconds,
  pauses,
  succeeded,
} from './faults.ts';
import { freeSlot, limitTime, queueResume, reheap, takeSlot, takeTimedOut, timeouts } from './launch.ts';
import { collect, nameOwed, unrewarded } from './prompts.ts';
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
import { endAbort, finishDeferral, restartAt } from './rounds.ts';
import type { Ctx } from './schema.ts';
import {
  type AdmissionState,
  byDue,
  type Engine,
  engineOf,
  enqueue,
  type FaultKind,
  isAborting,
  isLive,
  makeEngine,
  newResponse,
  pause,
  type ResponseState,
} from './state.ts';
import { uncharged } from './tries.ts';

/** Weight of an earlier response in the pace at each further completion: about the last hundred count. */
const weightOfOld = 0.99;
/** The first pause after weights that were too old, in seconds; each further pause in a row is twice as long. */
const firstStalePauseSeconds = 1;

export function completed(state: AdmissionState, event: Message<'response.completed'>, ctx: Ctx): void {
  const { requestId, tokens } = event;
  const response = findRequest(state, requestId);
  if (response === undefined) {
    ctx.emit({ type: 'response.late', at: ctx.at, requestId, reason: { code: 'completion', tokens } });
    return;
  }
  const { prompt, cause } = response;
  const { promptId, domain } = prompt.spec;
  const isAborted = isAborting(response);
  succeeded(state, response, ctx);
  if (!isAborted && response.resume === null && cause !== 'host_restarted') learnPace(state, response, tokens, ctx.at);
  if (isAborted ? !response.awaited : cause === 'control') {
    const code = isAborted ? 'after_abort' : 'control';
    ctx.emit({ type: 'response.surplus', at: ctx.at, requestId, promptId, reason: { code, tokens } });
    if (isAborted) endAbort(state, response, tokens, ctx);
    else endControl(state, response, ctx);
    return;
  }
  const said = saidVersions(response, event);
  if (!isAborted && isStale(state, response, said)) {
    dropStale(state, response, { said, tokens, finished: true }, ctx);
    return;
  }
  prompt.held += 1;
  const counts = { held: prompt.held, needed: state.config.responsesPerPrompt };
  const reason = acceptedReason(counts, said, versionOf(state, response), response.weightVersions);
  const ofDomain = domain === undefined ? undefined : { domain };
  ctx.emit({ type: 'response.accepted', at: ctx.at, requestId, promptId, ...ofDomain, reason });
  if (event.weightVersions !== undefined) takeVersions(state, response, said);
  if (isAborted) {
    endAbort(state, response, tokens, ctx, 'held');
    return;
  }
  endRequest(state, response, 'held');
  response.tokens = tokens;
  if (prompt.held === state.config.responsesPerPrompt) collect(state, prompt, ctx);
}

/** Ends a response that was only made for comparison. */
function endControl(state: AdmissionState, response: ResponseState, ctx: Ctx): void {
  const round = endRequest(state, response, 'abandoned');
  response.tokens = 0;
  response.resume = null;
  reportDrained(state, round, ctx);
}

/** Learns how long responses take, to limit later ones. */
function learnPace({ config, pace }: AdmissionState, { since }: ResponseState, tokens: number, at: number): void {
  if (config.responseTimeoutSeconds === undefined) return;
  pace.tokens = pace.tokens * weightOfOld + tokens;
  pace.seconds = pace.seconds * weightOfOld + at - since;
}

/** Handles a request that has ended without a usable response. */
export function failed(state: AdmissionState, { requestId, kind }: Message<'response.failed'>, ctx: Ctx): void {
  const response = findRequest(state, requestId);
  // A request that is not in flight has completed: its response can no longer get a reward.
  if (response === undefined) unrewarded(state, { requestId }, ctx);
  else if (isAborting(response)) endAbort(state, response, undefined, ctx);
  else failRequest(state, response, kind, ctx);
}

function failRequest(state: AdmissionState, response: ResponseState, kind: FaultKind, ctx: Ctx): void {
  const round = endRequest(state, response, 'pending');
  fault(state, response, kind, ctx);
  reportDrained(state, round, ctx);
}

export function aborted(state: AdmissionState, event: Message<'request.aborted'>, ctx: Ctx): void {
  const response = findRequest(state, event.requestId);
  if (response === undefined) late(event.requestId, ctx);
  else if (!isAborting(response)) endedEarly(state, response, event, ctx);
  else {
    response.weightVersions = saidVersions(response, event);
    endAbort(state, response, event.tokens, ctx);
  }
}

/** Handles a request that its engine has ended unasked: its tokens are kept, or the end counts as a fault of the engine. */
function endedEarly(state: AdmissionState, response: ResponseState, event: Message<'request.aborted'>, ctx: Ctx): void {
  const { requestId, index, resume } = response;
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
  const round = endRequest(state, response, 'pending');
  response.resume = { requestId, index, tokens, weightVersions: said.slice(), finished: false };
  response.failures = uncharged(response.failures);
  enqueue(state, response, 'retry_ended_early');
  reportDrained(state, round, ctx);
}

/**
 * Returns the versions of a response, ascending if the engine reports versions: the reported ones, and those of the tokens from
 * which the response was resumed.
 */
function saidVersions(
  { weightVersions, resume }: ResponseState,
  { weightVersions: said }: { readonly weightVersions?: readonly number[] | undefined },
): readonly number[] {
  if (said === undefined) return weightVersions;
  return [...new Set([...(resume?.weightVersions ?? []), ...said])].sort((a, b) => a - b);
}

/** Version of the weights that are trained in the response's round, or in the last round. */
const versionOf = (state: AdmissionState, { round }: ResponseState): number =>
  round?.weightVersion ?? state.weightVersion;

/** Whether the oldest version is too old to be trained. What was believed is judged when a round opens. */
const isStale = (state: AdmissionState, response: ResponseState, said: readonly number[]): boolean =>
  said !== response.weightVersions && versionOf(state, response) - said[0]! > state.config.maxStaleness;

/** Takes the versions that an engine has reported; a prompt is as old as its oldest token. */
function takeVersions(state: AdmissionState, response: ResponseState, said: readonly number[]): void {
  response.weightVersions = said;
  countStale(state, response, false);
  const { prompt } = response;
  prompt.startVersion = Math.min(prompt.startVersion, said[0]!);
  const { round, config } = state;
  if (round === null || !prompt.quota?.members.has(prompt)) return;
  if (isExpiring(prompt.startVersion, round.weightVersion, config.maxStaleness)) prompt.quota.expiring.add(prompt);
}

/** Counts the engine's responses in a row that are too old; new requests prefer other engines. */
function countStale(state: AdmissionState, response: ResponseState, isOld: boolean): number {
  const engine = engineOf(response);
  const counted = engine ?? state;
  const stale = isOld ? counted.stale + 1 : 0;
  if (counted.stale === stale) return stale;
  counted.stale = stale;
  if (engine?.active) reheap(state, engine);
  return stale;
}

/**
 * Drops a response, or a part of it, whose weights are too old. This counts as a fault of the engine and costs the prompt no
 * budget.
 */
function dropStale(
  state: AdmissionState,
  response: ResponseState,
  { said, tokens, finished }: { said: readonly number[]; tokens: number; finished: boolean },
  ctx: Ctx,
): void {
  const { requestId, prompt } = response;
  const { promptId } = prompt.spec;
  const { maxStaleness } = state.config;
  const versions = { oldestVersion: said[0]!, weightVersion: versionOf(state, response), maxStaleness };
  const reason = { code: 'stale_weights', ...versions } as const;
  ctx.emit({ type: 'response.dropped', at: ctx.at, requestId, promptId, tokens, finished, reason });
  const stale = countStale(state, response, true);
  const round = endRequest(state, response, 'pending');
  response.failures = uncharged(response.failures);
  response.tokens = response.resume?.tokens ?? 0;
  response.cause = 'retry_stale_weights';
  pause(state, response, ctx.at + Math.min(firstStalePauseSeconds * 2 ** (stale - 1), longestStalePauseSeconds));
  reportDrained(state, round, ctx);
}

export function checkStart(state: AdmissionState, event: Message<'request.started'>): void {
  checkRequestId(state, event);
  if (state.config.placement === 'policy') checkEngine(state, event);
}

export function started(state: AdmissionState, { requestId, engineId }: Message<'request.started'>, ctx: Ctx): void {
  const response = findRequest(state, requestId);
  if (response === undefined) {
    late(requestId, ctx);
    return;
  }
  const known = state.engines.get(engineId);
  // The engine has left, and only the host may add it again.
  if (known === undefined && state.config.placement === 'policy') return;
  const engine = known ?? engineAdded(state, { engineId });
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
  { requestId, tokens }: Message<'request.progressed' | 'turn.finished'>,
  ctx: Ctx,
): void {
  const response = findLive(state, requestId, ctx);
  if (response === undefined || tokens <= response.tokens) return;
  response.heardAt = ctx.at;
  const more = tokens - response.tokens;
  response.tokens = tokens;
  response.load += more;
  const { engine } = response;
  if (!response.holdsSlot || engine === null) return;
  engine.tokens += more;
  if (engine.active) reheap(state, engine);
}

/** Makes the check of a report about a request that must have a status, unless it is over or being aborted. */
const checkStatus =
  (wanted: ResponseState['status'], expected: string) =>
  (state: AdmissionState, event: { requestId: string }): void => {
    const status = checkRequestId(state, event)?.status;
    if (status === undefined || status === 'aborting' || status === wanted) return;
    refuse('out_of_order', 'requestId', expected, `${event.requestId} (${status})`);
  };
export const checkToolStart = checkStatus('running', 'a request that is running');
export const checkToolEnd = checkStatus('waiting', 'a request that waits for a tool');

/** Frees the engine slot of a response that waits for a tool. */
export function toolStarted(state: AdmissionState, { requestId }: Message<'tool.started'>, ctx: Ctx): void {
  const response = findLive(state, requestId, ctx);
  if (response === undefined) return;
  response.status = 'waiting';
  freeSlot(state, response);
}

export function toolFinished(state: AdmissionState, { requestId }: Message<'tool.finished'>, ctx: Ctx): void {
  const response = findLive(state, requestId, ctx);
  if (response === undefined) return;
  if (response.cause === 'host_restarted') response.cause = 'planned';
  queueResume(state, response);
}

/** Ends what is overdue: aborts that nobody has confirmed, responses that have run too long, and pauses. */
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
  const silent = takeTimedOut(state, ctx.at);
  if (silent.length > 0) timeouts.arm(state, ctx);
  // An earlier replacement may have removed the prompt of this response.
  for (const response of silent) if (isLive(response)) replaceLate(state, response, ctx);
  endPauses(state, ctx);
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

export function engineAdded(state: AdmissionState, { engineId }: { engineId: string }): Engine {
  const engine = state.engines.get(engineId) ?? makeEngine({ id: engineId, active: true });
  state.engines.set(engineId, engine);
  engine.active = true;
  engine.stale = 0;
  reheap(state, engine);
  return engine;
}

export function engineDrained(state: AdmissionState, { engineId }: { engineId: string }, ctx: Ctx): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) return;
  engine.active = false;
  reheap(state, engine);
  forgetEngine(state, engineId, ctx);
}

/** Launches the requests of a lost engine elsewhere. */
export function engineLost(state: AdmissionState, { engineId }: Message<'engine.lost'>, ctx: Ctx): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) return;
  engine.active = false;
  reheap(state, engine);
  engine.isLost = true;
  removeEngine(state, engineId);
  const lost = [...engine.running].sort((a, b) => a.order - b.order);
  // All lost requests end before any fault is handled, because a lost request cannot be aborted.
  const faulty = lost.filter(isLive);
  const rounds = new Set(faulty.map((response) => endRequest(state, response, 'pending')));
  for (const response of lost) if (isAborting(response)) endAbort(state, response, undefined, ctx);
  engineLostUnder(state, faulty, ctx);
  forgetEngine(state, engineId, ctx);
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
  for (const one of [grace, timeouts, pauses]) one.forget(state);
  const goesOn = state.config.onRestart === 'continue';
  state.deadlines = new Heap(byDue);
  state.live.clear();
  if (!state.faults.isQuiet) {
    state.faults.restart(ctx.at);
    state.faults.endSuspensions('prompt', ctx);
  }
  for (const response of [...inFlight(state)]) {
    freeSlot(state, response);
    const isOver = isAborting(response) || response.cause === 'control';
    if (goesOn && !isOver) {
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
    response.awaited = false;
    state.requests.delete(response.requestId);
    if (isOver) response.status = 'abandoned';
    else enqueue(state, response, 'host_restarted');
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

/** Changes the prefix for new ids. */
function changePrefix(state: AdmissionState, idPrefix: string): void {
  if (replacePrefix(state, idPrefix)) {
    for (const prompt of state.prompts.values()) {
      // A forgotten prefix may be used again, but not with an attempt number that was minted under it.
      rememberLaunched(state, prompt);
      prompt.attemptBase = state.nextAttempt;
    }
  }
  state.restarts += 1;
}
