/** Launching: which response runs next, and where. */
import type { Context } from '../../core/definition.ts';
import { copyKept } from '../../schemas/prompts.ts';
import type { AdmissionDecision } from './decisions.ts';
import type { AdmissionState, Engine, LaunchCause, Request, Slot } from './state.ts';
import { armResponseTimeout } from './timers.ts';

type Ctx = Context<AdmissionDecision>;

/** Puts a response in line: tries again come before first tries, each in order. */
export function enqueue(state: AdmissionState, slot: Slot, cause: LaunchCause): void {
  slot.status = 'pending';
  slot.cause = cause;
  slot.order = state.seq++;
  (cause === 'planned' ? state.launches : state.retries).push(slot);
}

/** Keeps the heap of engines with room in step with an engine's load. */
export function reheap(state: AdmissionState, engine: Engine): void {
  const limit = state.config.maxInFlightPerEngine ?? Number.POSITIVE_INFINITY;
  if (engine.active && engine.requests < limit) state.open.update(engine);
  else state.open.remove(engine);
}

/** Takes a slot for a request, on an engine if there is one. */
export function takeSlot(state: AdmissionState, request: Request, engine: Engine | null): void {
  request.holdsSlot = true;
  request.engine = engine;
  state.slotsTaken += 1;
  if (engine === null) return;
  engine.requests += 1;
  engine.tokens += request.load;
  engine.running.add(request);
  reheap(state, engine);
}

/** Gives a request's slot back; it may already have been given back. */
export function freeSlot(state: AdmissionState, request: Request): void {
  if (!request.holdsSlot) return;
  request.holdsSlot = false;
  state.slotsTaken -= 1;
  const engine = request.engine;
  if (engine === null) return;
  engine.requests -= 1;
  engine.tokens -= request.load;
  engine.running.delete(request);
  if (engine.active) reheap(state, engine);
}

/** Launches what is in line, as far as the limits and the engines allow. */
export function pump(state: AdmissionState, ctx: Ctx): void {
  const { config } = state;
  const limit = config.maxInFlight ?? Number.POSITIVE_INFINITY;
  while (state.slotsTaken < limit) {
    const engine = config.placement === 'policy' ? state.open.peek() : null;
    if (engine === undefined) return;
    const request = nextResume(state);
    if (request !== undefined) {
      resume(state, request, engine, ctx);
      continue;
    }
    const slot = state.round === null ? undefined : (nextPending(state.retries) ?? nextPending(state.launches));
    if (slot === undefined) return;
    launch(state, slot, engine, ctx);
  }
}

function nextResume(state: AdmissionState): Request | undefined {
  for (let next = state.resumes.shift(); next !== undefined; next = state.resumes.shift()) {
    // It may have ended while it waited for an engine.
    if (next.phase === 'resuming' && state.requests.get(next.id) === next) return next;
  }
  return undefined;
}

/** The next response in line; those of prompts that have left are passed over. */
function nextPending(queue: AdmissionState['launches']): Slot | undefined {
  for (let slot = queue.shift(); slot !== undefined; slot = queue.shift()) {
    if (slot.status === 'pending' && slot.prompt.status === 'active') return slot;
  }
  return undefined;
}

function resume(state: AdmissionState, request: Request, engine: Engine | null, ctx: Ctx): void {
  const inFlight = state.slotsTaken;
  takeSlot(state, request, engine);
  request.phase = 'running';
  request.order = state.seq++;
  ctx.emit({
    type: 'request.resume',
    at: ctx.at,
    requestId: request.id,
    promptId: request.promptId,
    ...(engine === null ? {} : { engineId: engine.id }),
    reason: { code: 'environment_resumed', inFlight },
  });
}

function launch(state: AdmissionState, slot: Slot, engine: Engine | null, ctx: Ctx): void {
  const { prompt, resume: from } = slot;
  const round = state.round!;
  const { promptId, ref, promptTokens } = prompt.spec;
  const { failures } = slot;
  const attempt = prompt.attemptBase + failures.infrastructure + failures.data + failures.environment;
  if (attempt >= state.nextAttempt) state.nextAttempt = attempt + 1;
  const id = `${state.prefix}${promptId}/${slot.index}#${attempt}`;
  const tokens = from === null ? 0 : from.tokens;
  const weightVersions = from === null ? round.weightVersions : joined(from.weightVersions, round.weightVersion);
  const request: Request = {
    id,
    promptId,
    prompt,
    index: slot.index,
    round,
    phase: 'running',
    engine: null,
    holdsSlot: false,
    load: (promptTokens ?? 0) + tokens,
    tokens,
    weightVersions,
    launchedAt: ctx.at,
    abortedAt: 0,
    order: state.seq++,
  };
  const inFlight = state.slotsTaken;
  takeSlot(state, request, engine);
  state.requests.set(id, request);
  round.inFlight += 1;
  slot.status = 'live';
  slot.requestId = id;
  const decision: LaunchDecision = {
    type: 'request.launch',
    at: ctx.at,
    requestId: id,
    promptId,
    roundId: round.id,
    index: slot.index,
    weightVersion: round.weightVersion,
    reason: launchReason(state, slot, inFlight),
  };
  if (engine !== null) decision.engineId = engine.id;
  if (ref !== undefined) decision.ref = ref;
  if (from !== null) decision.resumeFrom = copyKept(from);
  ctx.emit(decision);
  armResponseTimeout(state, request, ctx);
}

function joined(versions: readonly number[], weightVersion: number): readonly number[] {
  return versions[versions.length - 1] === weightVersion ? versions : [...versions, weightVersion];
}

type LaunchDecision = Extract<AdmissionDecision, { type: 'request.launch' }>;
type LaunchReason = LaunchDecision['reason'];

function launchReason(state: AdmissionState, slot: Slot, inFlight: number): LaunchReason {
  const { retry } = state.config;
  switch (slot.cause) {
    case 'retry_infrastructure':
      return { code: slot.cause, attempt: slot.failures.infrastructure, budget: retry.infrastructure };
    case 'retry_data':
      return { code: slot.cause, attempt: slot.failures.data, budget: retry.data };
    case 'retry_environment':
      return { code: slot.cause, attempt: slot.failures.environment, budget: retry.environment };
    default:
      return { code: slot.cause, inFlight };
  }
}
