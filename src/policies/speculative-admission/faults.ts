/**
 * Handles failed and successful tries: charges failures to responses or forgets them, pauses and suspends tries, and gives up
 * responses, and prompts that cannot get enough.
 */
import { given } from '../../core/collections/given.ts';
import { Deadlines, timerNamed } from '../../core/rollout/deadlines.ts';
import {
  type FaultDomain,
  isFailing,
  itemsToSuspend,
  longestPauseSeconds,
  mayFail,
  type Verdict,
  type Where,
} from '../../core/rollout/shared-faults.ts';
import { suspend, suspendWhole, type TriesOf } from '../../core/rollout/tries.ts';
import type { DroppedResponse } from '../../schemas/prompts.ts';
import { reheap } from './launch.ts';
import { abortAll, findRequest, heldResponse, rememberLaunched } from './requests.ts';
import type { Ctx } from './schema.ts';
import {
  type AdmissionState,
  budgetOf,
  currentRoundId,
  doubtOf,
  type Engine,
  engineOf,
  enqueue,
  type FaultKind,
  faultKinds,
  heldOf,
  isLive,
  isSpent,
  leaveQuota,
  type PromptState,
  pause,
  type ResponseState,
  requeue,
  responseAt,
} from './state.ts';
import {
  charged,
  chargeRecalled,
  failuresOf,
  isBeyond,
  leaveLines,
  lossesToSuspect,
  nextSingleAt,
  rememberFailures,
  runsSingly,
  uncharged,
} from './tries.ts';

/** The longest pause after weights that were too old, in seconds. */
export const longestStalePauseSeconds = 64;
/** The scope in which rewards are computed. */
export const rewards = { scope: 'reward', id: null } as const;

/** Why a response is given up: proven failures of a kind, or failures that could not be compared with others. */
type GivenUp =
  | { readonly kind: FaultKind; readonly failures: number }
  | { readonly failures: number; readonly seconds: number; readonly limitSeconds: number };

/**
 * Returns the engine if tries on it can be compared: with a single engine there is no comparison, and on a drained engine nothing
 * is tried.
 */
const engineWhere = ({ engines }: AdmissionState, engine: Engine | null): Where => ({
  scope: 'engine',
  id: engine?.active && engines.size > 1 ? engine.id : null,
});

/**
 * Tries a response again within its budget. Beyond the budget, the prompt continues with its other responses if these may
 * suffice.
 */
export function fault(state: AdmissionState, response: ResponseState, kind: FaultKind, ctx: Ctx): void {
  let where = engineWhere(state, engineOf(response));
  if (kind === 'data') where = { scope: 'prompt', id: null };
  else if (kind === 'environment') where = { scope: 'environment', id: response.prompt.spec.domain ?? null };
  faultIn(state, response, kind, where, ctx);
}

/**
 * Handles a failure in a domain. The failure counts in the budget of its kind until other tries show that it was not the
 * response's own.
 */
export function faultIn(state: AdmissionState, response: ResponseState, kind: FaultKind, where: Where, ctx: Ctx): void {
  const { faults } = state;
  const { prompt, index: place, requestId, cause } = response;
  response.lastFault = { ...where, at: ctx.at };
  const failure = { ...where, item: prompt.spec.promptId, place, kind, order: state.seq++, isGood: prompt.held > 0 };
  if (kind === 'data' || cause === 'control') {
    faults.failedAlone(failure, requestId, ctx.at);
    if (cause === 'control') response.status = 'abandoned';
    else charge(state, response, kind, ctx);
    return;
  }
  faults.failed(failure, requestId, ctx.at);
  faults.keepLatest(failure, budgetOf(state, kind) + 1);
  response.failures = uncharged(response.failures);
  response.cause = `retry_${kind}`;
  if (isBeyond(state, response)) setAside(state, response, ctx.at);
  else pauseFailed(state, response, where.scope, ctx.at);
}

/** Charges a response with a failure that is its own in any case, and tries the response again at once, within its budget. */
function charge(state: AdmissionState, response: ResponseState, kind: FaultKind, ctx: Ctx): void {
  const failures = response.failures[kind] + 1;
  response.failures = { ...response.failures, [kind]: failures };
  if (kind !== 'data') response.lastFault = { scope: 'engine', id: null, at: ctx.at };
  if (failures <= budgetOf(state, kind)) enqueue(state, response, `retry_${kind}`);
  else giveUp(state, response, { kind, failures }, ctx);
}

/** Puts off the next try of a response. The first retry is not put off if nothing else fails. */
function pauseFailed(state: AdmissionState, response: ResponseState, scope: Where['scope'], at: number): void {
  // A forgotten failure costs no pause.
  const failures = faultKinds.reduce((sum, kind) => sum + failuresOf(state, response, kind), 0);
  const seconds = state.faults.pauseBefore(scope, failures);
  response.tokens = response.resume?.tokens ?? 0;
  if (seconds === 0) requeue(state, response);
  else pause(state, response, at + seconds);
}

/** Sets a response aside until its failures are judged. */
export function setAside(state: AdmissionState, response: ResponseState, at: number): void {
  response.status = 'aside';
  response.tokens = response.resume?.tokens ?? 0;
  response.asideAt ??= at;
  response.order = state.seq++;
  state.asides.add(response);
  // It may have been set aside long ago, and tried since.
  state.dueAt = null;
  if (state.round !== null && isSpent(state, state.round)) state.unsettled ??= 'failed';
}

/** Gives up a response whose proven failures exceed its budget. */
export function giveUpProven(state: AdmissionState, response: ResponseState, ctx: Ctx): void {
  // A running response is judged by its end.
  if (isLive(response)) return;
  const kind = faultKinds.find((one) => response.failures[one] > budgetOf(state, one));
  if (kind !== undefined) giveUp(state, response, { kind, failures: response.failures[kind] }, ctx);
}

/** Gives a response up; its prompt fails if the other responses do not suffice. */
function giveUp(state: AdmissionState, response: ResponseState, why: GivenUp, ctx: Ctx): void {
  const { prompt, requestId } = response;
  // Another response may have removed the prompt.
  if (prompt.status !== 'active') return;
  state.asides.delete(response);
  Object.assign(response, { status: 'abandoned', asideAt: null, tokens: 0, resume: null });
  const possible = prompt.responses.filter(({ status, cause }) => status !== 'abandoned' && cause !== 'control');
  const isOver = possible.length < state.config.responsesPerPrompt;
  const reason =
    'kind' in why
      ? { code: why.kind, failures: why.failures, budget: budgetOf(state, why.kind) }
      : ({ code: 'not_compared', ...why } as const);
  const isReward = reason.code === 'environment' && response.lastFault?.scope === 'reward';
  // The response may have arrived with proven failures, without a launch since.
  if (requestId !== '' && !(isOver && (reason.code === 'data' || isReward))) {
    ctx.emit({ type: 'response.abandoned', at: ctx.at, requestId, promptId: prompt.spec.promptId, reason });
  }
  if (!isOver) return;
  const { promptId, ref } = prompt.spec;
  const dropped = dropHeld(prompt, 'failed');
  const roundId = currentRoundId(state);
  abortAll(state, prompt, { code: 'prompt_failed', held: prompt.held }, ctx);
  const ofPrompt = isReward ? { ...reason, code: 'reward' as const } : { ...reason };
  ctx.emit({ type: 'prompt.failed', at: ctx.at, promptId, roundId, ...given({ ref }), dropped, reason: ofPrompt });
  replace(state, prompt, 'failed');
}

/** Returns the held responses of a prompt as dropped for a cause. */
export const dropHeld = (prompt: PromptState, cause: DroppedResponse['cause']): DroppedResponse[] =>
  heldOf(prompt).map(({ requestId, tokens }) => ({ requestId, tokens, cause }));

/** Takes a prompt out of the round for good; another takes its place. */
export function replace(state: AdmissionState, prompt: PromptState, code: 'filtered' | 'failed'): void {
  const { quota } = prompt;
  const doubt = doubtOf(prompt);
  remove(state, prompt);
  if (quota === null || state.round === null) return;
  quota.admitted -= 1;
  quota.target -= doubt;
  state.unsettled = code;
}

/** Takes a prompt out of the round. */
export function remove(state: AdmissionState, prompt: PromptState, mayReturn = false): void {
  state.prompts.delete(prompt.spec.promptId);
  rememberLaunched(state, prompt);
  forgetHeld(state, prompt);
  leaveLines(state, prompt);
  if (mayReturn) rememberFailures(state, prompt);
  else if (!state.faults.isQuiet) state.faults.forget(prompt.spec.promptId);
  state.suspects.delete(prompt);
  if (prompt.quota !== null) leaveQuota(prompt, prompt.quota);
  prompt.quota = null;
  prompt.status = 'gone';
}

/** Removes the held responses of a leaving prompt from the index. */
export function forgetHeld({ requests }: AdmissionState, prompt: PromptState): void {
  for (const { requestId } of heldOf(prompt)) requests.delete(requestId);
}

/** Notes that a try has succeeded, and charges or forgets failures that happened before its launch. */
export function succeeded(state: AdmissionState, response: ResponseState, ctx: Ctx): void {
  const { prompt, launched } = response;
  // Only the id is known of a prompt that has left, or of a response that was replaced.
  if (prompt.status === 'gone' || responseAt(prompt, response.index) !== response) return;
  if (prompt.losses > 0) {
    prompt.losses = 0;
    if (state.suspects.delete(prompt)) state.mayUnpark = true;
  }
  if (state.faults.isQuiet) return;
  const { promptId, domain = null } = prompt.spec;
  settleSuccess(state, engineWhere(state, engineOf(response)), promptId, launched, ctx);
  settleSuccess(state, { scope: 'environment', id: domain }, promptId, launched, ctx);
  settleSuccess(state, { scope: 'prompt', id: null }, promptId, launched, ctx);
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
  for (let next = firstPaused(state); next !== undefined; next = firstPaused(state)) {
    state.pauses.pop();
    if (next.cause === 'retry_stale_weights') stale.push(next);
    else requeue(state, next);
  }
  for (const one of stale) state.pauses.push(one);
}

/** Charges a failure to its response, or forgets it. */
function judge(state: AdmissionState, { failure, isOwn }: Verdict, ctx: Ctx): void {
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

/** Forgets what has failed on an engine that takes no more requests: nothing can be compared there. */
export function forgetEngine(state: AdmissionState, id: string, ctx: Ctx): void {
  for (const one of state.faults.removeDomain({ scope: 'engine', id }, ctx)) judge(state, one, ctx);
}

/**
 * Notes that prompts have lost an engine. The loss costs a prompt nothing, unless the prompt ran alone because it had lost three
 * engines.
 */
export function engineLostUnder(state: AdmissionState, responses: readonly ResponseState[], ctx: Ctx): void {
  const prompts = new Set(responses.map(({ prompt }) => prompt));
  const single = new Set([...prompts].filter((prompt) => runsSingly(state, prompt)));
  for (const prompt of prompts) {
    prompt.losses += 1;
    if (prompt.losses >= lossesToSuspect) state.suspects.add(prompt);
  }
  for (const response of responses) {
    if (response.prompt.status !== 'active') continue;
    if (response.cause === 'control') response.status = 'abandoned';
    else if (single.has(response.prompt)) charge(state, response, 'infrastructure', ctx);
    else {
      response.failures = uncharged(response.failures);
      enqueue(state, response, 'retry_engine_lost');
    }
  }
}

/** Follows every event: drops single tries that have ended without a result, and stops asking for prompts that all fail. */
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

/**
 * Follows the launches of an event: checks whether tries fail, now that as many as possible are in flight. Returns whether others
 * may be launched.
 */
export function suspendWhereTriesFail(state: AdmissionState, ctx: Ctx): boolean {
  if (state.faults.isQuiet) return false;
  const isAny = suspendFailing(state, ['engine', 'environment', 'reward'], ctx);
  // From now on prompts are tried in turn, and other prompts are requested for comparison.
  const areAll = suspendWhole(state.faults, tries, state, ctx);
  return compareAsides(state, ctx) || isAny || areAll;
}

/** Suspends the domains of some scopes in which different prompts fail in a row. Returns whether any were suspended. */
function suspendFailing(state: AdmissionState, scopes: readonly Where['scope'][], ctx: Ctx): boolean {
  let isAny = false;
  for (const domain of [...state.faults.domains]) {
    if (!mayFail(domain) || !scopes.includes(domain.scope)) continue;
    // Prompts that have failed elsewhere say little about this part.
    if (domain.id !== null && state.faults.countNew(domain) < 2) continue;
    if (!isFailing(domain, inFlightIn(state, domain), (one) => hasOther(state, one))) continue;
    suspend(state.faults, tries, state, domain, ctx);
    isAny = true;
  }
  return isAny;
}

/** What is being tried. */
const tries: TriesOf<AdmissionState, Ctx> = {
  order: ({ seq }) => seq,
  inFlight: inFlightIn,
  hasOther,
  *parts({ engines }) {
    for (const { id, active } of engines.values()) if (active) yield { scope: 'engine', id };
  },
  suspended(state, { scope, id }) {
    const engine = scope === 'engine' && id !== null ? state.engines.get(id) : undefined;
    if (engine !== undefined) reheap(state, engine);
  },
  judge,
};

/** Suspends the domain in which a response has failed that was set aside, once nothing else is left to show whose fault it was. */
function compareAsides(state: AdmissionState, ctx: Ctx): boolean {
  const { faults, asides, live, parked, round } = state;
  const [first] = asides;
  if (first === undefined || live.size > 0 || parked.size > 0 || round === null) return false;
  const domain = faults.domain({ scope: first.lastFault!.scope, id: null });
  if (domain.suspension !== null) return false;
  if (domain.failing.size === 0) domain.failing.set(first.prompt.spec.promptId, null);
  suspend(faults, tries, state, domain, ctx);
  return true;
}

/** The number of requests in flight in a domain, as far as is known. */
function inFlightIn({ engines, slotsTaken }: AdmissionState, { scope, id }: FaultDomain): number {
  if (scope === 'prompt' || scope === 'reward') return Number.POSITIVE_INFINITY;
  return scope === 'engine' && id !== null ? (engines.get(id)?.requests ?? 0) : slotsTaken;
}

/** Whether a prompt is in flight in a domain in which it has not failed. */
function hasOther({ engines, prompts, live }: AdmissionState, { scope, id, failing }: FaultDomain): boolean {
  if (failing.size >= itemsToSuspend) return false;
  if (scope === 'prompt') return true;
  if (scope === 'engine' && id !== null) {
    for (const one of engines.get(id)?.running ?? [])
      if (isLive(one) && !failing.has(one.prompt.spec.promptId)) return true;
    return false;
  }
  if (scope === 'reward') {
    for (const { spec, held, rewards: known } of prompts.values())
      if (held > known && !failing.has(spec.promptId)) return true;
    return false;
  }
  for (const { spec } of live.keys()) {
    if (!failing.has(spec.promptId) && (id === null || spec.domain === id)) return true;
  }
  return false;
}

/** Ends what is due at this time: pauses, and waits of responses that were set aside for as long as the configuration allows. */
export function endPauses(state: AdmissionState, ctx: Ctx): void {
  for (let next = firstPaused(state); next !== undefined && next.since <= ctx.at; next = firstPaused(state)) {
    requeue(state, state.pauses.pop()!);
  }
  const limitSeconds = state.config.retry.giveUpSeconds;
  if (limitSeconds === undefined) return;
  for (const one of [...state.asides]) {
    if (ctx.at < one.asideAt! + limitSeconds || one.status !== 'aside') continue;
    const open = [...state.faults.openOf(one.prompt.spec.promptId)];
    const failures = open.filter(({ place }) => place === one.index).length;
    giveUp(state, one, { failures, seconds: ctx.at - one.asideAt!, limitSeconds }, ctx);
  }
}

/** Returns the response whose pause ends first; responses that are not needed any more leave the heap. */
function firstPaused({ pauses: heap }: AdmissionState): ResponseState | undefined {
  for (let next = heap.peek(); next !== undefined; next = heap.peek()) {
    if (next.status === 'paused' && next.prompt.status === 'active') return next;
    heap.pop();
  }
  return undefined;
}

/** Returns the earliest of three times: a response's pause ends, a single try is due, a response is given up. */
function pauseEnd(state: AdmissionState): number | undefined {
  const { asides, config } = state;
  const { giveUpSeconds } = config.retry;
  const all = [firstPaused(state)?.since, nextSingleAt(state)].filter((one) => one !== undefined);
  if (giveUpSeconds !== undefined) for (const one of asides) all.push(one.asideAt! + giveUpSeconds);
  return all.length === 0 ? undefined : all.reduce((a, b) => Math.min(a, b));
}

/** Deadlines at which pauses end. */
export const pauses = new Deadlines<AdmissionState>({
  timerId: 'speculative-admission/pause',
  ...timerNamed('pause'),
  first: pauseEnd,
  reason: (state) => {
    const paused = firstPaused(state);
    return paused?.cause === 'retry_stale_weights' && pauseEnd(state) === paused.since
      ? { code: 'stale_weights', longestPauseSeconds: longestStalePauseSeconds }
      : { code: 'retry_pause', longestPauseSeconds };
  },
});
