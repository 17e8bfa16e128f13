/** What is reported about requests: responses, failures, aborts, rewards, turns and environments. */
import type { Context } from '../../core/definition.ts';
import type { AdmissionDecision, AdmissionEvent } from './decisions.ts';
import { parseId } from './ids.ts';
import { enqueue, freeSlot, pump, reheap, takeSlot } from './launch.ts';
import { collect, count, judgeRewards, quarantine, reject } from './progress.ts';
import { abort, endAbort, endRequest, reportDrained } from './requests.ts';
import type { AdmissionState, Engine, FaultKind, PromptState, Request, Slot } from './state.ts';

type Ctx = Context<AdmissionDecision>;
type EventOf<T extends AdmissionEvent['type']> = Extract<AdmissionEvent, { type: T }>;

/** The response of a prompt with this index. */
export function slotOf(prompt: PromptState, index: number): Slot {
  const slot = prompt.slots[index];
  return slot !== undefined && slot.index === index ? slot : prompt.slots.find((one) => one.index === index)!;
}

/** A report about a request that is over. */
export function late(requestId: string, ctx: Ctx): void {
  ctx.emit({ type: 'response.late', at: ctx.at, requestId, reason: { code: 'report' } });
}

export function completed(state: AdmissionState, event: EventOf<'response.completed'>, ctx: Ctx): void {
  const { requestId, tokens } = event;
  const request = state.requests.get(requestId);
  if (request === undefined) {
    ctx.emit({ type: 'response.late', at: ctx.at, requestId, reason: { code: 'completion', tokens } });
    return;
  }
  const { prompt, promptId } = request;
  if (prompt === null) {
    ctx.emit({ type: 'response.surplus', at: ctx.at, requestId, promptId, reason: { code: 'after_abort', tokens } });
    endAbort(state, request, tokens, ctx);
    pump(state, ctx);
    return;
  }
  const slot = slotOf(prompt, request.index);
  const settling = request.phase === 'aborting';
  slot.status = 'held';
  slot.tokens = tokens;
  slot.weightVersions = request.weightVersions;
  prompt.held += 1;
  const needed = state.config.responsesPerPrompt;
  ctx.emit({
    type: 'response.accepted',
    at: ctx.at,
    requestId,
    promptId,
    reason: { code: 'held', held: prompt.held, needed },
  });
  if (settling) endAbort(state, request, tokens, ctx);
  else {
    endRequest(state, request);
    if (prompt.held === needed) collect(state, prompt, ctx);
  }
  pump(state, ctx);
}

/** A request has ended without a response that is of use. */
export function failed(state: AdmissionState, requestId: string, kind: FaultKind, ctx: Ctx): void {
  const request = state.requests.get(requestId);
  if (request === undefined) late(requestId, ctx);
  else failRequest(state, request, kind, ctx);
  pump(state, ctx);
}

export function failRequest(state: AdmissionState, request: Request, kind: FaultKind, ctx: Ctx): void {
  if (request.phase === 'aborting') {
    endAbort(state, request, undefined, ctx);
    return;
  }
  endRequest(state, request);
  fault(state, request.prompt!, slotOf(request.prompt!, request.index), kind, ctx);
  reportDrained(state, request.round, ctx);
}

/** Tries a response again within its budget. A fault of the data is the prompt's own, whichever response shows it. */
function fault(state: AdmissionState, prompt: PromptState, slot: Slot, kind: FaultKind, ctx: Ctx): void {
  const failures = slot.failures[kind] + 1;
  slot.failures = { ...slot.failures, [kind]: failures };
  const budget = state.config.retry[kind];
  if (failures <= budget) {
    enqueue(state, slot, `retry_${kind}`);
    return;
  }
  slot.status = 'abandoned';
  slot.tokens = 0;
  slot.resume = null;
  if (kind === 'data') {
    quarantine(state, prompt, kind, failures, ctx);
    return;
  }
  ctx.emit({
    type: 'response.abandoned',
    at: ctx.at,
    requestId: slot.requestId,
    promptId: prompt.spec.promptId,
    reason: { code: kind, failures, budget },
  });
  const possible = prompt.slots.filter((one) => one.status !== 'abandoned').length;
  if (possible < state.config.responsesPerPrompt) quarantine(state, prompt, kind, failures, ctx);
}

export function aborted(state: AdmissionState, event: EventOf<'request.aborted'>, ctx: Ctx): void {
  const request = state.requests.get(event.requestId);
  if (request === undefined) late(event.requestId, ctx);
  // An abort that was not asked for is the engine's doing.
  else if (request.phase === 'aborting') endAbort(state, request, event.tokens, ctx);
  else failRequest(state, request, 'infrastructure', ctx);
  pump(state, ctx);
}

/** A response ran too long: it is aborted, and tried again. */
export function timedOut(state: AdmissionState, request: Request, limitSeconds: number, ctx: Ctx): void {
  const { prompt } = request;
  const ranSeconds = ctx.at - request.launchedAt;
  abort(state, request, { code: 'response_timeout', ranSeconds, limitSeconds }, ctx);
  fault(state, prompt!, slotOf(prompt!, request.index), 'infrastructure', ctx);
}

export function rewarded(state: AdmissionState, event: EventOf<'reward.ready'>, ctx: Ctx): void {
  const slot = heldSlot(state, event.requestId);
  if (slot === undefined || slot.reward !== null) {
    late(event.requestId, ctx);
    return;
  }
  slot.reward = event.reward;
  slot.prompt.rewards += 1;
  if (state.config.filter === 'zero-variance') judgeRewards(state, slot.prompt, ctx);
  pump(state, ctx);
}

/** The held response that a request generated, while its prompt is here. */
export function heldSlot(state: AdmissionState, requestId: string): Slot | undefined {
  for (const prefix of [state.prefix, ...state.oldPrefixes]) {
    const parsed = parseId(prefix, requestId);
    const prompt = parsed && state.prompts.get(parsed.promptId);
    const slot = prompt?.slots.find((one) => one.requestId === requestId && one.status === 'held');
    if (slot !== undefined) return slot;
  }
  return undefined;
}

export function judged(state: AdmissionState, event: EventOf<'prompt.judged'>, ctx: Ctx): void {
  const { promptId, roundId } = event;
  const prompt = state.prompts.get(promptId);
  if (prompt?.status !== 'collected') {
    ctx.emit({ type: 'judgement.late', at: ctx.at, promptId, roundId, reason: { code: 'not_waiting' } });
  } else if (event.keep) count(state, prompt, ctx);
  else reject(state, prompt, { code: 'host' }, ctx);
  pump(state, ctx);
}

export function started(state: AdmissionState, event: EventOf<'request.started'>, ctx: Ctx): void {
  const request = state.requests.get(event.requestId);
  if (request === undefined) {
    late(event.requestId, ctx);
    return;
  }
  const engine = state.engines.get(event.engineId) ?? addEngine(state, event.engineId);
  if (!request.holdsSlot || request.engine === engine) return;
  freeSlot(state, request);
  takeSlot(state, request, engine);
}

export function addEngine(state: AdmissionState, id: string): Engine {
  const engine: Engine = { id, active: true, requests: 0, tokens: 0, running: new Set(), heapIndex: -1 };
  state.engines.set(id, engine);
  reheap(state, engine);
  return engine;
}

export function turnFinished(state: AdmissionState, event: EventOf<'turn.finished'>, ctx: Ctx): void {
  const request = state.requests.get(event.requestId);
  if (request === undefined || request.phase === 'aborting') {
    late(event.requestId, ctx);
    return;
  }
  const more = event.tokens - request.tokens;
  request.tokens = event.tokens;
  request.load += more;
  if (!request.holdsSlot || request.engine === null) return;
  request.engine.tokens += more;
  if (request.engine.active) reheap(state, request.engine);
}

/** A trajectory waits for its environment: its engine slot is free meanwhile. */
export function waiting(state: AdmissionState, requestId: string, ctx: Ctx): void {
  const request = state.requests.get(requestId);
  if (request === undefined || request.phase === 'aborting') late(requestId, ctx);
  else {
    request.phase = 'waiting';
    freeSlot(state, request);
  }
  pump(state, ctx);
}

export function resumed(state: AdmissionState, requestId: string, ctx: Ctx): void {
  const request = state.requests.get(requestId);
  if (request === undefined || request.phase === 'aborting') late(requestId, ctx);
  else {
    request.phase = 'resuming';
    request.order = state.seq++;
    state.resumes.push(request);
  }
  pump(state, ctx);
}
