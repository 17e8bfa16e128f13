/**
 * What each response has failed, and which tries are made while tries with something in common fail: responses are parked, and
 * single tries are made, prompt by prompt in turn. Where all remaining prompts have failed, a prompt that has its responses is tried
 * once more, to show whether the failing prompts are at fault.
 */
import {
  type Failure,
  type FaultDomain,
  itemsToSuspend,
  mustWait,
  type SingleTry,
  takesTry,
  type Where,
  wholeOf,
} from '../../core/rollout/shared-faults.ts';
import {
  type AdmissionState,
  budgetOf,
  type DomainQuota,
  type Engine,
  type FaultKind,
  faultKinds,
  hasRoom,
  isAborting,
  newResponse,
  noFailures,
  type PromptState,
  pause,
  type ResponseState,
  requeue,
} from './state.ts';

type Failures = ResponseState['failures'];
type MayTry = (one: ResponseState) => boolean;

/** Number of prompts whose failures are remembered; about as many as several rounds defer. */
const mostRecalled = 1024;
/** A prompt that has lost so many engines is suspected. */
export const lossesToSuspect = 3;
/** With more suspects than this, the fault is in the engines and not in the prompts. */
const mostSuspects = 8;
/** Seconds for which a failed prompt's other first tries wait. */
const secondsBehindFailure = 1;

/** Returns the number of a response's failures of one kind: its own failures, and unjudged ones. */
export function failuresOf(
  { faults }: AdmissionState,
  { prompt, index, failures }: ResponseState,
  kind: FaultKind,
): number {
  let all = failures[kind];
  for (const one of faults.openOf(prompt.spec.promptId)) if (one.place === index && one.kind === kind) all += 1;
  return all;
}

/** Whether a response has failed more often than a budget allows, as far as is known. */
export const isBeyond = (state: AdmissionState, response: ResponseState): boolean =>
  faultKinds.some((kind) => failuresOf(state, response, kind) > budgetOf(state, kind));

/** Returns the failures of a response after a failure that was not charged has proven to be its own. */
export function charged(failures: Failures, { kind }: Pick<Failure, 'kind'>): Failures {
  const own = failures[kind as FaultKind] + 1;
  return { ...failures, [kind]: own, uncharged: Math.max(0, failures.uncharged - 1) };
}

/** Returns the failures of a response after a try that no budget is charged with. */
export const uncharged = (failures: Failures): Failures => ({ ...failures, uncharged: failures.uncharged + 1 });

/** Remembers the own failures of a prompt that leaves and may come back: one that fails in every round is given up even so. */
export function rememberFailures(state: AdmissionState, { spec, responses }: PromptState): void {
  const own = responses.flatMap(({ index, failures, status, cause }) => {
    const hasFailed = faultKinds.some((kind) => failures[kind] > 0);
    return hasFailed && status !== 'held' && cause !== 'control' ? [{ index, failures }] : [];
  });
  if (own.length > 0) recall(state, spec.promptId, own);
}

/** Charges a failure to a prompt that is not here, or is not started yet. */
export function chargeRecalled(state: AdmissionState, failure: Failure): void {
  const { item, place: index } = failure;
  const before = state.recalled.get(item)?.responses ?? [];
  const failures = before.find((one) => one.index === index)?.failures ?? noFailures;
  const others = before.filter((one) => one.index !== index);
  recall(state, item, [...others, { index, failures: charged(failures, failure) }]);
}

function recall(
  { recalled, faults }: AdmissionState,
  promptId: string,
  responses: { index: number; failures: Failures }[],
): void {
  recalled.delete(promptId);
  recalled.set(promptId, { promptId, responses });
  if (recalled.size <= mostRecalled) return;
  const oldest = recalled.keys().next().value!;
  recalled.delete(oldest);
  faults.forget(oldest);
}

/** Whether no try has failed lately, and no prompt is suspected. */
export const isUntroubled = ({ faults, suspects }: AdmissionState): boolean => faults.isQuiet && suspects.size === 0;

/** Returns an active engine that is suspended and due for a single try. */
export function dueEngine(state: AdmissionState, at: number): Engine | undefined {
  for (const id of state.faults.dueParts('engine', at)) {
    const engine = state.engines.get(id);
    if (engine !== undefined && hasRoom(state, engine)) return engine;
  }
  return undefined;
}

/**
 * Returns such an engine for a response, unless its prompt has failed elsewhere: then the try would say little about this engine.
 */
export function dueEngineFor(state: AdmissionState, { prompt }: ResponseState, at: number): Engine | undefined {
  const whole = state.faults.find({ scope: 'engine', id: null });
  return whole?.forgiven.has(prompt.spec.promptId) ? undefined : dueEngine(state, at);
}

/** The domains in which a response would run, before it has an engine. */
function placesOf({ prompt, lastFault }: ResponseState): Where[] {
  const { domain } = prompt.spec;
  const places: Where[] = [wholeOf('engine'), wholeOf('environment')];
  if (domain !== undefined) places.push({ scope: 'environment', id: domain });
  // Only responses that have failed to get a reward wait for rewards: others may be generated meanwhile.
  if (lastFault?.scope === 'reward') places.push(wholeOf('reward'));
  return places;
}

/** Returns those of these domains that are suspended. */
const suspendedFor = ({ faults }: AdmissionState, response: ResponseState): FaultDomain[] =>
  faults.suspendedAmong(placesOf(response));

/** Whether a suspected prompt has to wait for the end of another. */
function waitsForSuspect(state: AdmissionState, prompt: PromptState): boolean {
  if (!runsSingly(state, prompt)) return false;
  for (const one of state.suspects) if (state.live.has(one)) return true;
  return false;
}

/** Whether a prompt runs alone, so that the loss of its engine counts as its own fault. */
export const runsSingly = ({ suspects }: AdmissionState, { losses }: PromptState): boolean =>
  losses >= lossesToSuspect && suspects.size <= mostSuspects;

/** Holds a queued response back where tries fail. Returns whether the response was held back. */
export function holdBack(state: AdmissionState, response: ResponseState, at: number): boolean {
  const { prompt, cause, since } = response;
  if (suspendedFor(state, response).length > 0 || waitsForSuspect(state, prompt)) {
    response.status = 'parked';
    response.order = state.seq++;
    putInPark(state, response);
    return true;
  }
  const isFailing = state.faults.find({ scope: 'engine', id: null })?.failing.has(prompt.spec.promptId);
  if (cause !== 'planned' || since > 0 || !isFailing) return false;
  pause(state, response, at + secondsBehindFailure);
  return true;
}

/** Adds a parked response to those of its prompt. */
export function putInPark({ parked }: AdmissionState, response: ResponseState): void {
  const its = parked.get(response.prompt);
  if (its === undefined) parked.set(response.prompt, [response]);
  else its.push(response);
}

/** Returns parked responses to their queues, in order. */
export function unpark(state: AdmissionState): void {
  const all = [...state.parked.values()].flat().sort((a, b) => a.order - b.order);
  state.parked.clear();
  state.mayUnpark = false;
  for (const one of all) requeue(state, one);
}

/** Removes a prompt that needs no more responses from the prompts that wait until tries succeed. */
export function leaveLines({ parked, asides }: AdmissionState, prompt: PromptState): void {
  parked.delete(prompt);
  if (asides.size > 0) for (const one of prompt.responses) asides.delete(one);
}

/** Returns the response for the next single try, if one is due. */
export function nextParked(state: AdmissionState, at: number): ResponseState | undefined {
  const { faults, parked, asides, controlled } = state;
  if (parked.size === 0 && asides.size === 0) return undefined;
  if (![...faults.domains].some((one) => takesTry(one, at)) && state.suspects.size === 0) return undefined;
  const mayTry: MayTry = (one) => {
    const domains = suspendedFor(state, one);
    if (domains.length === 0 && one.status === 'aside') return false;
    return !waitsForSuspect(state, one.prompt) && !domains.some((its) => mustWait(its, one.prompt.spec.promptId, at));
  };
  const hasFailed: MayTry = (one) =>
    suspendedFor(state, one).some(({ failing }) => failing.has(one.prompt.spec.promptId));
  // The prompt that has waited longest among those with responses that may be tried; one that has not failed comes first.
  let oldest: PromptState | undefined;
  for (const [prompt, all] of parked) {
    if (prompt.status !== 'active') parked.delete(prompt);
    else if (mayTry(all[0]!)) {
      if (!hasFailed(all[0]!)) return takeFromPark(state, prompt);
      oldest ??= prompt;
    }
  }
  const next = oldest === undefined ? [...asides].find(mayTry) : parked.get(oldest)![0]!;
  if (next === undefined) return undefined;
  if (!controlled) {
    // All remaining prompts have failed, so every other try is one that can be compared with them.
    const control = newControl(state, next, mayTry);
    if (control !== undefined) return control;
    askForOther(state, next.prompt.quota);
  }
  if (oldest !== undefined) return takeFromPark(state, oldest);
  asides.delete(next);
  state.comparedWith = next;
  return next;
}

/** Takes the first response of a prompt, and puts the prompt behind the other prompts. */
function takeFromPark(state: AdmissionState, prompt: PromptState): ResponseState {
  const [first, ...rest] = state.parked.get(prompt)!;
  state.parked.delete(prompt);
  for (const one of rest) one.order = state.seq++;
  if (rest.length > 0) state.parked.set(prompt, rest);
  return first!;
}

/** Starts one more prompt where all present prompts have failed. Few are started, because all prompts may fail. */
function askForOther(state: AdmissionState, quota: DomainQuota | null): void {
  if (state.round === null || quota === null || quota.awaiting > 0) return;
  const suspension = [...state.faults.domains].find((one) => one.suspension !== null)?.suspension;
  if (suspension == null || suspension.asked >= itemsToSuspend) return;
  // Earlier comparison prompts that wait for the next round have not helped, so another prompt from the same pool may not come.
  let waiting = 0;
  for (const { status } of state.prompts.values()) if (status === 'passed') waiting += 1;
  if (waiting >= itemsToSuspend) return;
  suspension.asked += 1;
  quota.target = Math.max(quota.target, quota.admitted) + 1;
  state.unsettled ??= 'to_compare';
}

/** Returns an extra response for the prompt with the shortest responses, among prompts that have all their responses. */
function newControl(state: AdmissionState, other: ResponseState, mayTry: MayTry): ResponseState | undefined {
  const domains = suspendedFor(state, other);
  // The comparison can choose its engine, but not its pool of environments.
  const pool = other.lastFault?.scope === 'environment' ? other.lastFault.id : null;
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
  // One that is being aborted is still in flight under its id.
  const former = responses.find((one) => one.cause === 'control' && !isAborting(one));
  if (former !== undefined) {
    former.failures = uncharged(former.failures);
    return former;
  }
  const control = newResponse(shortest, 1 + Math.max(...responses.map(({ index }) => index)));
  control.cause = 'control';
  responses.push(control);
  return control;
}

/** Returns the engine on which the compared or retried response has failed, if the engine takes requests. */
export function engineToCompare(state: AdmissionState, response: ResponseState): Engine | undefined {
  const { comparedWith: other, faults, engines } = state;
  if (other === null) return undefined;
  state.comparedWith = null;
  if (other !== response && response.cause !== 'control') return undefined;
  const open = [...faults.openOf(other.prompt.spec.promptId)].sort((a, b) => a.order - b.order);
  for (const { place, id, scope } of open) {
    const engine = place === other.index && scope === 'engine' && id !== null ? engines.get(id) : undefined;
    if (engine !== undefined && hasRoom(state, engine)) return engine;
  }
  return undefined;
}

/** Notes that a response is launched. Returns the reason if the launch is a single try. */
export function beginSingle(state: AdmissionState, response: ResponseState, at: number): SingleTry | undefined {
  const { engine, prompt, requestId, cause } = response;
  const places = placesOf(response);
  if (engine !== null) places.push({ scope: 'engine', id: engine.id });
  const single = state.faults.begin(places, requestId, prompt.spec.promptId, at);
  if (single !== undefined) state.controlled = cause === 'control';
  return single;
}

/** Notes that a trajectory continues on an engine, as a single try if the engine is suspended. */
export function beginOn(state: AdmissionState, { id }: Engine, { requestId, prompt }: ResponseState, at: number): void {
  state.faults.begin([{ scope: 'engine', id }], requestId, prompt.spec.promptId, at);
}

/** Returns the next queued response without taking it; those that were queued anew, or whose prompts need no more, leave. */
export function peekPending(queue: AdmissionState['launches']): ResponseState | undefined {
  for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
    if (next.prompt.status === 'active' && next.status === 'pending') return next;
    queue.shift();
  }
  return undefined;
}

/** Returns the time of the next single try, in seconds, if something waits for it. */
export function nextSingleAt({ faults, parked, asides, retries, launches }: AdmissionState): number | undefined {
  if (faults.isQuiet) return undefined;
  const waits = parked.size + asides.size > 0;
  const isQueued = waits || peekPending(retries) !== undefined || peekPending(launches) !== undefined;
  return faults.nextTryAt(({ scope, id }) => (scope === 'engine' && id !== null ? isQueued : waits));
}
