/**
 * Handles rounds. A round opens with the prompts that were carried over and the given prompts; the rest is requested. At the end
 * of every event, the consequences for the round are settled. A round ends complete or failed.
 */

import { Fifo } from '../../core/collections/fifo.ts';
import { scaledCount } from '../../core/rollout/prompts.ts';
import { olderVersion } from '../../core/rollout/restart-versions.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { addPrompt, checkDomains, isSourceExhausted, oldestFirst, requestMore, takeIn } from './intake.ts';
import { joined } from './launch.ts';
import { defer, finalPrompt, giveBack, isSpent, remove } from './leave.ts';
import { applyFilter, count, countReady, nameOwed } from './progress.ts';
import { abortAll, abortControl, reportDrained } from './requests.ts';
import { type Ctx, usualFactor } from './schema.ts';
import { currentFactor, grid, measure, roundsPerFactor } from './speculation.ts';
import {
  type AdmissionState,
  type DomainQuota,
  isLive,
  isQueued,
  join,
  newReady,
  type PromptState,
  quotaOf,
  type ResponseState,
  type Round,
} from './state.ts';

type CompletedReason = Message<'round.completed'>['reason'];

export function checkOpening(state: AdmissionState, event: Message<'round.opened'>): void {
  if (state.round !== null)
    refuse('out_of_order', 'roundId', `round ${state.round.id} to be completed first`, event.roundId);
  if (state.draining.length > 0 && !state.config.allowOverlap) {
    refuse(
      'out_of_order',
      'roundId',
      `round ${state.draining[0]!.id} to be drained first (or allowOverlap)`,
      event.roundId,
    );
  }
  if (state.recentRounds.has(event.roundId)) refuse('duplicate_id', 'roundId', 'a new round id', event.roundId);
  if (event.weightVersion < state.weightVersion) {
    refuse('out_of_order', 'weightVersion', olderVersion(state.weightVersion), event.weightVersion);
  }
  const waiting = state.settling.values().next().value?.spec.promptId;
  const isEmpty = event.prompts.length === 0 && state.prompts.size === 0 && isSourceExhausted(state);
  if (isEmpty && waiting !== undefined) {
    // The round must have prompts to open with.
    refuse(
      'out_of_order',
      'roundId',
      `the aborts of prompt ${waiting} to be confirmed first: it is the last there is`,
      event.roundId,
    );
  }
  checkDomains(state, event.prompts);
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
  for (const prompt of oldestFirst(state, event.prompts, round)) addPrompt(state, prompt, round, ctx);
  state.unsettled = 'round_opened';
}

function newRound(state: AdmissionState, event: Message<'round.opened'>, ctx: Ctx): Round {
  const { config, exploration } = state;
  const isShort = event.kind === 'short';
  const isAuto = config.speculation === 'auto';
  const factor = isShort && isAuto ? currentFactor(exploration) : 0;
  const forPrompts = isShort ? factor || (config.promptSpeculation ?? usualFactor) : 1;
  const forResponses = isShort ? factor || (config.responseSpeculation ?? usualFactor) : 1;
  if (isShort && isAuto && exploration.chosen === 0) {
    const rounds = grid.length * roundsPerFactor;
    const measured = exploration.rounds.reduce((sum, one) => sum + one, 0);
    ctx.emit({
      type: 'speculation.chosen',
      at: ctx.at,
      promptSpeculation: forPrompts,
      responseSpeculation: forResponses,
      reason: { code: 'exploring', round: measured, rounds },
    });
  }
  return {
    id: event.roundId,
    kind: event.kind,
    weightVersion: event.weightVersion,
    weightVersions: [event.weightVersion],
    openedAt: ctx.at,
    completedAt: 0,
    responses: scaledCount(forResponses, config.responsesPerPrompt),
    factor,
    quotas: newQuotas(state, isShort, forPrompts),
    counted: 0,
    inFlight: 0,
    duplicates: 0,
    onlyDuplicates: false,
    filtered: 0,
    askedAt: ctx.at,
  };
}

/**
 * Makes one quota per domain, if there are quotas. A long round takes any mix of domains, so that the mix in the queue cannot
 * block it.
 */
function newQuotas(state: AdmissionState, isShort: boolean, factor: number): DomainQuota[] {
  const { quotas, promptsPerRound } = state.config;
  const domains = Object.keys(quotas ?? {}).sort();
  const isAll = isSourceExhausted(state);
  const quota = (domain: string | null, prompts: number, exhausted: boolean): DomainQuota => ({
    domain,
    prompts,
    target: scaledCount(factor, prompts),
    admitted: 0,
    counted: 0,
    awaiting: 0,
    standby: new Fifo(),
    members: new Set(),
    expiring: new Set(),
    ready: newReady(),
    exhausted,
  });
  if (isShort && quotas !== undefined) {
    return domains.map((one) => quota(one, quotas[one]!, isAll || state.exhausted.domains.has(one)));
  }
  return [quota(null, promptsPerRound, isAll)];
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
    if (prompt.responses.every(hasNothing)) prompt.startVersion = weightVersion;
    const quota = prompt.quota!;
    if (isTooOld(state, prompt, round, ctx)) {
      quota.admitted -= 1;
      continue;
    }
    if (prompt.status === 'standby') continue;
    quota.expiring.delete(prompt);
    join(prompt, quota, round, state.config);
    // Until now the prompt's place was reserved for prompts that would become too old; now it is one of these.
    if (prompt.status === 'passed' && quota.expiring.has(prompt)) count(state, prompt, ctx);
    for (const one of prompt.responses) if (isLive(one)) one.weightVersions = joined(one.weightVersions, weightVersion);
  }
}

const hasNothing = (one: ResponseState): boolean => isQueued(one) && one.resume === null;

/** Readmits a prompt that continued to run between the rounds, unless its weights are now too old. */
function readmit(state: AdmissionState, prompt: PromptState, round: Round, ctx: Ctx): void {
  const { weightVersion } = round;
  if (isTooOld(state, prompt, round, ctx)) return;
  const quota = quotaOf(round, prompt.spec.domain)!;
  join(prompt, quota, round, state.config);
  quota.admitted += 1;
  for (const response of prompt.responses) {
    if (!isLive(response)) continue;
    response.round = round;
    round.inFlight += 1;
    response.weightVersions = joined(response.weightVersions, weightVersion);
  }
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
function carries(state: AdmissionState): boolean {
  return state.config.maxStaleness > 0 && !state.config.partialRollout;
}

/** Whether all remaining responses are set aside for comparison: a round that starts no more prompts has no others. */
function areAllAside({ asides, live, prompts }: AdmissionState): boolean {
  if (asides.size === 0 || live.size > 0) return false;
  for (const { status, responses } of prompts.values()) {
    if (
      status !== 'counted' &&
      status !== 'standby' &&
      responses.some((one) => isQueued(one) && one.status !== 'aside')
    )
      return false;
    if (status === 'collected') return false;
  }
  return true;
}

function isDone(state: AdmissionState, round: Round, quota: DomainQuota): boolean {
  if (quota.counted === quota.prompts) return true;
  if (quota.admitted > quota.counted) return isSpent(state, round) && areAllAside(state);
  // Prompts on standby are not started any more.
  return isSpent(state, round) || ((quota.exhausted || round.onlyDuplicates) && quota.standby.size === 0);
}

/** Returns the reason why the round is complete, once every quota is full or cannot get any more. */
function completion(state: AdmissionState, round: Round): CompletedReason | undefined {
  if (!round.quotas.every((quota) => isDone(state, round, quota))) return undefined;
  const numbers = { counted: round.counted, needed: state.config.promptsPerRound };
  if (round.counted === state.config.promptsPerRound) return { code: 'quota_reached', ...numbers };
  if (round.onlyDuplicates) return { code: 'only_duplicates', ...numbers };
  const { maxFiltered } = state.config;
  if (maxFiltered === undefined || !isSpent(state, round)) return { code: 'source_exhausted', ...numbers };
  return { code: 'filtered', ...numbers, filtered: round.filtered, maxFiltered };
}

function completeRound(state: AdmissionState, round: Round, reason: CompletedReason, ctx: Ctx): void {
  const { responsesPerPrompt: needed } = state.config;
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
    if (prompt.status !== 'standby' && carries(state)) carry(state, prompt, round, ctx);
    else defer(state, prompt, round.id, { code: 'round_completed', held: prompt.held, needed }, ctx);
  }
  closeRound(state, round, ctx);
  learn(state, round, deferred, ctx);
}

function emitCompleted(
  round: Round,
  prompts: readonly PromptState[],
  deferred: number,
  reason: CompletedReason,
  ctx: Ctx,
): void {
  ctx.emit({
    type: 'round.completed',
    at: ctx.at,
    roundId: round.id,
    kind: round.kind,
    weightVersion: round.weightVersion,
    prompts: prompts.map(finalPrompt),
    openedSeconds: round.openedAt,
    deferred,
    reason,
  });
}

function carry(state: AdmissionState, prompt: PromptState, round: Round, ctx: Ctx): void {
  prompt.quota = null;
  for (const response of prompt.responses) {
    if (!isLive(response)) continue;
    response.round = null;
    round.inFlight -= 1;
  }
  ctx.emit({
    type: 'prompt.carried',
    at: ctx.at,
    promptId: prompt.spec.promptId,
    roundId: round.id,
    reason: {
      code: 'within_staleness',
      startVersion: prompt.startVersion,
      maxStaleness: state.config.maxStaleness,
    },
  });
}

function closeRound(state: AdmissionState, round: Round, ctx: Ctx): void {
  round.completedAt = ctx.at;
  state.round = null;
  state.draining.push(round);
  reportDrained(state, round, ctx);
}

function learn(state: AdmissionState, round: Round, deferred: number, ctx: Ctx): void {
  const { speculation, promptsPerRound } = state.config;
  if (speculation !== 'auto' || round.counted < promptsPerRound) return;
  const { exploration } = state;
  const seconds = ctx.at - round.openedAt;
  const cost = measure(exploration, { kind: round.kind, factor: round.factor, seconds, deferred, promptsPerRound });
  if (cost === undefined) return;
  ctx.emit({
    type: 'speculation.chosen',
    at: ctx.at,
    promptSpeculation: exploration.chosen,
    responseSpeculation: exploration.chosen,
    reason: {
      code: 'fixed',
      secondsPerRound: cost,
      measuredRounds: exploration.rounds.reduce((sum, rounds) => sum + rounds, 0),
    },
  });
}

export function checkFailing({ round }: AdmissionState, { roundId }: Message<'round.failed'>): void {
  if (round?.id === roundId) return;
  refuse('out_of_order', 'roundId', round === null ? 'an open round' : `the open round ${round.id}`, roundId);
}

/** Fails the round for the host: nothing counts, queued prompts go back to the queue, others to the source. */
export function failRound(state: AdmissionState, _: Message<'round.failed'>, ctx: Ctx): void {
  const round = state.round!;
  const reason = { code: 'round_failed', counted: 0, needed: state.config.promptsPerRound } as const;
  emitCompleted(round, [], 0, reason, ctx);
  for (const prompt of [...state.prompts.values()]) {
    abortAll(state, prompt, { code: 'round_failed' }, ctx);
    giveBack(state, prompt, round.id, 'round_failed', ctx);
  }
  closeRound(state, round, ctx);
}
