/** Finds requests by their ids, tells whether ids were minted earlier, and aborts and ends requests. */
import { didYouMean } from '../../core/ids/nearest.ts';
import { Deadlines, timerNamed } from '../../core/rollout/deadlines.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { attemptOf, type Launched, parseId } from './ids.ts';
import { freeSlot, limitOf, reheap, takeSlot } from './launch.ts';
import type { Ctx } from './schema.ts';
import {
  type AdmissionState,
  engineOf,
  isAborting,
  isLive,
  isQueued,
  join,
  type PromptState,
  quotaOf,
  type ResponseState,
  type Round,
  responseAt,
} from './state.ts';
import { lossesToSuspect, putInPark } from './tries.ts';

export type AbortReason = Message<'request.abort'>['reason'];

/** Returns the response that a request in flight generates. */
export function findRequest({ requests }: AdmissionState, requestId: string): ResponseState | undefined {
  const response = requests.get(requestId);
  return response?.status === 'held' ? undefined : response;
}

/** Returns the response that a request has generated, while the response is held. */
export function heldResponse({ requests }: AdmissionState, requestId: string): ResponseState | undefined {
  const response = requests.get(requestId);
  return response?.status === 'held' ? response : undefined;
}

/** Returns every request in flight, by prompt and index; those that are being aborted come last, in the order of the decisions. */
export function* inFlight({ prompts, aborting }: AdmissionState): Iterable<ResponseState> {
  for (const { responses } of prompts.values()) for (const one of responses) if (isLive(one)) yield one;
  for (const one of aborting) if (isAborting(one)) yield one;
}

/** Answers a report about a request that is over. */
export function late(requestId: string, ctx: Ctx): void {
  ctx.emit({ type: 'response.late', at: ctx.at, requestId, reason: { code: 'report' } });
}

/** Refuses rounds that were not opened; only the last rounds are remembered. */
export function checkRound({ recentRounds, rounds }: AdmissionState, roundId: string): void {
  if (recentRounds.has(roundId)) return;
  if (rounds === 0) refuse('out_of_order', 'roundId', 'a round to be opened first', roundId);
  refuse('unknown_id', 'roundId', 'the id of a round that was opened', roundId);
}

/** The search for the nearest id compares at most so many. */
const mostCompared = 1000;

/** Refuses ids that were never minted; returns the response if the request is in flight. */
export function checkRequestId(state: AdmissionState, { requestId }: { requestId: string }): ResponseState | undefined {
  const response = findRequest(state, requestId);
  if (response !== undefined || wasMinted(state, requestId)) return response;
  let expected = 'the id of a request that was launched';
  // Of a well-formed id, the nearest would be that of another prompt.
  if (parseId(state.prefix, requestId) === undefined) {
    const ids: string[] = [];
    for (const one of inFlight(state)) if (!isAborting(one) && ids.push(one.requestId) === mostCompared) break;
    expected += didYouMean(requestId, ids);
  }
  refuse('unknown_id', 'requestId', expected, requestId);
}

/** Whether a response was launched for the prompt that is here, and not earlier, for one that brought it along complete. */
const wasLaunched = ({ requestId, resume }: ResponseState): boolean => requestId !== '' && !resume?.finished;

/** Whether any response of a prompt was started in this round. */
export const wasStarted = ({ responses }: PromptState): boolean => responses.some(wasLaunched);

/** Remembers the requests of a prompt that leaves. */
export function rememberLaunched({ departures, config, restarts }: AdmissionState, prompt: PromptState): void {
  const { spec, attemptBase: first, firstPrefix } = prompt;
  let last = -1;
  let indices = 0;
  for (const one of prompt.responses) {
    if (!wasLaunched(one)) continue;
    last = Math.max(last, attemptOf(one.requestId));
    indices = Math.max(indices, one.index + 1);
  }
  if (last < first) return;
  const launched = { promptId: spec.promptId, first, last, indices, firstPrefix, lastPrefix: restarts };
  departures.add(launched, config.promptsPerRound);
}

/** Whether an id has a remembered prefix and names a request that was launched under it, or may have been launched long ago. */
function wasMinted(state: AdmissionState, id: string): boolean {
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
  const { promptId, index, attempt } = parsed;
  if (attempt < state.departures.horizon) return true;
  const prompt = state.prompts.get(promptId);
  const response = prompt && responseAt(prompt, index);
  if (prompt !== undefined && response !== undefined && wasLaunched(response)) {
    const isAttempt = prompt.attemptBase <= attempt && attempt <= attemptOf(response.requestId);
    if (isAttempt && prompt.firstPrefix <= ordinal) return true;
  }
  const isOf = ({ first, last, indices, firstPrefix, lastPrefix }: Launched): boolean =>
    index < indices && first <= attempt && attempt <= last && firstPrefix <= ordinal && ordinal <= lastPrefix;
  return state.departures.of(promptId).some(isOf);
}

/** Decides to abort a request, which stays in flight until the abort is confirmed. */
export function abort(state: AdmissionState, response: ResponseState, reason: AbortReason, ctx: Ctx): void {
  const { at } = ctx;
  const { requestId, prompt } = response;
  endLive(state, response);
  response.status = 'aborting';
  response.since = at;
  response.order = state.seq++;
  state.aborting.push(response);
  state.dueAt = null;
  const engine = engineOf(response);
  const by = engine === null ? undefined : { engineId: engine.id };
  ctx.emit({ type: 'request.abort', at, requestId, promptId: prompt.spec.promptId, ...by, reason });
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

/**
 * Ends a request, whose response is held, abandoned, or decided about by the caller. Returns the round, for `reportDrained`.
 *
 * @param status - of the response from now on: `pending`, although not in its queue, if the caller decides
 */
export function endRequest(
  state: AdmissionState,
  response: ResponseState,
  status: 'held' | 'abandoned' | 'pending',
): Round | null {
  const { round } = response;
  if (!isAborting(response)) endLive(state, response);
  response.status = status;
  if (status !== 'held') state.requests.delete(response.requestId);
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
  const reason = { code: 'all_ended', afterSeconds: ctx.at - round.completedAt } as const;
  ctx.emit({ type: 'round.drained', at: ctx.at, roundId: round.id, reason });
}

/** Deadlines at which aborts must be confirmed. */
export const grace = new Deadlines<AdmissionState>({
  timerId: 'speculative-admission/abort-grace',
  ...timerNamed('abortGrace'),
  first: ({ aborting, config }) => {
    let next = aborting.peek();
    for (; next !== undefined && !isAborting(next); next = aborting.peek()) aborting.shift();
    return next && next.since + config.abortGraceSeconds;
  },
  reason: ({ config }) => ({ code: 'abort_grace', graceSeconds: config.abortGraceSeconds }),
});

/** Returns the aborts whose deadline has passed, oldest first. */
export function takeExpiredAborts(state: AdmissionState, at: number): ResponseState[] {
  const expired: ResponseState[] = [];
  while (grace.isOver(state, at)) expired.push(state.aborting.shift()!);
  return expired;
}

/** Sets the derived fields: pointers, slots, the index, and the queues, each sorted by the `order` of its members. */
export function link(state: AdmissionState): void {
  const { round: open, draining, prompts, settling, aborting, config } = state;
  const rounds = new Map<string | null, Round>();
  for (const round of open === null ? draining : [...draining, open]) {
    round.weightVersions = [round.weightVersion];
    rounds.set(round.id, round);
  }
  for (const engine of state.engines.values()) reheap(state, engine);
  for (const prompt of prompts.values()) linkPrompt(state, prompt);
  for (const prompt of settling) state.settlingOf.set(prompt.spec.promptId, prompt);
  const all = [...aborting];
  aborting.clear();
  for (const prompt of [...prompts.values(), ...settling]) {
    for (const response of prompt.responses) {
      response.prompt = prompt;
      all.push(response);
    }
  }
  for (const response of all) {
    // Until now the ids of the round and of the engine are in the places of the pointers.
    const { round, engine } = response as unknown as { round: string | null; engine: string | null };
    response.round = rounds.get(round) ?? null;
    response.engine = (engine !== null && state.engines.get(engine)) || null;
    if (response.holdsSlot) takeSlot(state, response, response.engine);
    if (isLive(response)) {
      state.live.set(response.prompt, (state.live.get(response.prompt) ?? 0) + 1);
      if (config.responseTimeoutSeconds !== undefined) state.deadlines.push(limitOf(response));
    }
    if (isLive(response) || isAborting(response) || response.status === 'held') {
      state.requests.set(response.requestId, response);
    }
  }
  const inLine = all.filter((one) => isQueued(one) || one.status === 'resuming' || isAborting(one));
  for (const response of inLine.sort((a, b) => a.order - b.order)) putInLine(state, response);
}

function linkPrompt(state: AdmissionState, prompt: PromptState): void {
  const { round } = state;
  if (prompt.losses >= lossesToSuspect) state.suspects.add(prompt);
  const quota = (round !== null && quotaOf(round, prompt.spec.domain)) || null;
  prompt.quota = quota;
  if (prompt.status === 'standby') quota?.standby.push(prompt);
  else if (prompt.status !== 'counted' && quota !== null) {
    join(state, prompt, quota, round!);
    if (prompt.status === 'passed') quota.ready.push(prompt);
  }
}

function putInLine(state: AdmissionState, response: ResponseState): void {
  const { status, cause, order, prompt } = response;
  if (status === 'pending') (cause === 'planned' ? state.launches : state.retries).push(response);
  else if (status === 'paused') state.pauses.push(response);
  else if (status === 'resuming') state.resumes.push({ response, order });
  else if (status === 'aborting') state.aborting.push(response);
  else if (prompt.status === 'active' && status === 'parked') putInPark(state, response);
  else if (prompt.status === 'active' && status === 'aside') state.asides.add(response);
}
