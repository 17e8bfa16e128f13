/** From a held response to a completed round: collected, judged, counted, complete. */
import type { Context } from '../../core/definition.ts';
import type { AdmissionDecision } from './decisions.ts';
import { defer, dropHeld, finalPrompt, giveBack, remove } from './leave.ts';
import { abortAll, reportDrained } from './requests.ts';
import { measure } from './speculation.ts';
import type { AdmissionState, FaultKind, Lane, PromptState, Round } from './state.ts';
import { requestMore, takeIn } from './supply.ts';

type Ctx = Context<AdmissionDecision>;
type CompletedReason = Extract<AdmissionDecision, { type: 'round.completed' }>['reason'];

/** A prompt has its R0-th response: its siblings are aborted, and it is judged as soon as that is possible. */
export function collect(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { responsesPerPrompt: needed, filter } = state.config;
  prompt.status = 'collected';
  const requestIds = prompt.slots.filter((slot) => slot.status === 'held').map((slot) => slot.requestId);
  ctx.emit({
    type: 'prompt.collected',
    at: ctx.at,
    promptId: prompt.spec.promptId,
    roundId: state.round?.id ?? state.recentRounds[state.recentRounds.length - 1]!,
    requestIds,
    reason: { code: 'responses_held', held: prompt.held, launched: prompt.slots.length },
  });
  abortAll(state, prompt, { code: 'prompt_collected', held: prompt.held, needed }, ctx);
  if (filter === 'none') count(state, prompt, ctx);
  else if (filter === 'zero-variance') judgeRewards(state, prompt, ctx);
}

/** Judges a collected prompt by its rewards, once all are in. */
export function judgeRewards(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { responsesPerPrompt, varianceTolerance: tolerance } = state.config;
  if (prompt.status !== 'collected' || prompt.rewards < responsesPerPrompt) return;
  const rewards = prompt.slots.flatMap((slot) => (slot.status === 'held' ? [slot.reward!] : []));
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const variance = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / rewards.length;
  const standardDeviation = Math.sqrt(variance);
  // A single response has no variance: that is not the same as zero variance.
  if (rewards.length === 1 || standardDeviation > tolerance) count(state, prompt, ctx);
  else reject(state, prompt, { code: 'zero_variance', standardDeviation, tolerance }, ctx);
}

/** A prompt counts. Between rounds, or with its quota full, it waits for the next round to open (it is carried). */
export function count(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { round } = state;
  const { lane } = prompt;
  if (round === null || lane === null || lane.counted === lane.quota) return;
  prompt.status = 'counted';
  lane.members.delete(prompt);
  lane.counted += 1;
  round.counted += 1;
  const numbers = { counted: round.counted, needed: state.config.promptsPerRound };
  ctx.emit({
    type: 'prompt.counted',
    at: ctx.at,
    promptId: prompt.spec.promptId,
    roundId: round.id,
    reason: state.config.filter === 'none' ? { code: 'no_filter', ...numbers } : { code: 'passed', ...numbers },
  });
  if (lane.counted === lane.quota) fillLane(state, round, lane, ctx);
  settleRound(state, ctx);
}

/** A filtered prompt leaves and is replaced. */
export function reject(
  state: AdmissionState,
  prompt: PromptState,
  reason: Extract<AdmissionDecision, { type: 'prompt.filtered' }>['reason'],
  ctx: Ctx,
): void {
  const { promptId, ref } = prompt.spec;
  ctx.emit({
    type: 'prompt.filtered',
    at: ctx.at,
    promptId,
    roundId: state.round?.id ?? state.recentRounds[state.recentRounds.length - 1]!,
    ...(ref === undefined ? undefined : { ref }),
    dropped: dropHeld(prompt, 'filtered'),
    reason,
  });
  replace(state, prompt, 'filtered', ctx);
}

/** A prompt that cannot get its responses leaves by name and is replaced. */
export function quarantine(
  state: AdmissionState,
  prompt: PromptState,
  kind: FaultKind,
  failures: number,
  ctx: Ctx,
): void {
  const { promptId, ref } = prompt.spec;
  const dropped = dropHeld(prompt, 'quarantined');
  abortAll(state, prompt, { code: 'prompt_quarantined', held: prompt.held }, ctx);
  ctx.emit({
    type: 'prompt.quarantined',
    at: ctx.at,
    promptId,
    roundId: state.round?.id ?? state.recentRounds[state.recentRounds.length - 1]!,
    ...(ref === undefined ? undefined : { ref }),
    dropped,
    reason: { code: kind, failures, budget: state.config.retry[kind] },
  });
  replace(state, prompt, 'quarantined', ctx);
}

function replace(state: AdmissionState, prompt: PromptState, code: 'filtered' | 'quarantined', ctx: Ctx): void {
  const { lane } = prompt;
  remove(state, prompt);
  if (lane === null || state.round === null) return;
  lane.admitted -= 1;
  takeIn(state, lane, ctx);
  requestMore(state, code, ctx);
  settleRound(state, ctx);
}

/** A quota is full: what else runs for it can never count in this round. */
function fillLane(state: AdmissionState, round: Round, lane: Lane, ctx: Ctx): void {
  if (round.lanes.every((one) => laneIsDone(round, one)) || carries(state)) return;
  const needed = state.config.responsesPerPrompt;
  for (const prompt of [...lane.members]) {
    defer(state, prompt, round.id, { code: 'quota_filled', held: prompt.held, needed }, ctx);
  }
  for (let next = lane.standby.shift(); next !== undefined; next = lane.standby.shift()) {
    if (next.status === 'standby') giveBack(state, next, round.id, 'not_started', ctx);
  }
}

/** Whether unfinished prompts simply run on into the next round (RollPacker §6.7, §7). */
export function carries(state: AdmissionState): boolean {
  return state.config.maxStaleness > 0 && !state.config.keepPartial;
}

function laneIsDone(round: Round, lane: Lane): boolean {
  if (lane.counted === lane.quota) return true;
  return (lane.exhausted || round.onlyDuplicates) && lane.admitted === lane.counted && lane.standby.size === 0;
}

/** Completes the round when every quota is full, or can get no fuller. */
export function settleRound(state: AdmissionState, ctx: Ctx): void {
  const { round } = state;
  if (round === null || !round.lanes.every((lane) => laneIsDone(round, lane))) return;
  const numbers = { counted: round.counted, needed: state.config.promptsPerRound };
  if (round.counted === state.config.promptsPerRound)
    completeRound(state, round, { code: 'quota_reached', ...numbers }, ctx);
  else if (round.onlyDuplicates) completeRound(state, round, { code: 'only_duplicates', ...numbers }, ctx);
  else completeRound(state, round, { code: 'source_exhausted', ...numbers }, ctx);
}

function completeRound(state: AdmissionState, round: Round, reason: CompletedReason, ctx: Ctx): void {
  const { responsesPerPrompt: needed } = state.config;
  const all = [...state.prompts.values()];
  const rest = all.filter((prompt) => prompt.status !== 'counted');
  const deferred = rest.filter((prompt) => prompt.status !== 'standby').length;
  const finals = all.filter((prompt) => prompt.status === 'counted');
  ctx.emit({
    type: 'round.completed',
    at: ctx.at,
    roundId: round.id,
    kind: round.kind,
    weightVersion: round.weightVersion,
    prompts: finals.map(finalPrompt),
    openedSeconds: round.openedAt,
    deferred,
    reason,
  });
  for (const prompt of finals) remove(state, prompt);
  for (const prompt of rest) {
    if (prompt.status !== 'standby' && carries(state)) carry(state, prompt, round, ctx);
    else defer(state, prompt, round.id, { code: 'round_completed', held: prompt.held, needed }, ctx);
  }
  closeRound(state, round, ctx);
  learn(state, round, deferred, ctx);
}

function carry(state: AdmissionState, prompt: PromptState, round: Round, ctx: Ctx): void {
  prompt.lane = null;
  for (const slot of prompt.slots) {
    if (slot.status !== 'live') continue;
    state.requests.get(slot.requestId)!.round = null;
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

/** The host gives the round up: nothing counts, prompts that were queued go back to the queue, others to the source. */
export function failRound(state: AdmissionState, round: Round, ctx: Ctx): void {
  ctx.emit({
    type: 'round.completed',
    at: ctx.at,
    roundId: round.id,
    kind: round.kind,
    weightVersion: round.weightVersion,
    prompts: [],
    openedSeconds: round.openedAt,
    deferred: 0,
    reason: { code: 'round_failed', counted: 0, needed: state.config.promptsPerRound },
  });
  for (const prompt of [...state.prompts.values()]) {
    abortAll(state, prompt, { code: 'round_failed' }, ctx);
    giveBack(state, prompt, round.id, 'round_failed', ctx);
  }
  closeRound(state, round, ctx);
}
