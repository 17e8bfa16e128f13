/** Requests in flight: how they are found, aborted, and taken out. */
import type { Context } from '../../core/definition.ts';
import type { AdmissionDecision } from './decisions.ts';
import { engineOf, freeSlot } from './engines.ts';
import { type AdmissionState, isLive, type PromptState, type ResponseState, type Round } from './state.ts';
import { armAbortGrace } from './timers.ts';

type Ctx = Context<AdmissionDecision>;
export type AbortReason = Extract<AdmissionDecision, { type: 'request.abort' }>['reason'];

/** The response of a prompt with this index. */
export function responseAt(prompt: PromptState, index: number): ResponseState | undefined {
  const response = prompt.responses[index];
  return response !== undefined && response.index === index
    ? response
    : prompt.responses.find((one) => one.index === index);
}

/** The response that the id itself leads to, of a prompt that is in. */
function placed({ prefix, prompts, places }: AdmissionState, requestId: string): ResponseState | undefined {
  const place = places.of(prefix, requestId);
  const prompt = place && prompts.get(place.promptId);
  const response = prompt && responseAt(prompt, place.index);
  return response?.requestId === requestId ? response : undefined;
}

/**
 * The response that a request in flight generates. The id names its place, so that no table of all requests is needed:
 * the table of prompts is a tenth of its size, and far more of it stays in the processor's caches.
 */
export function findRequest(state: AdmissionState, requestId: string): ResponseState | undefined {
  const response = placed(state, requestId);
  return response !== undefined && isLive(response) ? response : state.aborting.get(requestId);
}

/** The response that a request has generated, while it is held. */
export function heldResponse(state: AdmissionState, requestId: string): ResponseState | undefined {
  const elsewhere = state.elsewhere.get(requestId);
  if (elsewhere !== undefined) return elsewhere;
  const response = placed(state, requestId);
  return response?.status === 'held' ? response : undefined;
}

/** Every request in flight, in the order of prompts and their responses; aborted ones last. For snapshots and tests. */
export function inFlight(state: AdmissionState): ResponseState[] {
  const live = [...state.prompts.values()].flatMap((prompt) => prompt.responses.filter(isLive));
  return [...live, ...state.aborting.values()];
}

/** Decides to abort a request; it stays in flight until that is confirmed. */
export function abort(state: AdmissionState, response: ResponseState, reason: AbortReason, ctx: Ctx): void {
  response.status = 'aborting';
  response.since = ctx.at;
  response.order = state.seq++;
  state.aborting.set(response.requestId, response);
  // What is confirmed need not wait for the timer: a host may never answer it.
  while (state.aborts.size > 0 && state.aborts.peek()!.status !== 'aborting') state.aborts.shift();
  state.aborts.push(response);
  const engine = engineOf(state, response);
  ctx.emit({
    type: 'request.abort',
    at: ctx.at,
    requestId: response.requestId,
    promptId: response.prompt.spec.promptId,
    ...(engine === null ? undefined : { engineId: engine.id }),
    reason,
  });
  armAbortGrace(state, ctx.at, ctx);
}

/** Aborts every response of a prompt that is in flight. */
export function abortAll(state: AdmissionState, prompt: PromptState, reason: AbortReason, ctx: Ctx): void {
  for (const response of prompt.responses) if (isLive(response)) abort(state, response, { ...reason }, ctx);
}

/** Takes a request out: it is over. Gives its round, for `reportDrained`; the caller decides about the response. */
export function endRequest(state: AdmissionState, response: ResponseState): Round | null {
  const { round } = response;
  if (response.status === 'aborting') state.aborting.delete(response.requestId);
  freeSlot(state, response);
  if (round !== null) round.inFlight -= 1;
  response.round = null;
  return round;
}

/** Says when nothing of a completed round is in flight any more. */
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
