/** Launching: which response runs next, and where. */
import type { Context } from '../../core/definition.ts';
import { copyKept } from '../../schemas/prompts.ts';
import type { AdmissionDecision } from './decisions.ts';
import { engineOf, takeSlot } from './engines.ts';
import type { AdmissionState, Engine, LaunchCause, ResponseState, Round } from './state.ts';
import { armResponseTimeout } from './timers.ts';

type Ctx = Context<AdmissionDecision>;

/** Puts a response in line: tries again come before first tries, each in order. */
export function enqueue(state: AdmissionState, response: ResponseState, cause: LaunchCause): void {
  response.status = 'pending';
  response.tokens = response.resume?.tokens ?? 0;
  response.cause = cause;
  response.order = state.seq++;
  (cause === 'planned' ? state.launches : state.retries).push(response);
}

/** Launches what is in line, as far as the limits and the engines allow. */
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

/** The next in line for an engine; one that has ended meanwhile is passed over. */
function nextResume({ resumes }: AdmissionState): ResponseState | undefined {
  for (let next = resumes.shift(); next !== undefined; next = resumes.shift()) {
    if (next.response.status === 'resuming' && next.response.order === next.order) return next.response;
  }
  return undefined;
}

/** The next response in line; those of prompts that have left are passed over. */
function nextPending(queue: AdmissionState['launches']): ResponseState | undefined {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (next.prompt.status === 'active') return next;
  }
  return undefined;
}

function resume(state: AdmissionState, response: ResponseState, engine: Engine | null, ctx: Ctx): void {
  const inFlight = state.slotsTaken;
  // A host that places requests itself resumes it where it was, unless it reports another start.
  takeSlot(state, response, engine ?? engineOf(state, response));
  response.status = 'running';
  response.order = state.seq++;
  ctx.emit({
    type: 'request.resume',
    at: ctx.at,
    requestId: response.requestId,
    promptId: response.prompt.spec.promptId,
    ...(engine === null ? {} : { engineId: engine.id }),
    reason: { code: 'environment_resumed', inFlight },
  });
}

function launch(state: AdmissionState, response: ResponseState, round: Round, engine: Engine | null, ctx: Ctx): void {
  const { prompt, index, resume: from, failures } = response;
  const { promptId, ref, promptTokens } = prompt.spec;
  const attempt = prompt.attemptBase + failures.infrastructure + failures.data + failures.environment;
  if (attempt >= state.nextAttempt) state.nextAttempt = attempt + 1;
  response.requestId = state.ids.mint(state.prefix, promptId, index, attempt);
  response.status = 'running';
  response.round = round;
  response.tokens = from === null ? 0 : from.tokens;
  response.load = (promptTokens ?? 0) + response.tokens;
  response.weightVersions = from === null ? round.weightVersions : joined(from.weightVersions, round.weightVersion);
  response.since = ctx.at;
  response.order = state.seq++;
  round.inFlight += 1;
  const inFlight = state.slotsTaken;
  takeSlot(state, response, engine);
  const decision: LaunchDecision = {
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
  if (from !== null) decision.resumeFrom = copyKept(from);
  ctx.emit(decision);
  armResponseTimeout(state, response, ctx);
}

function joined(versions: readonly number[], weightVersion: number): readonly number[] {
  return versions[versions.length - 1] === weightVersion ? versions : [...versions, weightVersion];
}

type LaunchDecision = Extract<AdmissionDecision, { type: 'request.launch' }>;
type LaunchReason = LaunchDecision['reason'];

function launchReason(state: AdmissionState, { cause, failures }: ResponseState, inFlight: number): LaunchReason {
  const { retry } = state.config;
  switch (cause) {
    case 'retry_infrastructure':
      return { code: cause, attempt: failures.infrastructure, budget: retry.infrastructure };
    case 'retry_data':
      return { code: cause, attempt: failures.data, budget: retry.data };
    case 'retry_environment':
      return { code: cause, attempt: failures.environment, budget: retry.environment };
    default:
      return { code: cause, inFlight };
  }
}
