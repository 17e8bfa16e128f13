/** Finds requests, tells whether ids were minted earlier, and aborts and ends requests. */
import { didYouMean } from '../../core/ids/nearest.ts';
import { Deadlines, timerNamed } from '../../core/rollout/deadlines.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { attemptOf, type Launched, parseId } from './ids.ts';
import { engineOf, freeSlot, limitOf, reheap, takeSlot } from './launch.ts';
import type { Ctx } from './schema.ts';
import { lossesToSuspect, putInPark } from './singles.ts';
import {
  type AdmissionState,
  isLive,
  isQueued,
  join,
  type PromptState,
  quotaOf,
  type ResponseState,
  type Round,
  responseAt,
} from './state.ts';

export type AbortReason = Message<'request.abort'>['reason'];

/** Returns the response that a request id names, if its prompt is here. */
function placed({ prefix, prompts, parsedIds }: AdmissionState, requestId: string): ResponseState | undefined {
  const key = parsedIds.of(prefix, requestId);
  const prompt = key && prompts.get(key.promptId);
  const response = prompt && responseAt(prompt, key.index);
  return response?.requestId === requestId ? response : undefined;
}

/**
 * Returns the response that a request in flight generates. The id names the prompt and the index of the response, so no table of all requests is
 * needed: the table of prompts is a tenth as large, and far more of it stays in the processor caches.
 */
export function findRequest(state: AdmissionState, requestId: string): ResponseState | undefined {
  const response = placed(state, requestId) ?? state.elsewhere.get(requestId);
  return response !== undefined && isLive(response) ? response : state.aborting.get(requestId);
}

/** Returns the response that a request has generated, while the response is held. */
export function heldResponse(state: AdmissionState, requestId: string): ResponseState | undefined {
  const elsewhere = state.elsewhere.get(requestId);
  if (elsewhere?.status === 'held') return elsewhere;
  const response = placed(state, requestId);
  return response?.status === 'held' ? response : undefined;
}

/**
 * Returns every request in flight, in the order of prompts and their responses; those that are being aborted come last. For
 * snapshots and tests.
 */
export function inFlight(state: AdmissionState): ResponseState[] {
  const live = [...state.prompts.values()].flatMap((prompt) => prompt.responses.filter(isLive));
  return [...live, ...state.aborting.values()];
}

/** Answers a report about a request that is over. */
export function late(requestId: string, ctx: Ctx): void {
  ctx.emit({ type: 'response.late', at: ctx.at, requestId, reason: { code: 'report' } });
}

/** Refuses rounds that were not opened; only the last rounds are remembered. */
export function checkRound(state: AdmissionState, roundId: string): void {
  if (state.recentRounds.has(roundId)) return;
  refuse(
    state.rounds === 0 ? 'out_of_order' : 'unknown_id',
    'roundId',
    state.rounds === 0 ? 'a round to be opened first' : 'the id of a round that was opened',
    roundId,
  );
}

/** The search for the nearest id compares at most so many. */
const mostCompared = 1000;

function someLive({ prompts }: AdmissionState): string[] {
  const ids: string[] = [];
  for (const { responses } of prompts.values()) {
    for (const one of responses) if (isLive(one) && ids.push(one.requestId) === mostCompared) return ids;
  }
  return ids;
}

/** Refuses ids that were never minted; returns the response if the request is in flight. */
export function checkRequestId(state: AdmissionState, { requestId }: { requestId: string }): ResponseState | undefined {
  const response = findRequest(state, requestId);
  if (response !== undefined || wasMinted(state, requestId)) return response;
  const expected = 'the id of a request that was launched';
  // Of a well-formed id, the nearest would be that of another prompt.
  const isMistyped = parseId(state.prefix, requestId) === undefined;
  refuse(
    'unknown_id',
    'requestId',
    isMistyped ? expected + didYouMean(requestId, someLive(state)) : expected,
    requestId,
  );
}

/** Whether this attempt of a response was launched, given a prompt that is here. */
function wasLaunched(prompt: PromptState, index: number, attempt: number): boolean {
  const response = responseAt(prompt, index);
  // A response that was already finished when the host supplied the prompt was launched earlier, not for the prompt that is
  // here.
  if (response === undefined || response.requestId === '' || response.resume?.finished) return false;
  return prompt.attemptBase <= attempt && attempt <= attemptOf(response.requestId);
}

/** Returns the attempts launched for a prompt that is here, if any. */
function launchedOf(prompt: PromptState, lastPrefix: number): Launched | undefined {
  const { spec, attemptBase: first, firstPrefix } = prompt;
  let last = -1;
  let indices = 0;
  for (const { requestId, index, resume } of prompt.responses) {
    if (requestId === '' || resume?.finished) continue;
    last = Math.max(last, attemptOf(requestId));
    indices = Math.max(indices, index + 1);
  }
  return last < first ? undefined : { promptId: spec.promptId, first, last, indices, firstPrefix, lastPrefix };
}

/** Remembers the requests of a prompt that leaves. */
export function rememberLaunched(state: AdmissionState, prompt: PromptState): void {
  const launched = launchedOf(prompt, state.restarts);
  if (launched !== undefined) state.departures.add(launched, state.config.promptsPerRound);
}

/** Whether an id has a remembered prefix and names a request that was launched under it, or may have been launched long ago. */
export function wasMinted(state: AdmissionState, id: string): boolean {
  const { prefix, oldPrefixes, restarts } = state;
  const forgotten = restarts - oldPrefixes.length;
  return (
    wasMintedUnder(state, prefix, restarts, id) ||
    oldPrefixes.some((one, index) => wasMintedUnder(state, one, forgotten + index, id))
  );
}

function wasMintedUnder(state: AdmissionState, prefix: string, ordinal: number, id: string): boolean {
  const parsed = parseId(prefix, id);
  if (parsed === undefined || parsed.attempt >= state.nextAttempt) return false;
  if (parsed.attempt < state.departures.horizon) return true;
  const { promptId, index, attempt } = parsed;
  const prompt = state.prompts.get(promptId);
  if (prompt !== undefined && wasLaunched(prompt, index, attempt) && prompt.firstPrefix <= ordinal) return true;
  const isOf = ({ first, last, indices, firstPrefix, lastPrefix }: Launched): boolean =>
    index < indices && first <= attempt && attempt <= last && firstPrefix <= ordinal && ordinal <= lastPrefix;
  return state.departures.of(promptId).some(isOf);
}

/** Decides to abort a request, which stays in flight until the abort is confirmed. */
export function abort(state: AdmissionState, response: ResponseState, reason: AbortReason, ctx: Ctx): void {
  endLive(state, response);
  response.status = 'aborting';
  response.since = ctx.at;
  response.order = state.seq++;
  state.aborting.set(response.requestId, response);
  state.aborts.push(response);
  const engine = engineOf(response);
  ctx.emit({
    type: 'request.abort',
    at: ctx.at,
    requestId: response.requestId,
    promptId: response.prompt.spec.promptId,
    ...(engine === null ? undefined : { engineId: engine.id }),
    reason,
  });
  grace.arm(state, ctx);
}

/** Aborts every response of a prompt that is in flight. */
export function abortAll(state: AdmissionState, prompt: PromptState, reason: AbortReason, ctx: Ctx): void {
  for (const response of prompt.responses) if (isLive(response)) abort(state, response, { ...reason }, ctx);
}

/** Aborts a comparison response, because its prompt leaves. */
export function abortControl(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  if (!state.live.has(prompt)) return;
  for (const one of prompt.responses) {
    if (one.cause === 'control' && isLive(one)) abort(state, one, { code: 'prompt_left' }, ctx);
  }
}

/** Notes that a request of a prompt generates no more. */
function endLive(state: AdmissionState, { prompt }: ResponseState): void {
  const live = state.live.get(prompt)! - 1;
  if (live > 0) state.live.set(prompt, live);
  else state.live.delete(prompt);
  if (state.suspects.has(prompt)) state.mayUnpark = true;
}

/** Removes an ended request. Returns its round, for `reportDrained`; the caller decides about the response. */
export function endRequest(state: AdmissionState, response: ResponseState): Round | null {
  const { round } = response;
  if (response.status === 'aborting') state.aborting.delete(response.requestId);
  else endLive(state, response);
  freeSlot(state, response);
  if (round !== null) round.inFlight -= 1;
  response.round = null;
  return round;
}

/** Reports a completed round as drained once no request of the round is in flight. */
export function reportDrained(state: AdmissionState, round: Round | null, ctx: Ctx): void {
  if (round === null || round.inFlight > 0) return;
  const index = state.draining.indexOf(round);
  if (index < 0) return;
  state.draining.splice(index, 1);
  ctx.emit({
    type: 'round.drained',
    at: ctx.at,
    roundId: round.id,
    reason: { code: 'all_ended', afterSeconds: ctx.at - round.completedAt },
  });
}

/** Returns the oldest unconfirmed abort; confirmed ones leave the queue. */
function oldestAbort({ aborts }: AdmissionState): ResponseState | undefined {
  for (let next = aborts.peek(); next !== undefined; next = aborts.peek()) {
    if (next.status === 'aborting') return next;
    aborts.shift();
  }
  return undefined;
}

/** Deadlines at which aborts must be confirmed. */
export const grace = new Deadlines<AdmissionState>({
  timerId: 'speculative-admission/abort-grace',
  ...timerNamed('abortGrace'),
  first: (state) => {
    const next = oldestAbort(state);
    return next && next.since + state.config.abortGraceSeconds;
  },
  reason: ({ config }) => ({ code: 'abort_grace', graceSeconds: config.abortGraceSeconds }),
});

/** Returns the aborts whose deadline has passed, oldest first. */
export function takeExpiredAborts(state: AdmissionState, at: number): ResponseState[] {
  const expired: ResponseState[] = [];
  while (grace.isOver(state, at)) expired.push(state.aborts.shift()!);
  return expired;
}

/** Sets the derived fields: pointers, slots, and the queues, each sorted by the `order` of its members. */
export function link(state: AdmissionState): void {
  const { round: open, draining, prompts, settling, settlingOf, aborting } = state;
  const rounds = new Map<string | null, Round>();
  for (const round of open === null ? draining : [...draining, open]) {
    round.weightVersions = [round.weightVersion];
    rounds.set(round.id, round);
  }
  for (const engine of state.engines.values()) reheap(state, engine);
  const all = [...aborting.values()];
  for (const prompt of prompts.values()) {
    const quota = (open !== null && quotaOf(open, prompt.spec.domain)) || null;
    prompt.quota = quota;
    if (prompt.status === 'standby') quota?.standby.push(prompt);
    else if (prompt.status !== 'counted' && quota !== null) {
      join(prompt, quota, open!, state.config);
      if (prompt.status === 'passed') quota.ready.push(prompt);
    }
  }
  for (const prompt of settling) settlingOf.set(prompt.spec.promptId, prompt);
  for (const prompt of [...prompts.values(), ...settling]) {
    for (const response of prompt.responses) {
      response.prompt = prompt;
      all.push(response);
    }
  }
  for (const response of all) linkResponse(state, response, rounds);
  for (const response of all.filter(standsInLine).sort((a, b) => a.order - b.order)) putInLine(state, response);
  for (const response of all)
    if (isLive(response)) {
      state.live.set(response.prompt, (state.live.get(response.prompt) ?? 0) + 1);
      if (state.config.responseTimeoutSeconds === undefined) continue;
      // A response from an older snapshot has no limit.
      response.limitSeconds ||= state.config.responseTimeoutSeconds;
      state.deadlines.push(limitOf(response));
    }
  for (const prompt of prompts.values()) if (prompt.losses >= lossesToSuspect) state.suspects.add(prompt);
}

function linkResponse(state: AdmissionState, response: ResponseState, rounds: ReadonlyMap<string | null, Round>): void {
  const { round, engine } = response as unknown as { round: string | null; engine: string | null };
  response.round = rounds.get(round) ?? null;
  response.engine = (engine !== null && state.engines.get(engine)) || null;
  if (response.holdsSlot) takeSlot(state, response, response.engine);
  const { status, requestId } = response;
  const isFound =
    (status === 'held' ? heldResponse(state, requestId) : isLive(response) && findRequest(state, requestId)) ===
    response;
  if (!isFound && (status === 'held' || isLive(response))) state.elsewhere.set(requestId, response);
}

const standsInLine = (one: ResponseState): boolean =>
  isQueued(one) || one.status === 'resuming' || one.status === 'aborting';

function putInLine(state: AdmissionState, response: ResponseState): void {
  const { status, cause, order } = response;
  const isActive = response.prompt.status === 'active';
  if (status === 'pending') (cause === 'planned' ? state.launches : state.retries).push(response);
  else if (status === 'paused') state.pauses.push(response);
  else if (status === 'parked' && isActive) putInPark(state, response);
  else if (status === 'aside' && isActive) state.asides.add(response);
  else if (status === 'resuming') state.resumes.push({ response, order });
  else if (status === 'aborting') {
    // Aborts of prompts that have left are in `aborting` already; setting them again keeps the order of the decisions.
    state.aborting.delete(response.requestId);
    state.aborting.set(response.requestId, response);
    state.aborts.push(response);
  }
}
