/**
 * Handles rounds. A round opens with the prompts that were carried over and the given prompts; the rest is requested. At the end
 * of every event, the consequences for the round are settled. A round ends complete or failed, and its unfinished prompts leave:
 * they are deferred, returned or carried, always with a decision.
 */
import { given } from '../../core/collections/given.ts';
import {
  copyFinal,
  copyKept,
  copyPrompt,
  isExpiring,
  oldestVersionOf,
  scaledCount,
} from '../../core/rollout/prompts.ts';
import { olderVersion } from '../../core/rollout/restart-versions.ts';
import { wholeOf } from '../../core/rollout/shared-faults.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { DroppedResponse, FinalPrompt, KeptResponse, Prompt } from '../../schemas/prompts.ts';
import { dropHeld, forgetHeld, remove } from './faults.ts';
import { joined } from './launch.ts';
import { applyFilter, count, countReady, nameOwed, startPrompt } from './prompts.ts';
import {
  type AbortReason,
  abort,
  abortAll,
  abortControl,
  checkRound,
  endRequest,
  reportDrained,
  wasStarted,
} from './requests.ts';
import { type Ctx, usualFactor } from './schema.ts';
import { currentFactor, grid, measure, roundsPerFactor } from './speculation.ts';
import {
  type AdmissionState,
  type DeferReason,
  type DomainQuota,
  doubtOf,
  heldOf,
  isLive,
  isQueued,
  isSpent,
  join,
  makeQuota,
  makeRound,
  newPrompt,
  type PromptState,
  quotaOf,
  type ResponseState,
  type Round,
  type Unsettled,
} from './state.ts';

type CompletedReason = Message<'round.completed'>['reason'];

/** Whether all domains of the source are exhausted. */
function isSourceExhausted({ config, exhausted }: AdmissionState): boolean {
  const domains = Object.keys(config.quotas ?? {});
  return exhausted.all || (domains.length > 0 && domains.every((one) => exhausted.domains.has(one)));
}

export function checkDomain({ config }: AdmissionState, domain: string | undefined, path: string): void {
  const { quotas } = config;
  if (domain === undefined || quotas === undefined || Object.hasOwn(quotas, domain)) return;
  refuse('invalid_event', path, `a domain with a quota: ${Object.keys(quotas).sort().join(', ')}`, domain);
}

function checkDomains(state: AdmissionState, prompts: readonly Prompt[]): void {
  if (state.config.quotas === undefined) return;
  for (const [index, { domain = '' }] of prompts.entries()) checkDomain(state, domain, `prompts[${index}].domain`);
}

export function checkOpening(state: AdmissionState, event: Message<'round.opened'>): void {
  const { round, draining, config, settling } = state;
  const { roundId, weightVersion, prompts } = event;
  if (round !== null) refuse('out_of_order', 'roundId', `round ${round.id} to be completed first`, roundId);
  if (draining.length > 0 && !config.allowOverlap) {
    refuse('out_of_order', 'roundId', `round ${draining[0]!.id} to be drained first (or allowOverlap)`, roundId);
  }
  if (state.recentRounds.has(roundId)) refuse('duplicate_id', 'roundId', 'a new round id', roundId);
  if (weightVersion < state.weightVersion) {
    refuse('out_of_order', 'weightVersion', olderVersion(state.weightVersion), weightVersion);
  }
  const [waiting] = settling;
  if (waiting !== undefined && prompts.length === 0 && state.prompts.size === 0 && isSourceExhausted(state)) {
    // The round must have prompts to open with.
    const first = `the aborts of prompt ${waiting.spec.promptId} to be confirmed first: it is the last there is`;
    refuse('out_of_order', 'roundId', first, roundId);
  }
  checkDomains(state, prompts);
}

export function openRound(state: AdmissionState, event: Message<'round.opened'>, ctx: Ctx): void {
  const round = newRound(state, event, ctx);
  state.round = round;
  state.rounds += 1;
  state.weightVersion = event.weightVersion;
  state.recentRounds.add(event.roundId);
  if (!state.faults.isQuiet) {
    state.faults.endSuspensions('prompt', ctx);
    // Prompts that were requested for comparison left with their round.
    for (const { suspension } of state.faults.domains) if (suspension !== null) suspension.asked = 0;
  }
  const carried = [...state.prompts.values()];
  for (const prompt of carried) readmit(state, prompt, round, ctx);
  for (const prompt of carried) applyFilter(state, prompt, ctx);
  nameOwed(state, 'round_opened', ctx);
  // First those that would be too old in the next round.
  const isLast = (one: Prompt): boolean =>
    isExpiring(oldestVersionOf(one), round.weightVersion, state.config.maxStaleness);
  for (const prompt of event.prompts) if (isLast(prompt)) addPrompt(state, prompt, round, ctx);
  for (const prompt of event.prompts) if (!isLast(prompt)) addPrompt(state, prompt, round, ctx);
  state.unsettled = 'round_opened';
}

function newRound(state: AdmissionState, event: Message<'round.opened'>, ctx: Ctx): Round {
  const { config, exploration } = state;
  const { roundId: id, kind, weightVersion } = event;
  const isShort = kind === 'short';
  const isAuto = config.speculation === 'auto';
  const factor = isShort && isAuto ? currentFactor(exploration) : 0;
  const forPrompts = isShort ? factor || (config.promptSpeculation ?? usualFactor) : 1;
  const forResponses = isShort ? factor || (config.responseSpeculation ?? usualFactor) : 1;
  if (isShort && isAuto && exploration.chosen === 0) {
    const round = exploration.rounds.reduce((sum, one) => sum + one, 0);
    const reason = { code: 'exploring', round, rounds: grid.length * roundsPerFactor } as const;
    const chosen = { promptSpeculation: forPrompts, responseSpeculation: forResponses };
    ctx.emit({ type: 'speculation.chosen', at: ctx.at, ...chosen, reason });
  }
  return makeRound({
    ...{ id, kind, weightVersion, weightVersions: [weightVersion], openedAt: ctx.at, askedAt: ctx.at, factor },
    responses: scaledCount(forResponses, config.responsesPerPrompt),
    quotas: newQuotas(state, isShort, forPrompts),
  });
}

/**
 * Makes one quota per domain, if there are quotas. A long round takes any mix of domains, so that the mix in the queue cannot
 * block it.
 */
function newQuotas(state: AdmissionState, isShort: boolean, factor: number): DomainQuota[] {
  const { quotas, promptsPerRound } = state.config;
  const isAll = isSourceExhausted(state);
  const quota = (domain: string | null, prompts: number, exhausted: boolean): DomainQuota =>
    makeQuota({ domain, prompts, target: scaledCount(factor, prompts), exhausted });
  if (!isShort || quotas === undefined) return [quota(null, promptsPerRound, isAll)];
  const domains = Object.keys(quotas).sort();
  return domains.map((one) => quota(one, quotas[one]!, isAll || state.exhausted.domains.has(one)));
}

/** Readmits a prompt that continued to run between the rounds, unless its weights are now too old. */
function readmit(state: AdmissionState, prompt: PromptState, round: Round, ctx: Ctx): void {
  if (isTooOld(state, prompt, round, ctx)) return;
  const quota = quotaOf(round, prompt.spec.domain)!;
  join(state, prompt, quota, round);
  quota.admitted += 1;
  quota.target += doubtOf(prompt);
  for (const response of prompt.responses) {
    if (!isLive(response)) continue;
    response.round = round;
    round.inFlight += 1;
    response.weightVersions = joined(response.weightVersions, round.weightVersion);
  }
}

/** Defers a prompt that was started with weights that are too old for the round. Returns whether it was. */
function isTooOld(state: AdmissionState, prompt: PromptState, { id, weightVersion }: Round, ctx: Ctx): boolean {
  const { maxStaleness } = state.config;
  const { startVersion } = prompt;
  if (weightVersion - startVersion <= maxStaleness) return false;
  defer(state, prompt, id, { code: 'stale_weights', startVersion, weightVersion, maxStaleness }, ctx);
  return true;
}

/**
 * Takes the weight version of a restarted host, which may be ahead of the last version or behind it. The open round continues
 * with this version; only what is too old for it leaves.
 */
export function restartAt(state: AdmissionState, weightVersion: number, ctx: Ctx): void {
  state.weightVersion = weightVersion;
  const { round } = state;
  if (round === null || round.weightVersion === weightVersion) return;
  round.weightVersion = weightVersion;
  round.weightVersions = [weightVersion];
  for (const prompt of [...state.prompts.values()]) {
    // Counted prompts may be trained already.
    if (prompt.status === 'counted') continue;
    // A prompt without any tokens begins with these weights.
    if (prompt.responses.every((one) => isQueued(one) && one.resume === null)) prompt.startVersion = weightVersion;
    const quota = prompt.quota!;
    const doubt = doubtOf(prompt);
    if (isTooOld(state, prompt, round, ctx)) {
      quota.admitted -= 1;
      quota.target -= doubt;
      continue;
    }
    if (prompt.status === 'standby') continue;
    quota.expiring.delete(prompt);
    join(state, prompt, quota, round);
    // Until now the prompt's place was reserved for prompts that would become too old; now it is one of these.
    if (prompt.status === 'passed' && quota.expiring.has(prompt)) count(state, prompt, ctx);
    for (const one of prompt.responses) if (isLive(one)) one.weightVersions = joined(one.weightVersions, weightVersion);
  }
}

/** Adds a prompt to the round; a duplicate is merged with the prompt in the round. */
function addPrompt(state: AdmissionState, spec: Prompt, round: Round, ctx: Ctx): void {
  const { promptId, ref, kept = [] } = spec;
  if (!state.prompts.has(promptId)) {
    round.duplicates = 0;
    const quota = quotaOf(round, spec.domain)!;
    const { weightVersion: startVersion } = round;
    const prompt = newPrompt(copyPrompt(spec), { seq: state.seq++, quota, startVersion, firstPrefix: state.restarts });
    state.prompts.set(promptId, prompt);
    quota.standby.push(prompt);
    quota.target += doubtOf(prompt);
    return;
  }
  const dropped: DroppedResponse[] = [];
  for (const { requestId, tokens, finished } of kept)
    if (finished) dropped.push({ requestId, tokens, cause: 'merged' });
  const reason = { code: 'already_in_round' } as const;
  ctx.emit({ type: 'prompt.merged', at: ctx.at, promptId, roundId: round.id, ...given({ ref }), dropped, reason });
  round.duplicates += 1;
  // A source that deals out a shuffled data set repeats a prompt after at most twice the length of the set.
  if (round.duplicates >= 2 * state.prompts.size) round.onlyDuplicates = true;
}

export function checkSupply(state: AdmissionState, { roundId, prompts }: Message<'prompts.supplied'>): void {
  checkRound(state, roundId);
  if (state.round?.id === roundId) checkDomains(state, prompts);
}

/** Takes in prompts that were asked for; those that come too late are handed back. */
export function supply(state: AdmissionState, { roundId, prompts }: Message<'prompts.supplied'>, ctx: Ctx): void {
  const { round } = state;
  if (round === null || round.id !== roundId) {
    const reason = { code: 'round_closed' } as const;
    for (const prompt of prompts.map(copyPrompt))
      ctx.emit({ type: 'prompt.returned', at: ctx.at, prompt, roundId, dropped: [], reason: { ...reason } });
    return;
  }
  for (const prompt of prompts) {
    const quota = quotaOf(round, prompt.domain)!;
    if (quota.awaiting > 0) quota.awaiting -= 1;
    addPrompt(state, prompt, round, ctx);
  }
  round.askedAt = ctx.at;
  state.unsettled = 'merged';
}

/** Marks the source, or one domain of it, as exhausted: the round ends with the prompts that it has. */
export function exhaust(state: AdmissionState, { domain }: Message<'source.exhausted'>): void {
  const { exhausted, round } = state;
  if (domain === undefined) exhausted.all = true;
  else exhausted.domains.add(domain);
  if (round === null) return;
  const isAll = isSourceExhausted(state);
  for (const quota of round.quotas) {
    if (!isAll && (quota.domain === null || !exhausted.domains.has(quota.domain))) continue;
    quota.exhausted = true;
    quota.awaiting = 0;
  }
  state.unsettled = 'counted';
}

/** Marks the source as having prompts again, from the next round on. */
export function reopen(state: AdmissionState, _: unknown, ctx: Ctx): void {
  const { exhausted, faults } = state;
  exhausted.all = false;
  exhausted.domains.clear();
  if (faults.isQuiet) return;
  faults.endSuspensions('prompt', ctx);
  state.unsettled ??= 'failed';
}

/** Returns the number of prompts that a round begins with. */
export const targetOf = ({ quotas }: Round): number => quotas.reduce((sum, { target }) => sum + whole(target), 0);
/** Rounds up, short of the rounding errors of sums. */
const whole = (target: number): number => Math.ceil(target - 1e-6);

/** Asks for missing prompts that have not been asked for yet. */
function requestMore(state: AdmissionState, round: Round, code: Exclude<Unsettled, 'counted'>, ctx: Ctx): void {
  const { faults } = state;
  if (isSpent(state, round)) return;
  // All prompts fail by their data.
  if (faults.isSuspended(wholeOf('prompt'))) return;
  let total = 0;
  let domains: Record<string, number> | undefined;
  for (const quota of round.quotas) {
    if (quota.exhausted || round.onlyDuplicates || quota.counted === quota.prompts) continue;
    const missing = whole(quota.target) - quota.admitted - quota.standby.size - quota.awaiting;
    if (missing <= 0) continue;
    quota.awaiting += missing;
    total += missing;
    if (quota.domain !== null) domains = { ...domains, [quota.domain]: missing };
  }
  if (total === 0) return;
  round.askedAt = ctx.at;
  const target = targetOf(round);
  const known = round.quotas.reduce((sum, quota) => sum + quota.admitted + quota.standby.size, 0);
  const reason = code === 'round_opened' ? { code, target, known } : { code, target, admitted: known };
  ctx.emit({ type: 'prompts.request', at: ctx.at, roundId: round.id, count: total, ...given({ domains }), reason });
}

/** Settles the consequences of an event for the open round. */
export function settle(state: AdmissionState, ctx: Ctx): void {
  // A started prompt may count or leave at once, because of its kept responses.
  for (let cause = state.unsettled; cause !== null; cause = state.unsettled) {
    state.unsettled = null;
    const { round } = state;
    if (round === null) return;
    for (const quota of round.quotas) takeIn(state, round, quota, ctx);
    for (const quota of round.quotas) countReady(state, quota, ctx);
    if (state.unsettled !== null) {
      if (cause !== 'counted') state.unsettled = cause;
      continue;
    }
    const reason = completion(state, round);
    if (reason !== undefined) {
      completeRound(state, round, reason, ctx);
      return;
    }
    for (const quota of round.quotas) if (quota.counted === quota.prompts) closeQuota(state, round, quota, ctx);
    if (cause !== 'counted') requestMore(state, round, cause, ctx);
  }
}

/** Starts prompts until a quota has enough. */
function takeIn(state: AdmissionState, round: Round, quota: DomainQuota, ctx: Ctx): void {
  if (isSpent(state, round)) return;
  while (quota.admitted < whole(quota.target) && quota.counted < quota.prompts) {
    const prompt = quota.standby.shift();
    if (prompt === undefined) return;
    startPrompt(state, prompt, quota, round, ctx);
  }
}

/** Closes a full quota: other prompts of the quota can no longer count in this round. */
function closeQuota(state: AdmissionState, round: Round, quota: DomainQuota, ctx: Ctx): void {
  if (carries(state)) return;
  const needed = state.config.responsesPerPrompt;
  for (const prompt of [...quota.members]) {
    defer(state, prompt, round.id, { code: 'quota_filled', held: prompt.held, needed }, ctx);
  }
  for (let next = quota.standby.shift(); next !== undefined; next = quota.standby.shift()) {
    giveBack(state, next, round.id, 'not_started', ctx);
  }
}

/** Whether unfinished prompts continue to run in the next round (RollPacker §6.7, §7). */
const carries = ({ config }: AdmissionState): boolean => config.maxStaleness > 0 && !config.partialRollout;

/** Returns the reason why the round is complete, once every quota is full or cannot get any more. */
function completion(state: AdmissionState, round: Round): CompletedReason | undefined {
  if (!round.quotas.every((quota) => isDone(state, round, quota))) return undefined;
  const { promptsPerRound: needed, maxFiltered } = state.config;
  const { counted, filtered } = round;
  if (counted === needed) return { code: 'quota_reached', counted, needed };
  if (round.onlyDuplicates) return { code: 'only_duplicates', counted, needed };
  if (maxFiltered === undefined || !isSpent(state, round)) return { code: 'source_exhausted', counted, needed };
  return { code: 'filtered', counted, needed, filtered, maxFiltered };
}

function isDone(state: AdmissionState, round: Round, quota: DomainQuota): boolean {
  if (quota.counted === quota.prompts) return true;
  if (quota.admitted > quota.counted) return isSpent(state, round) && areAllAside(state);
  // Prompts on standby are not started any more.
  return isSpent(state, round) || ((quota.exhausted || round.onlyDuplicates) && quota.standby.size === 0);
}

/** Whether all remaining responses are set aside for comparison: a round that starts no more prompts has no others. */
function areAllAside({ asides, live, prompts }: AdmissionState): boolean {
  if (asides.size === 0 || live.size > 0) return false;
  for (const { status, responses } of prompts.values()) {
    if (status === 'collected') return false;
    if (status === 'counted' || status === 'standby') continue;
    if (responses.some((one) => isQueued(one) && one.status !== 'aside')) return false;
  }
  return true;
}

function completeRound(state: AdmissionState, round: Round, reason: CompletedReason, ctx: Ctx): void {
  const { responsesPerPrompt: needed, maxStaleness } = state.config;
  const finals: PromptState[] = [];
  const rest: PromptState[] = [];
  let deferred = 0;
  for (const prompt of state.prompts.values()) {
    abortControl(state, prompt, ctx);
    (prompt.status === 'counted' ? finals : rest).push(prompt);
    if (prompt.status !== 'counted' && prompt.status !== 'standby') deferred += 1;
  }
  emitCompleted(round, finals, deferred, reason, ctx);
  for (const prompt of finals) remove(state, prompt);
  for (const prompt of rest) {
    const { spec, held, startVersion } = prompt;
    if (prompt.status === 'standby' || !carries(state)) {
      defer(state, prompt, round.id, { code: 'round_completed', held, needed }, ctx);
      continue;
    }
    prompt.quota = null;
    for (const response of prompt.responses) {
      if (!isLive(response)) continue;
      response.round = null;
      round.inFlight -= 1;
    }
    const why = { code: 'within_staleness', startVersion, maxStaleness } as const;
    ctx.emit({ type: 'prompt.carried', at: ctx.at, promptId: spec.promptId, roundId: round.id, reason: why });
  }
  closeRound(state, round, ctx);
  learn(state, round, deferred, ctx);
}

function emitCompleted(
  { id: roundId, kind, weightVersion, openedAt: openedSeconds }: Round,
  finals: readonly PromptState[],
  deferred: number,
  reason: CompletedReason,
  ctx: Ctx,
): void {
  const prompts = finals.map(finalPrompt);
  const type = 'round.completed';
  ctx.emit({ type, at: ctx.at, roundId, kind, weightVersion, prompts, openedSeconds, deferred, reason });
}

/** Returns the prompt in the form of a completed round. */
const finalPrompt = (prompt: PromptState): FinalPrompt =>
  copyFinal({
    ...prompt.spec,
    responses: heldOf(prompt).map(({ requestId, index, tokens, weightVersions, reward }) => {
      const final = { requestId, index, tokens, weightVersions: weightVersions as number[] };
      return reward === null ? final : { ...final, reward };
    }),
  });

function closeRound(state: AdmissionState, round: Round, ctx: Ctx): void {
  round.completedAt = ctx.at;
  state.round = null;
  state.draining.push(round);
  reportDrained(state, round, ctx);
}

/** Learns from a complete round what its factor costs (`speculation: auto`). */
function learn({ config, exploration }: AdmissionState, round: Round, deferred: number, ctx: Ctx): void {
  const { speculation, promptsPerRound } = config;
  if (speculation !== 'auto' || round.counted < promptsPerRound) return;
  const { kind, factor } = round;
  const seconds = ctx.at - round.openedAt;
  const secondsPerRound = measure(exploration, { kind, factor, seconds, deferred, promptsPerRound });
  if (secondsPerRound === undefined) return;
  const { chosen, rounds } = exploration;
  const measuredRounds = rounds.reduce((sum, one) => sum + one, 0);
  const reason = { code: 'fixed', secondsPerRound, measuredRounds } as const;
  ctx.emit({ type: 'speculation.chosen', at: ctx.at, promptSpeculation: chosen, responseSpeculation: chosen, reason });
}

export function checkFailing({ round }: AdmissionState, { roundId }: Message<'round.failed'>): void {
  if (round?.id === roundId) return;
  refuse('out_of_order', 'roundId', round === null ? 'an open round' : `the open round ${round.id}`, roundId);
}

/** Fails the round for the host: nothing counts, queued prompts go back to the queue, others to the source. */
export function failRound(state: AdmissionState, _: Message<'round.failed'>, ctx: Ctx): void {
  const round = state.round!;
  emitCompleted(round, [], 0, { code: 'round_failed', counted: 0, needed: state.config.promptsPerRound }, ctx);
  for (const prompt of [...state.prompts.values()]) {
    abortAll(state, prompt, { code: 'round_failed' }, ctx);
    giveBack(state, prompt, round.id, 'round_failed', ctx);
  }
  closeRound(state, round, ctx);
}

/** Hands a prompt back in its original form. */
function giveBack(
  state: AdmissionState,
  prompt: PromptState,
  roundId: string,
  code: 'not_started' | 'round_failed',
  ctx: Ctx,
): void {
  // Responses kept from earlier rounds go back inside the prompt; only responses that this round added are dropped.
  const kept = new Set(prompt.spec.kept?.map((one) => one.requestId));
  const dropped = dropHeld(prompt, 'round_failed').filter((one) => !kept.has(one.requestId));
  remove(state, prompt, true);
  const returned = copyPrompt(prompt.spec);
  ctx.emit({ type: 'prompt.returned', at: ctx.at, prompt: returned, roundId, dropped, reason: { code } });
}

/** Defers an unfinished prompt to a later round. */
function defer(state: AdmissionState, prompt: PromptState, roundId: string, reason: DeferReason, ctx: Ctx): void {
  if (!wasStarted(prompt)) {
    giveBack(state, prompt, roundId, 'not_started', ctx);
    return;
  }
  const counted = state.round?.counted ?? 0;
  let why: AbortReason = { code: reason.code === 'quota_filled' ? 'quota_filled' : 'round_completed', counted };
  if (reason.code === 'stale_weights') {
    why = { code: 'stale_weights', startVersion: reason.startVersion, weightVersion: reason.weightVersion };
  }
  abortControl(state, prompt, ctx);
  remove(state, prompt, true);
  prompt.settling = { roundId, reason };
  const keep = keeps(state, reason);
  for (const one of prompt.responses) {
    // Rewards find it while the prompt settles.
    if (keep && one.status === 'held') state.requests.set(one.requestId, one);
    if (!isLive(one)) continue;
    abort(state, one, { ...why }, ctx);
    if (!keep) continue;
    // The tokens of the response are known when its abort is confirmed; until then the prompt waits.
    one.awaited = true;
    prompt.unsettled += 1;
  }
  prompt.status = 'settling';
  state.settling.add(prompt);
  state.settlingOf.set(prompt.spec.promptId, prompt);
  if (prompt.unsettled === 0) finishDeferral(state, prompt, ctx);
}

/** Whether a deferred prompt keeps its tokens. */
const keeps = ({ config }: AdmissionState, { code }: DeferReason): boolean =>
  config.partialRollout && code !== 'stale_weights';

/** Lets a deferred prompt leave once all its aborts are confirmed. */
export function finishDeferral(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { roundId, reason } = prompt.settling!;
  const { spec, responses } = prompt;
  const { deferral, promptId } = spec;
  const kept = keeps(state, reason) ? keptResponses(prompt) : [];
  const longest = responses.reduce((most, one) => Math.max(most, one.tokens), spec.expectedTokens ?? 0);
  const before = deferral ?? { count: 0, sinceRound: state.rounds - 1, sinceSeconds: ctx.at };
  const deferred = copyPrompt({
    ...spec,
    expectedTokens: longest > 0 ? longest : undefined,
    // A round of an earlier session may be one that this session has yet to come to.
    deferral: { ...before, count: before.count + 1, sinceRound: Math.min(before.sinceRound, state.rounds - 1) },
    kept: kept.length > 0 ? kept : undefined,
  });
  state.settling.delete(prompt);
  if (state.settlingOf.get(promptId) === prompt) state.settlingOf.delete(promptId);
  forgetHeld(state, prompt);
  prompt.status = 'gone';
  const dropped = keeps(state, reason) ? [] : dropHeld(prompt, 'stale_weights');
  ctx.emit({ type: 'prompt.deferred', at: ctx.at, prompt: deferred, roundId, dropped, reason: { ...reason } });
}

/** Returns the responses that a prompt keeps beyond its round, by index. */
function keptResponses({ responses }: PromptState): KeptResponse[] {
  return responses.flatMap((one): KeptResponse[] => {
    const { status, requestId, index, tokens, reward, resume, cause } = one;
    if (cause === 'control') return [];
    if (isQueued(one)) return resume === null ? [] : [copyKept(resume)];
    if (tokens === 0 && status !== 'held') return [];
    const kept = { requestId, index, tokens, weightVersions: one.weightVersions.slice(), finished: status === 'held' };
    return [reward === null ? kept : { ...kept, reward }];
  });
}

/** Ends an abort: it was confirmed, it expired, the response came first, or the engine was lost. */
export function endAbort(
  state: AdmissionState,
  response: ResponseState,
  tokens: number | undefined,
  ctx: Ctx,
  status: 'abandoned' | 'held' = 'abandoned',
): void {
  const { prompt } = response;
  const round = endRequest(state, response, status);
  if (tokens !== undefined) response.tokens = tokens;
  if (response.awaited) {
    response.awaited = false;
    prompt.unsettled -= 1;
    if (prompt.unsettled === 0) finishDeferral(state, prompt, ctx);
  }
  reportDrained(state, round, ctx);
}
