/**
 * Decides launches while tries with something in common fail: responses are parked, and single tries are made, prompt by prompt
 * in turn. Where all remaining prompts have failed, a prompt that has its responses is tried once more, to show whether the
 * failing prompts are at fault.
 */
import {
  beginTry,
  type FaultDomain,
  itemsToSuspend,
  mustWait,
  namedDomain,
  takesTry,
  type Where,
} from '../../core/rollout/shared-faults.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './schema.ts';
import {
  type AdmissionState,
  type DomainQuota,
  type Engine,
  newResponse,
  type PromptState,
  type ResponseState,
} from './state.ts';

/** A prompt that has lost so many engines is suspected. */
export const lossesToSuspect = 3;
/** With more suspects than this, the fault is in the engines and not in the prompts. */
const mostSuspects = 8;
/** Seconds for which a failed prompt's other first tries wait. */
const secondsBehindFailure = 1;

/** Whether no try has failed lately, and no prompt is suspected. */
export function isUntroubled({ faults, suspects }: AdmissionState): boolean {
  return faults.isQuiet && suspects.size === 0;
}

/** Whether an engine is suspended. */
export function isSick({ faults }: AdmissionState, id: string): boolean {
  return !faults.isQuiet && faults.find({ scope: 'engine', id })?.suspension != null;
}

/** Returns an active engine that is suspended and due for a single try. */
export function dueEngine({ faults, engines, config }: AdmissionState, at: number): Engine | undefined {
  if (faults.isQuiet) return undefined;
  const limit = config.maxInFlightPerEngine ?? Number.POSITIVE_INFINITY;
  for (const { scope, id, suspension, tries } of faults.domains) {
    if (scope !== 'engine' || id === null || suspension === null || suspension.retryAt > at || tries.size > 0) continue;
    const engine = engines.get(id);
    if (engine?.active && engine.requests < limit) return engine;
  }
  return undefined;
}

/**
 * Returns such an engine for a response, unless its prompt has failed elsewhere: then the try would say little about this engine.
 */
export function dueEngineFor(state: AdmissionState, { prompt }: ResponseState, at: number): Engine | undefined {
  if (state.faults.isQuiet) return undefined;
  const whole = state.faults.find({ scope: 'engine', id: null });
  return whole?.forgiven.has(prompt.spec.promptId) ? undefined : dueEngine(state, at);
}

/** The places where a try of a prompt may fail before the try has an engine. */
const domainsOf = ({ spec }: PromptState): readonly Where[] => [
  { scope: 'engine', id: null },
  { scope: 'environment', id: null },
  ...(spec.domain === undefined ? [] : [{ scope: 'environment', id: spec.domain } as const]),
];

/** Returns the suspended domains in which a response would run. */
function suspendedFor({ faults }: AdmissionState, { prompt, lastFault }: ResponseState): FaultDomain[] {
  const domains: Where[] = [...domainsOf(prompt)];
  // Only responses that have failed to get a reward wait for rewards: others may be generated meanwhile.
  if (lastFault?.scope === 'reward') domains.push({ scope: 'reward', id: null });
  return domains.flatMap((where) => {
    const domain = faults.find(where);
    return domain?.suspension != null ? [domain] : [];
  });
}

const isSuspect = ({ losses }: PromptState): boolean => losses >= lossesToSuspect;

/** Whether a suspected prompt has to wait for the end of another. */
function waitsForSuspect({ suspects, live }: AdmissionState, prompt: PromptState): boolean {
  if (!isSuspect(prompt) || suspects.size > mostSuspects) return false;
  for (const one of suspects) if (live.has(one)) return true;
  return false;
}

/** Whether a prompt runs alone, so that the loss of its engine counts as its own fault. */
export function runsSingly({ suspects }: AdmissionState, prompt: PromptState): boolean {
  return isSuspect(prompt) && suspects.size <= mostSuspects;
}

/** Holds a queued response back where tries fail. Returns whether the response was held back. */
export function holdBack(state: AdmissionState, response: ResponseState, at: number): boolean {
  const { prompt, cause, since } = response;
  if (suspendedFor(state, response).length > 0 || waitsForSuspect(state, prompt)) {
    park(state, response);
    return true;
  }
  const isFailing = state.faults.find({ scope: 'engine', id: null })?.failing.has(prompt.spec.promptId);
  if (cause !== 'planned' || since > 0 || !isFailing) return false;
  response.status = 'paused';
  response.since = at + secondsBehindFailure;
  response.order = state.seq++;
  state.pauses.push(response);
  return true;
}

/** Parks a response until tries succeed again. */
function park(state: AdmissionState, response: ResponseState): void {
  response.status = 'parked';
  response.order = state.seq++;
  putInPark(state, response);
}

/** Adds a parked response to those of its prompt. */
export function putInPark({ parked }: AdmissionState, response: ResponseState): void {
  const its = parked.get(response.prompt);
  if (its === undefined) parked.set(response.prompt, [response]);
  else its.push(response);
}

/** Returns the response for the next single try, if one is due. */
export function nextParked(state: AdmissionState, ctx: Ctx): ResponseState | undefined {
  const { at } = ctx;
  const { faults, parked, asides } = state;
  if (parked.size === 0 && asides.size === 0) return undefined;
  if (![...faults.domains].some((one) => takesTry(one, at)) && state.suspects.size === 0) return undefined;
  const mayTry = (one: ResponseState): boolean => {
    const domains = suspendedFor(state, one);
    if (domains.length === 0 && one.status === 'aside') return false;
    return !waitsForSuspect(state, one.prompt) && !domains.some((its) => mustWait(its, one.prompt.spec.promptId, at));
  };
  const hasFailed = (one: ResponseState): boolean =>
    suspendedFor(state, one).some(({ failing }) => failing.has(one.prompt.spec.promptId));
  const [oldest, untried] = firstOfParked(state, mayTry, (one) => !hasFailed(one));
  if (untried !== undefined) return takeFromPark(state, untried);
  const aside = oldest === undefined ? [...asides].find(mayTry) : undefined;
  if (oldest === undefined && aside === undefined) return undefined;
  // All remaining prompts have failed, so every other try is one that can be compared with them.
  const control = state.controlled
    ? undefined
    : newControl(state, oldest === undefined ? aside! : parked.get(oldest)![0]!, mayTry);
  if (control !== undefined) return control;
  if (!state.controlled) askForOther(state, (oldest ?? aside!.prompt).quota);
  if (oldest !== undefined) return takeFromPark(state, oldest);
  asides.delete(aside!);
  state.comparedWith = aside!;
  return aside;
}

/** Returns the engine on which the compared or retried response has failed, if the engine takes requests. */
export function engineToCompare(state: AdmissionState, response: ResponseState): Engine | undefined {
  const { comparedWith: other, faults, engines, config } = state;
  if (other === null) return undefined;
  state.comparedWith = null;
  if (other !== response && response.cause !== 'control') return undefined;
  const open = [...faults.openOf(other.prompt.spec.promptId)].sort((a, b) => a.order - b.order);
  for (const { place, id, scope } of open) {
    const engine = place === other.index && scope === 'engine' && id !== null ? engines.get(id) : undefined;
    if (engine?.active && engine.requests < (config.maxInFlightPerEngine ?? Number.POSITIVE_INFINITY)) return engine;
  }
  return undefined;
}

/** Starts one more prompt where all present prompts have failed. Few are started, because all prompts may fail. */
function askForOther(state: AdmissionState, quota: DomainQuota | null): void {
  const { faults, round } = state;
  if (round === null || quota === null || quota.awaiting > 0) return;
  const suspension = [...faults.domains].find((one) => one.suspension !== null)?.suspension;
  if (suspension == null || suspension.asked >= itemsToSuspend) return;
  // Earlier comparison prompts that wait for the next round have not helped, so another prompt from the same pool may not come.
  let waiting = 0;
  for (const { status } of state.prompts.values()) if (status === 'passed') waiting += 1;
  if (waiting >= itemsToSuspend) return;
  suspension.asked += 1;
  quota.target = Math.max(quota.target, quota.admitted) + 1;
  state.unsettled ??= 'to_compare';
}

/** Returns the prompt that has waited longest among prompts with responses that may be tried, and the first such response. */
function firstOfParked(
  { parked }: AdmissionState,
  mayTry: (one: ResponseState) => boolean,
  fits: (one: ResponseState) => boolean,
): [oldest: PromptState | undefined, fitting: PromptState | undefined] {
  let oldest: PromptState | undefined;
  for (const [prompt, all] of parked) {
    if (prompt.status !== 'active') parked.delete(prompt);
    else if (mayTry(all[0]!)) {
      if (fits(all[0]!)) return [oldest, prompt];
      oldest ??= prompt;
    }
  }
  return [oldest, undefined];
}

/** Takes the first response of a prompt, and puts the prompt behind the other prompts. */
function takeFromPark(state: AdmissionState, prompt: PromptState): ResponseState {
  const [first, ...rest] = state.parked.get(prompt)!;
  state.parked.delete(prompt);
  for (const one of rest) one.order = state.seq++;
  if (rest.length > 0) state.parked.set(prompt, rest);
  return first!;
}

/** Returns an extra response for the prompt with the shortest responses, among prompts that have all their responses. */
function newControl(
  state: AdmissionState,
  other: ResponseState,
  mayTry: (one: ResponseState) => boolean,
): ResponseState | undefined {
  const domains = suspendedFor(state, other);
  // The comparison can choose its engine, but not its pool of environments.
  const { lastFault } = other;
  const pool = lastFault?.scope === 'environment' ? lastFault.id : null;
  let shortest: PromptState | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const prompt of state.prompts.values()) {
    if (prompt.status !== 'counted' && prompt.status !== 'passed' && prompt.status !== 'collected') continue;
    if (pool !== null && prompt.spec.domain !== pool) continue;
    const probe = newResponse(prompt, 0);
    const its = suspendedFor(state, probe);
    if (state.live.has(prompt) || !domains.every((one) => its.includes(one)) || !mayTry(probe)) continue;
    const tokens = prompt.responses.reduce((sum, one) => sum + one.tokens, 0);
    if (tokens >= least) continue;
    shortest = prompt;
    least = tokens;
  }
  if (shortest === undefined) return undefined;
  state.comparedWith = other;
  const { responses } = shortest;
  const former = responses.find(({ cause }) => cause === 'control');
  if (former !== undefined) {
    former.failures = { ...former.failures, uncharged: former.failures.uncharged + 1 };
    return former;
  }
  const control = newResponse(shortest, 1 + Math.max(...responses.map(({ index }) => index)));
  control.cause = 'control';
  responses.push(control);
  return control;
}

/** Notes that a response is launched. Returns the reason if the launch is a single try. */
export function beginSingle(
  state: AdmissionState,
  response: ResponseState,
  at: number,
): Message<'request.launch'>['reason'] | undefined {
  const { requestId, prompt, engine, cause } = response;
  const domains = suspendedFor(state, response);
  const ofEngine = engine === null ? undefined : state.faults.find({ scope: 'engine', id: engine.id });
  if (ofEngine?.suspension != null) domains.push(ofEngine);
  const [first] = domains;
  if (first === undefined) return undefined;
  state.controlled = cause === 'control';
  const { failures } = first;
  const [pauseSeconds] = domains.map((one) => beginTry(one, requestId, prompt.spec.promptId, at));
  return { code: 'probe', ...namedDomain(first), failures, pauseSeconds: pauseSeconds! };
}

/** Notes that a trajectory continues on an engine, as a single try if the engine is suspended. */
export function beginOn(state: AdmissionState, { id }: Engine, { requestId, prompt }: ResponseState, at: number): void {
  const ofEngine = state.faults.find({ scope: 'engine', id });
  if (ofEngine?.suspension != null) beginTry(ofEngine, requestId, prompt.spec.promptId, at);
}

/** Returns parked responses to their queues, in order. */
export function unpark(state: AdmissionState): void {
  const all = [...state.parked.values()].flat().sort((a, b) => a.order - b.order);
  state.parked.clear();
  state.mayUnpark = false;
  for (const one of all) requeue(state, one);
}

/** Queues a response again, with the cause for which it was queued before. */
export function requeue(state: AdmissionState, response: ResponseState): void {
  response.status = 'pending';
  response.order = state.seq++;
  (response.cause === 'planned' ? state.launches : state.retries).push(response);
}

/** Returns the next queued response without taking it. */
export function peekPending(queue: AdmissionState['launches']): ResponseState | undefined {
  for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
    if (next.prompt.status === 'active' && next.status === 'pending') return next;
    queue.shift();
  }
  return undefined;
}

/** Returns the time of the next single try, in seconds, if something waits for it. */
export function nextSingleAt(state: AdmissionState): number | undefined {
  const { faults, parked, asides, retries, launches } = state;
  if (faults.isQuiet) return undefined;
  const waits = parked.size + asides.size > 0;
  const isQueued = waits || peekPending(retries) !== undefined || peekPending(launches) !== undefined;
  let next: number | undefined;
  for (const { suspension, id, scope, tries } of faults.domains) {
    if (suspension === null || suspension.retryAt === 0 || tries.size > 0) continue;
    if (scope === 'engine' && id !== null ? !isQueued : !waits) continue;
    next = Math.min(next ?? suspension.retryAt, suspension.retryAt);
  }
  return next;
}
