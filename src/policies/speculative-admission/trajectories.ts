/** What is reported about requests while they run: where, how far, and what their environments do. */
import type { Context } from '../../core/definition.ts';
import type { AdmissionDecision, AdmissionEvent } from './decisions.ts';
import { addEngine, freeSlot, reheap, takeSlot } from './engines.ts';
import { findRequest } from './requests.ts';
import { late } from './responses.ts';
import { type AdmissionState, isLive, type ResponseState } from './state.ts';

type Ctx = Context<AdmissionDecision>;
type EventOf<T extends AdmissionEvent['type']> = Extract<AdmissionEvent, { type: T }>;

export function started(state: AdmissionState, event: EventOf<'request.started'>, ctx: Ctx): void {
  const response = findRequest(state, event.requestId);
  if (response === undefined) {
    late(event.requestId, ctx);
    return;
  }
  const engine = state.engines.get(event.engineId) ?? addEngine(state, event.engineId);
  if (!response.holdsSlot || response.engine === engine) return;
  freeSlot(state, response);
  takeSlot(state, response, engine);
}

/** The request, unless it is over or being aborted. */
function findLive(state: AdmissionState, requestId: string, ctx: Ctx): ResponseState | undefined {
  const response = findRequest(state, requestId);
  if (response !== undefined && isLive(response)) return response;
  late(requestId, ctx);
  return undefined;
}

export function turnFinished(state: AdmissionState, event: EventOf<'turn.finished'>, ctx: Ctx): void {
  const response = findLive(state, event.requestId, ctx);
  if (response === undefined) return;
  const more = event.tokens - response.tokens;
  response.tokens = event.tokens;
  response.load += more;
  const { engine } = response;
  if (!response.holdsSlot || engine === null) return;
  engine.tokens += more;
  if (engine.active) reheap(state, engine);
}

/** A trajectory waits for its environment: its engine slot is free meanwhile. */
export function waiting(state: AdmissionState, requestId: string, ctx: Ctx): void {
  const response = findLive(state, requestId, ctx);
  if (response === undefined) return;
  response.status = 'waiting';
  freeSlot(state, response);
}

export function resumed(state: AdmissionState, requestId: string, ctx: Ctx): void {
  const response = findLive(state, requestId, ctx);
  if (response === undefined) return;
  response.status = 'resuming';
  response.order = state.seq++;
  state.resumes.push({ response, order: response.order });
}
