/** Launches requests: chooses the next response and its slot, and limits its time. */
import { Deadlines, timerNamed } from '../../core/rollout/deadlines.ts';
import { copyKept } from '../../core/rollout/prompts.ts';
import { namedDomain } from '../../core/rollout/shared-faults.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './schema.ts';
import {
  type AdmissionState,
  budgetOf,
  byPromptAndIndex,
  type Engine,
  engineOf,
  type FaultKind,
  hasRoom,
  isLive,
  type Limit,
  type ResponseState,
  type Round,
  triesOf,
} from './state.ts';
import {
  beginOn,
  beginSingle,
  dueEngine,
  dueEngineFor,
  engineToCompare,
  failuresOf,
  holdBack,
  isUntroubled,
  nextParked,
  peekPending,
} from './tries.ts';

type LaunchReason = Message<'request.launch'>['reason'];

/** Updates the position of an engine in the heap of engines with room that are not suspended. */
export function reheap(state: AdmissionState, engine: Engine): void {
  const { faults, open } = state;
  if (hasRoom(state, engine) && !faults.isSuspended({ scope: 'engine', id: engine.id })) open.update(engine);
  else open.remove(engine);
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

/** Queues a response that continues, before all responses to launch. */
export function queueResume(state: AdmissionState, response: ResponseState): void {
  response.status = 'resuming';
  response.order = state.seq++;
  state.resumes.push({ response, order: response.order });
}

/** Launches queued responses, as far as the limits, the engines and the faults that tries share allow. */
export function pump(state: AdmissionState, ctx: Ctx): void {
  const { placement, maxInFlight = Number.POSITIVE_INFINITY } = state.config;
  while (state.slotsTaken < maxInFlight) {
    const engine = placement === 'policy' ? (state.open.peek() ?? dueEngine(state, ctx.at)) : null;
    if (engine === undefined) return;
    const resumed = nextResume(state);
    if (resumed !== undefined) {
      resume(state, resumed, engine, ctx);
      continue;
    }
    const response = state.round === null ? undefined : nextTry(state, ctx.at);
    if (response === undefined) return;
    const where = engine && (engineToCompare(state, response) ?? dueEngineFor(state, response, ctx.at) ?? engine);
    launch(state, response, state.round!, where, ctx);
  }
}

/** Returns the next response to launch. */
function nextTry(state: AdmissionState, at: number): ResponseState | undefined {
  const isAsUsual = isUntroubled(state);
  for (let next = takePending(state); next !== undefined; next = takePending(state)) {
    if (isAsUsual || !holdBack(state, next, at)) return next;
  }
  return isAsUsual ? undefined : nextParked(state, at);
}

/** Takes the next queued response: retries come first. */
function takePending({ retries, launches }: AdmissionState): ResponseState | undefined {
  const retry = peekPending(retries);
  if (retry === undefined && peekPending(launches) === undefined) return undefined;
  return (retry === undefined ? launches : retries).shift();
}

/** Returns the next queued response that waits to resume; those that have ended meanwhile are skipped. */
function nextResume({ resumes }: AdmissionState): ResponseState | undefined {
  for (let next = resumes.shift(); next !== undefined; next = resumes.shift()) {
    if (next.response.status === 'resuming' && next.response.order === next.order) return next.response;
  }
  return undefined;
}

function resume(state: AdmissionState, response: ResponseState, engine: Engine | null, ctx: Ctx): void {
  const { at } = ctx;
  const inFlight = state.slotsTaken;
  // A host that places requests itself resumes the response on its former engine, unless the host reports another engine.
  takeSlot(state, response, engine ?? engineOf(response));
  response.status = 'running';
  response.resumedAt = at;
  response.order = state.seq++;
  if (engine !== null && !isUntroubled(state)) beginOn(state, engine, response, at);
  const { requestId, tokens, cause, prompt } = response;
  const { promptId, ref } = prompt.spec;
  // The host has forgotten which prompt the request belongs to.
  const isAgain = state.config.onRestart === 'continue' && cause === 'host_restarted';
  ctx.emit({
    type: 'request.resume',
    at,
    requestId,
    promptId,
    ...(engine === null ? undefined : { engineId: engine.id }),
    ...(isAgain && ref !== undefined ? { ref } : undefined),
    reason: isAgain ? { code: 'host_restarted', inFlight, tokens } : { code: 'tool_finished', inFlight },
  });
}

function launch(state: AdmissionState, response: ResponseState, round: Round, engine: Engine | null, ctx: Ctx): void {
  const { at } = ctx;
  const { prompt, index, resume: from, failures } = response;
  const { promptId, ref, promptTokens } = prompt.spec;
  const { id: roundId, weightVersion } = round;
  const attempt = prompt.attemptBase + triesOf(failures);
  if (attempt >= state.nextAttempt) state.nextAttempt = attempt + 1;
  const requestId = state.ids.mint(state.prefix, promptId, index, attempt);
  response.requestId = requestId;
  response.status = 'running';
  response.round = round;
  response.tokens = from === null ? 0 : from.tokens;
  response.load = (promptTokens ?? 0) + response.tokens;
  response.weightVersions = from === null ? round.weightVersions : joined(from.weightVersions, weightVersion);
  response.since = at;
  response.heardAt = at;
  response.resumedAt = undefined;
  response.order = state.seq++;
  response.launched = response.order;
  round.inFlight += 1;
  const inFlight = state.slotsTaken;
  takeSlot(state, response, engine);
  state.requests.set(requestId, response);
  state.live.set(prompt, (state.live.get(prompt) ?? 0) + 1);
  const probe = isUntroubled(state) ? undefined : beginSingle(state, response, at);
  const reason = probe ?? launchReason(state, response, inFlight, at);
  const type = 'request.launch';
  const decision: Message<typeof type> = { type, at, requestId, promptId, roundId, index, weightVersion, reason };
  if (engine !== null) decision.engineId = engine.id;
  if (ref !== undefined) decision.ref = ref;
  if (promptTokens !== undefined) decision.promptTokens = promptTokens;
  if (from !== null) decision.resumeFrom = copyKept(from);
  ctx.emit(decision);
  limitTime(state, response, ctx);
}

/** Adds a version to the versions of a response, unless it is the last of them already. */
export const joined = (versions: readonly number[], weightVersion: number): readonly number[] =>
  versions[versions.length - 1] === weightVersion ? versions : [...versions, weightVersion];

function launchReason(state: AdmissionState, response: ResponseState, inFlight: number, at: number): LaunchReason {
  const { prompt, cause, failures, tokens, lastFault } = response;
  switch (cause) {
    case 'retry_infrastructure':
    case 'retry_environment':
    case 'retry_timeout': {
      const kind = cause.slice('retry_'.length) as FaultKind;
      const paused = { pauseSeconds: at - lastFault!.at, ...namedDomain(lastFault!) };
      return { code: cause, attempt: failuresOf(state, response, kind), budget: budgetOf(state, kind), ...paused };
    }
    case 'retry_data':
      return { code: cause, attempt: failures.data, budget: budgetOf(state, 'data') };
    case 'retry_engine_lost':
      return { code: cause, attempt: failures.uncharged, losses: prompt.losses };
    case 'retry_stale_weights':
      return { code: cause, attempt: failures.uncharged };
    case 'retry_ended_early':
      return { code: cause, attempt: failures.uncharged, tokens };
    default:
      // Where a comparison is no single try, the domain has recovered since the response was chosen.
      return { code: cause === 'control' ? 'planned' : cause, inFlight };
  }
}

/** Limits the time of a response, if responses have a limit: twice as long after each time that this was too short. */
export function limitTime(state: AdmissionState, response: ResponseState, ctx: Ctx): void {
  const { config, pace } = state;
  if (config.responseTimeoutSeconds === undefined) return;
  const predicted = pace.tokens === 0 ? 0 : (response.prompt.spec.expectedTokens ?? 0) * (pace.seconds / pace.tokens);
  const doublings = Math.min(failuresOf(state, response, 'timeout'), 20);
  response.limitSeconds = Math.max(config.responseTimeoutSeconds, 2 * predicted) * 2 ** doublings;
  state.deadlines.push(limitOf(response));
  state.dueAt = null;
  timeouts.arm(state, ctx);
}

/** Returns when a response has run for too long. */
export function limitOf(response: ResponseState): Limit {
  const { requestId, launched: order, heardAt, limitSeconds } = response;
  return { response, requestId, order, due: heardAt + limitSeconds };
}

/** Returns the limit that ends first, if responses have limits; limits of ended responses leave the heap. */
function firstLimit({ deadlines }: AdmissionState): Limit | undefined {
  for (let next = deadlines.peek(); next !== undefined; next = deadlines.peek()) {
    const { response, requestId, due } = next;
    const isOver = response.requestId !== requestId || !isLive(response);
    const now = limitOf(response);
    if (!isOver && now.due <= due) return next;
    deadlines.pop();
    if (!isOver) deadlines.push(now);
  }
  return undefined;
}

/** The ends of the times that responses may take. */
export const timeouts = new Deadlines<AdmissionState>({
  timerId: 'speculative-admission/response-timeout',
  ...timerNamed('responseTimeout'),
  first: (state) => firstLimit(state)?.due,
  reason: (state) => ({ code: 'response_timeout', limitSeconds: firstLimit(state)!.response.limitSeconds }),
});

/** Returns the responses that have run too long, oldest first, then by prompt. */
export function takeTimedOut(state: AdmissionState, at: number): ResponseState[] {
  const late: ResponseState[] = [];
  while (timeouts.isOver(state, at)) late.push(state.deadlines.pop()!.response);
  return late.sort((a, b) => a.since - b.since || byPromptAndIndex(a, b));
}
