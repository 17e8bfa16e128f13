/** Launches requests: chooses the next response and its slot, and limits its time. */
import { Deadlines, timerNamed } from '../../core/deadlines.ts';
import { copyKept } from '../../core/prompts.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './schema.ts';
import {
  type AdmissionState,
  byPlace,
  type Engine,
  isLive,
  type LaunchCause,
  type ResponseState,
  type Round,
} from './state.ts';

export function addEngine(state: AdmissionState, id: string): Engine {
  const engine: Engine = {
    id,
    active: true,
    isLost: false,
    stale: 0,
    requests: 0,
    tokens: 0,
    running: new Set(),
    heapIndex: -1,
  };
  state.engines.set(id, engine);
  reheap(state, engine);
  return engine;
}

/** Returns the engine of a request, unless it is lost. */
export function engineOf({ engine }: ResponseState): Engine | null {
  return engine === null || engine.isLost ? null : engine;
}

/** Updates the position of an engine in the heap of engines with room. */
export function reheap(state: AdmissionState, engine: Engine): void {
  const limit = state.config.maxInFlightPerEngine ?? Number.POSITIVE_INFINITY;
  if (engine.active && engine.requests < limit) state.open.update(engine);
  else state.open.remove(engine);
}

/** Takes a slot for a request, on an engine if there is one. */
export function takeSlot(state: AdmissionState, response: ResponseState, engine: Engine | null): void {
  response.holdsSlot = true;
  response.engine = engine;
  state.slotsTaken += 1;
  if (engine === null) return;
  engine.requests += 1;
  engine.tokens += response.load;
  engine.running.add(response);
  reheap(state, engine);
}

/** Gives the slot of a request back, unless that has already been done. */
export function freeSlot(state: AdmissionState, response: ResponseState): void {
  if (!response.holdsSlot) return;
  response.holdsSlot = false;
  state.slotsTaken -= 1;
  const { engine } = response;
  if (engine === null) return;
  engine.requests -= 1;
  engine.tokens -= response.load;
  engine.running.delete(response);
  if (engine.active) reheap(state, engine);
}

/** Queues a response: retries come before first tries, each in order. */
export function enqueue(state: AdmissionState, response: ResponseState, cause: LaunchCause): void {
  response.status = 'pending';
  response.tokens = response.resume?.tokens ?? 0;
  response.cause = cause;
  response.order = state.seq++;
  (cause === 'planned' ? state.launches : state.retries).push(response);
}

/** Queues a response that goes on, before all that are to be launched. */
export function queueResume(state: AdmissionState, response: ResponseState): void {
  response.status = 'resuming';
  response.order = state.seq++;
  state.resumes.push({ response, order: response.order });
}

/** Launches queued responses, as far as the limits and the engines allow. */
export function pump(state: AdmissionState, ctx: Ctx): void {
  const { config } = state;
  const limit = config.maxInFlight ?? Number.POSITIVE_INFINITY;
  while (state.slotsTaken < limit) {
    const engine = config.placement === 'policy' ? state.open.peek() : null;
    if (engine === undefined) return;
    const resumed = nextResume(state);
    if (resumed !== undefined) {
      resume(state, resumed, engine, ctx);
      continue;
    }
    const response = state.round === null ? undefined : (nextPending(state.retries) ?? nextPending(state.launches));
    if (response === undefined) return;
    launch(state, response, state.round!, engine, ctx);
  }
}

/** Returns the next queued response that waits to resume; those that have ended meanwhile are skipped. */
function nextResume({ resumes }: AdmissionState): ResponseState | undefined {
  for (let next = resumes.shift(); next !== undefined; next = resumes.shift()) {
    if (next.response.status === 'resuming' && next.response.order === next.order) return next.response;
  }
  return undefined;
}

/** Returns the next queued response; those of prompts that need no more, and those that were queued anew, are skipped. */
function nextPending(queue: AdmissionState['launches']): ResponseState | undefined {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (next.prompt.status === 'active' && next.status === 'pending') return next;
  }
  return undefined;
}

function resume(state: AdmissionState, response: ResponseState, engine: Engine | null, ctx: Ctx): void {
  const inFlight = state.slotsTaken;
  // A host that places requests itself resumes the response on its former engine, unless it reports another one.
  takeSlot(state, response, engine ?? engineOf(response));
  response.status = 'running';
  response.resumedAt = ctx.at;
  response.order = state.seq++;
  const { promptId, ref } = response.prompt.spec;
  // The host has forgotten which prompt it was.
  const isAgain = state.config.onRestart === 'continue' && response.cause === 'host_restarted';
  ctx.emit({
    type: 'request.resume',
    at: ctx.at,
    requestId: response.requestId,
    promptId,
    ...(engine === null ? {} : { engineId: engine.id }),
    ...(isAgain && ref !== undefined ? { ref } : {}),
    reason: isAgain
      ? { code: 'host_restarted', inFlight, tokens: response.tokens }
      : { code: 'tool_finished', inFlight },
  });
}

function launch(state: AdmissionState, response: ResponseState, round: Round, engine: Engine | null, ctx: Ctx): void {
  const { prompt, index, resume: from, failures } = response;
  const { promptId, ref, promptTokens } = prompt.spec;
  const attempt =
    prompt.attemptBase + failures.infrastructure + failures.data + failures.environment + failures.uncharged;
  if (attempt >= state.nextAttempt) state.nextAttempt = attempt + 1;
  response.requestId = state.ids.mint(state.prefix, promptId, index, attempt);
  response.status = 'running';
  response.round = round;
  response.tokens = from === null ? 0 : from.tokens;
  response.load = (promptTokens ?? 0) + response.tokens;
  response.weightVersions = from === null ? round.weightVersions : joined(from.weightVersions, round.weightVersion);
  response.since = ctx.at;
  response.resumedAt = undefined;
  response.order = state.seq++;
  round.inFlight += 1;
  const inFlight = state.slotsTaken;
  takeSlot(state, response, engine);
  const decision: Message<'request.launch'> = {
    type: 'request.launch',
    at: ctx.at,
    requestId: response.requestId,
    promptId,
    roundId: round.id,
    index,
    weightVersion: round.weightVersion,
    reason: launchReason(state, response, inFlight),
  };
  if (engine !== null) decision.engineId = engine.id;
  if (ref !== undefined) decision.ref = ref;
  if (promptTokens !== undefined) decision.promptTokens = promptTokens;
  if (from !== null) decision.resumeFrom = copyKept(from);
  ctx.emit(decision);
  limitTime(state, response, ctx);
}

/** Adds a version to those of a response, if it is not the last of them. */
export function joined(versions: readonly number[], weightVersion: number): readonly number[] {
  return versions[versions.length - 1] === weightVersion ? versions : [...versions, weightVersion];
}

function launchReason(
  state: AdmissionState,
  { cause, failures, tokens }: ResponseState,
  inFlight: number,
): Message<'request.launch'>['reason'] {
  const { retry } = state.config;
  switch (cause) {
    case 'retry_infrastructure':
      return { code: cause, attempt: failures.infrastructure, budget: retry.infrastructure };
    case 'retry_data':
      return { code: cause, attempt: failures.data, budget: retry.data };
    case 'retry_environment':
      return { code: cause, attempt: failures.environment, budget: retry.environment };
    case 'retry_stale_weights':
      return { code: cause, attempt: failures.uncharged };
    case 'retry_ended_early':
      return { code: cause, attempt: failures.uncharged, tokens };
    default:
      return { code: cause, inFlight };
  }
}

/** Remembers a launch, if responses have a time limit. */
export function limitTime(state: AdmissionState, response: ResponseState, ctx: Ctx): void {
  if (state.config.responseTimeoutSeconds === undefined) return;
  state.deadlines.push({ response, requestId: response.requestId });
  timeouts.arm(state, ctx);
}

/** Returns the response that was launched first and still runs, if responses have a time limit; those that have ended leave the queue. */
function longestRunning({ deadlines }: AdmissionState): ResponseState | undefined {
  for (let next = deadlines.peek(); next !== undefined; next = deadlines.peek()) {
    const { response, requestId } = next;
    if (response.requestId === requestId && isLive(response)) return response;
    deadlines.shift();
  }
  return undefined;
}

/** The ends of the times that responses may take. */
export const timeouts = new Deadlines<AdmissionState>({
  timerId: 'speculative-admission/response-timeout',
  ...timerNamed('responseTimeout'),
  first: (state) => {
    const next = longestRunning(state);
    return next && next.since + state.config.responseTimeoutSeconds!;
  },
  reason: ({ config }) => ({ code: 'response_timeout', limitSeconds: config.responseTimeoutSeconds! }),
});

/** Returns the responses that have run too long, oldest first, then by prompt. */
export function takeTimedOut(state: AdmissionState, at: number): ResponseState[] {
  const late: ResponseState[] = [];
  while (timeouts.isOver(state, at)) late.push(state.deadlines.shift()!.response);
  return late.sort((a, b) => a.since - b.since || byPlace(a, b));
}
