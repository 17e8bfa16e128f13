/** Handles failed and successful tries: charges failures to responses or forgets them, and suspends domains. */
import {
  type FaultDomain,
  isFailing,
  itemsToSuspend,
  pauseAfter,
  type Verdict,
  type Where,
} from '../../core/rollout/shared-faults.ts';
import { engineOf, enqueue, reheap } from './launch.ts';
import { failPrompt, type GivenUp, isSpent } from './leave.ts';
import { charged, chargeRecalled, failuresOf } from './recall.ts';
import { findRequest, heldResponse } from './requests.ts';
import type { Ctx } from './schema.ts';
import { lossesToSuspect, requeue, runsSingly } from './singles.ts';
import {
  type AdmissionState,
  budgetOf,
  type Engine,
  type FaultKind,
  isLive,
  type PromptState,
  type ResponseState,
  responseAt,
} from './state.ts';

const faultKinds = ['infrastructure', 'environment', 'timeout', 'data'] as const satisfies readonly FaultKind[];

/** Returns the place where a try of a response may have failed. */
function whereOf(state: AdmissionState, response: ResponseState, kind: FaultKind): Where {
  if (kind === 'data') return { scope: 'prompt', id: null };
  if (kind === 'environment') return { scope: 'environment', id: response.prompt.spec.domain ?? null };
  const engine = engineOf(response);
  return { scope: 'engine', id: comparedEngineId(state, engine) };
}

/**
 * Returns the engine if tries on it can be compared: with a single engine there is no comparison, and on a drained engine nothing
 * is tried.
 */
const comparedEngineId = ({ engines }: AdmissionState, engine: Engine | null): string | null =>
  engine?.active && engines.size > 1 ? engine.id : null;

/**
 * Tries a response again within its budget. Beyond the budget, the prompt continues with its other responses if these may
 * suffice.
 */
export function fault(state: AdmissionState, response: ResponseState, kind: FaultKind, ctx: Ctx): void {
  faultIn(state, response, kind, whereOf(state, response, kind), ctx);
}

/**
 * Handles a failure in a domain. The failure counts in the budget of its kind until other tries show that it was not the
 * response's own.
 */
export function faultIn(state: AdmissionState, response: ResponseState, kind: FaultKind, where: Where, ctx: Ctx): void {
  const { prompt, index, requestId, failures, cause } = response;
  const { faults } = state;
  // The request has continued under this id after a restart.
  if (state.elsewhere.size > 0) state.elsewhere.delete(requestId);
  response.lastFault = { ...where, at: ctx.at };
  const failure = {
    ...where,
    item: prompt.spec.promptId,
    place: index,
    kind,
    order: state.seq++,
    isGood: prompt.held > 0,
  };
  const isControl = cause === 'control';
  if (kind === 'data' || isControl) {
    faults.failedAlone(failure, requestId, ctx.at);
    if (isControl) response.status = 'abandoned';
    else charge(state, response, kind, ctx);
    return;
  }
  faults.failed(failure, requestId, ctx.at);
  faults.keepLatest(failure, budgetOf(state, kind) + 1);
  response.failures = { ...failures, uncharged: failures.uncharged + 1 };
  response.cause = `retry_${kind}`;
  if (isBeyond(state, response)) setAside(state, response, ctx.at);
  else pause(state, response, faults.find({ scope: where.scope, id: null }), ctx.at);
}

/** Charges a response with a failure that is its own in any case, and tries the response again at once, within its budget. */
export function charge(state: AdmissionState, response: ResponseState, kind: FaultKind, ctx: Ctx): void {
  const failures = response.failures[kind] + 1;
  response.failures = { ...response.failures, [kind]: failures };
  if (kind !== 'data') response.lastFault = { scope: 'engine', id: null, at: ctx.at };
  if (failures <= budgetOf(state, kind)) enqueue(state, response, `retry_${kind}`);
  else giveUp(state, response, { kind, failures }, ctx);
}

/** Whether a response has failed more often than a budget allows, as far as is known. */
export function isBeyond(state: AdmissionState, response: ResponseState): boolean {
  return faultKinds.some((kind) => failuresOf(state, response, kind) > budgetOf(state, kind));
}

/** Puts off the next try of a response. The first retry is not put off if nothing else fails. */
function pause(state: AdmissionState, response: ResponseState, whole: FaultDomain | undefined, at: number): void {
  const least = (whole?.failing.size ?? 0) > 1 ? 1 : 0;
  // A forgotten failure costs no pause.
  let failures = 0;
  for (const kind of faultKinds) failures += failuresOf(state, response, kind);
  const seconds = Math.max(least, pauseAfter(failures));
  response.tokens = response.resume?.tokens ?? 0;
  if (seconds === 0) {
    requeue(state, response);
    return;
  }
  response.status = 'paused';
  response.since = at + seconds;
  response.order = state.seq++;
  state.pauses.push(response);
}

/** Sets a response aside until its failures are judged. */
export function setAside(state: AdmissionState, response: ResponseState, at: number): void {
  response.status = 'aside';
  response.tokens = response.resume?.tokens ?? 0;
  response.asideAt ??= at;
  response.order = state.seq++;
  state.asides.add(response);
  if (state.round !== null && isSpent(state, state.round)) state.unsettled ??= 'failed';
}

/** Gives a response up; its prompt fails if the other responses do not suffice. */
export function giveUp(state: AdmissionState, response: ResponseState, why: GivenUp, ctx: Ctx): void {
  const { prompt, requestId } = response;
  // Another response may have removed the prompt.
  if (prompt.status !== 'active') return;
  state.asides.delete(response);
  response.status = 'abandoned';
  response.asideAt = null;
  response.tokens = 0;
  response.resume = null;
  const possible = prompt.responses.filter(({ status, cause }) => status !== 'abandoned' && cause !== 'control').length;
  const isOver = possible < state.config.responsesPerPrompt;
  const isReward = 'kind' in why && why.kind === 'environment' && response.lastFault?.scope === 'reward';
  if (isOver && 'kind' in why && (why.kind === 'data' || isReward)) {
    failPrompt(state, prompt, isReward ? { ...why, kind: 'reward' } : why, ctx);
    return;
  }
  const reason =
    'kind' in why
      ? { code: why.kind as FaultKind, failures: why.failures, budget: budgetOf(state, why.kind as FaultKind) }
      : ({ code: 'not_compared', ...why } as const);
  // The response may have arrived with proven failures, without a launch since.
  if (requestId !== '') {
    ctx.emit({ type: 'response.abandoned', at: ctx.at, requestId, promptId: prompt.spec.promptId, reason });
  }
  if (isOver) failPrompt(state, prompt, why, ctx);
}

/** Notes that a try has succeeded, and charges or forgets failures that happened before its launch. */
export function succeeded(state: AdmissionState, response: ResponseState, ctx: Ctx): void {
  const { faults } = state;
  const { prompt } = response;
  // Only the id is known of a prompt that has left, or of a response that was replaced.
  if (prompt.status === 'gone' || responseAt(prompt, response.index) !== response) return;
  if (prompt.losses > 0) {
    prompt.losses = 0;
    if (state.suspects.delete(prompt)) state.mayUnpark = true;
  }
  if (faults.isQuiet) return;
  const { promptId, domain } = prompt.spec;
  const engine = engineOf(response);
  const domains: Where[] = [
    { scope: 'engine', id: comparedEngineId(state, engine) },
    { scope: 'environment', id: domain ?? null },
    { scope: 'prompt', id: null },
  ];
  for (const where of domains) settleSuccess(state, where, promptId, response.launched, ctx);
}

/** Notes a success in one domain. */
export function settleSuccess(state: AdmissionState, where: Where, item: string, order: number, ctx: Ctx): void {
  const { verdicts, hasRecovered } = state.faults.succeeded(where, item, order, ctx);
  if (hasRecovered) resumeTries(state, where);
  for (const one of verdicts) judge(state, one, ctx);
}

/** Continues tries where they were suspended: no response waits for the end of its pause any more. */
function resumeTries(state: AdmissionState, { scope }: Where): void {
  state.mayUnpark = true;
  if (scope === 'engine') for (const engine of state.engines.values()) reheap(state, engine);
  if (scope === 'prompt') state.unsettled ??= 'failed';
  const stale: ResponseState[] = [];
  for (let next = state.pauses.pop(); next !== undefined; next = state.pauses.pop()) {
    if (next.status !== 'paused' || next.prompt.status !== 'active') continue;
    if (next.cause === 'retry_stale_weights') stale.push(next);
    else requeue(state, next);
  }
  for (const one of stale) state.pauses.push(one);
}

/** Charges a failure to its response, or forgets it. */
export function judge(state: AdmissionState, { failure, isOwn }: Verdict, ctx: Ctx): void {
  const prompt = state.prompts.get(failure.item);
  const response = prompt && responseAt(prompt, failure.place);
  if (prompt === undefined || response === undefined) {
    if (isOwn) chargeRecalled(state, failure);
    return;
  }
  if (response.status === 'held' || response.status === 'abandoned') return;
  if (isOwn) {
    response.failures = charged(response.failures, failure);
    if (prompt.status === 'active') giveUpProven(state, response, ctx);
    return;
  }
  if (prompt.status !== 'active' || response.status !== 'aside' || isBeyond(state, response)) return;
  state.asides.delete(response);
  response.asideAt = null;
  requeue(state, response);
}

/** Forgets the response failures of a prompt that has all responses it needs; its rewards may still fail. */
export function forgiveCollected({ faults }: AdmissionState, prompt: PromptState): void {
  if (!faults.isQuiet) faults.forget(prompt.spec.promptId, 'reward');
}

/** Gives up a response whose proven failures exceed its budget. */
export function giveUpProven(state: AdmissionState, response: ResponseState, ctx: Ctx): void {
  // A running response is judged by its end.
  if (isLive(response)) return;
  for (const kind of faultKinds) {
    const failures = response.failures[kind];
    if (failures <= budgetOf(state, kind)) continue;
    giveUp(state, response, { kind, failures }, ctx);
    return;
  }
}

/** Forgets what has failed on an engine that takes no more requests: nothing can be compared there. */
export function forgetEngine(state: AdmissionState, id: string, ctx: Ctx): void {
  for (const one of state.faults.removeDomain({ scope: 'engine', id }, ctx)) judge(state, one, ctx);
}

/**
 * Notes that a prompt has lost an engine. The loss costs the prompt nothing, unless the prompt ran alone because it had lost
 * three engines.
 */
export function engineLostUnder(state: AdmissionState, responses: readonly ResponseState[], ctx: Ctx): void {
  const single = new Set(responses.flatMap(({ prompt }) => (runsSingly(state, prompt) ? [prompt] : [])));
  for (const prompt of new Set(responses.map((one) => one.prompt))) {
    prompt.losses += 1;
    if (prompt.losses >= lossesToSuspect) state.suspects.add(prompt);
  }
  for (const response of responses) {
    const { prompt, failures } = response;
    if (prompt.status !== 'active') continue;
    if (response.cause === 'control') response.status = 'abandoned';
    else if (single.has(prompt)) charge(state, response, 'infrastructure', ctx);
    else {
      response.failures = { ...failures, uncharged: failures.uncharged + 1 };
      enqueue(state, response, 'retry_engine_lost');
    }
  }
}

/** Follows every event: suspends domains in which different prompts fail in a row, and continues what may continue. */
export function settleFaults(state: AdmissionState, ctx: Ctx): void {
  const { faults } = state;
  if (faults.isQuiet) return;
  faults.dropTries(ctx.at, ({ scope }, id) => {
    // The reward is awaited longer than the response.
    if (scope === 'reward' && heldResponse(state, id)?.reward === null) return false;
    const response = findRequest(state, id);
    return response === undefined || !isLive(response);
  });
  suspendFailing(state, ['prompt'], ctx);
}

/** Suspends the domains of some scopes in which different prompts fail in a row. Returns whether any were suspended. */
function suspendFailing(state: AdmissionState, scopes: readonly Where['scope'][], ctx: Ctx): boolean {
  let isAny = false;
  for (const domain of [...state.faults.domains]) {
    if (!scopes.includes(domain.scope)) continue;
    // Prompts that have failed elsewhere say little about this part.
    if (domain.id !== null && state.faults.countNew(domain) < 2) continue;
    if (!isFailing(domain, inFlightIn(state, domain), (one) => hasOther(state, one))) continue;
    suspend(state, domain, ctx);
    isAny = true;
  }
  return isAny;
}

/**
 * Follows the launches of an event: checks whether tries fail, now that as many as possible are in flight. Returns whether others
 * may be launched.
 */
export function suspendWhereTriesFail(state: AdmissionState, ctx: Ctx): boolean {
  if (state.faults.isQuiet) return false;
  const isAny = suspendFailing(state, ['engine', 'environment', 'reward'], ctx);
  // From now on prompts are tried in turn, and other prompts are requested for comparison.
  const areAll = state.faults.suspendWhole(activeEngines(state), (whole) => suspend(state, whole, ctx));
  return compareAsides(state, ctx) || isAny || areAll;
}

function* activeEngines({ engines }: AdmissionState): Generator<Where> {
  for (const { id, active } of engines.values()) if (active) yield { scope: 'engine', id };
}

function suspend(state: AdmissionState, domain: FaultDomain, ctx: Ctx): void {
  const verdicts = state.faults.suspend(domain, state.seq, inFlightIn(state, domain), ctx);
  const engine = domain.scope === 'engine' && domain.id !== null ? state.engines.get(domain.id) : undefined;
  if (engine !== undefined) reheap(state, engine);
  for (const one of verdicts) {
    state.faults.forgave(one.failure);
    judge(state, one, ctx);
  }
}

/** Suspends the domain in which a response has failed that was set aside, once nothing else is left to show whose fault it was. */
function compareAsides(state: AdmissionState, ctx: Ctx): boolean {
  const { faults, asides, live, parked, round } = state;
  if (asides.size === 0 || live.size > 0 || parked.size > 0 || round === null) return false;
  for (const { lastFault, prompt } of asides) {
    const domain = faults.domain({ scope: lastFault!.scope, id: null });
    if (domain.suspension !== null) return false;
    if (domain.failing.size === 0) domain.failing.set(prompt.spec.promptId, null);
    suspend(state, domain, ctx);
    return true;
  }
  return false;
}

/** The number of requests in flight in a domain, as far as is known. */
function inFlightIn(state: AdmissionState, { scope, id }: FaultDomain): number {
  if (scope === 'prompt' || scope === 'reward') return Number.POSITIVE_INFINITY;
  return scope === 'engine' && id !== null ? (state.engines.get(id)?.requests ?? 0) : state.slotsTaken;
}

/** Whether a prompt is in flight in a domain in which it has not failed. */
function hasOther(state: AdmissionState, { scope, id, failing }: FaultDomain): boolean {
  if (failing.size >= itemsToSuspend) return false;
  if (scope === 'prompt') return true;
  if (scope === 'engine' && id !== null) {
    for (const one of state.engines.get(id)?.running ?? []) {
      if (isLive(one) && !failing.has(one.prompt.spec.promptId)) return true;
    }
    return false;
  }
  if (scope === 'reward') {
    for (const { spec, held, rewards } of state.prompts.values())
      if (held > rewards && !failing.has(spec.promptId)) return true;
    return false;
  }
  for (const { spec } of state.live.keys()) {
    if (!failing.has(spec.promptId) && (id === null || spec.domain === id)) return true;
  }
  return false;
}

/** Gives up responses that were set aside for as long as the configuration allows. */
export function endAsides(state: AdmissionState, ctx: Ctx): void {
  const limitSeconds = state.config.retry.giveUpSeconds;
  if (limitSeconds === undefined) return;
  for (const one of [...state.asides]) {
    const seconds = ctx.at - one.asideAt!;
    if (ctx.at < one.asideAt! + limitSeconds || one.status !== 'aside') continue;
    const failures = [...state.faults.openOf(one.prompt.spec.promptId)].filter(
      ({ place }) => place === one.index,
    ).length;
    giveUp(state, one, { failures, seconds, limitSeconds }, ctx);
  }
}

/** Returns the time at which the first response that was set aside is given up, in seconds, if there is one. */
export function nextGivenUpAt({ asides, config }: AdmissionState): number | undefined {
  const { giveUpSeconds } = config.retry;
  if (giveUpSeconds === undefined || asides.size === 0) return undefined;
  let first = Number.POSITIVE_INFINITY;
  for (const { asideAt } of asides) first = Math.min(first, asideAt!);
  return first + giveUpSeconds;
}
