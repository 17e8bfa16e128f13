/** What an event has changed in its round is settled before the event is over: prompts started, the round completed. */
import type { Context } from '../../core/definition.ts';
import type { AdmissionDecision } from './decisions.ts';
import { requestMore } from './intake.ts';
import { defer, finalPrompt, giveBack, remove } from './leave.ts';
import { abortAll, reportDrained } from './requests.ts';
import { measure } from './speculation.ts';
import { takeIn } from './start.ts';
import { type AdmissionState, isLive, type Lane, type PromptState, type Round } from './state.ts';

type Ctx = Context<AdmissionDecision>;
type CompletedReason = Extract<AdmissionDecision, { type: 'round.completed' }>['reason'];

/** Brings the open round up to date with what has changed in it. */
export function settle(state: AdmissionState, ctx: Ctx): void {
  // A prompt that is started may count or leave at once, by what was kept of it.
  for (let cause = state.unsettled; cause !== null; cause = state.unsettled) {
    state.unsettled = null;
    const { round } = state;
    if (round === null) return;
    for (const lane of round.lanes) takeIn(state, round, lane, ctx);
    if (state.unsettled !== null) {
      if (cause !== 'counted') state.unsettled = cause;
      continue;
    }
    const reason = completion(state, round);
    if (reason !== undefined) {
      completeRound(state, round, reason, ctx);
      return;
    }
    for (const lane of round.lanes) if (lane.counted === lane.quota) closeLane(state, round, lane, ctx);
    if (cause !== 'counted') requestMore(round, cause, ctx);
  }
}

/** A quota is full: what else runs for it can never count in this round. */
function closeLane(state: AdmissionState, round: Round, lane: Lane, ctx: Ctx): void {
  if (carries(state)) return;
  const needed = state.config.responsesPerPrompt;
  for (const prompt of [...lane.members]) {
    defer(state, prompt, round.id, { code: 'quota_filled', held: prompt.held, needed }, ctx);
  }
  for (let next = lane.standby.shift(); next !== undefined; next = lane.standby.shift()) {
    giveBack(state, next, round.id, 'not_started', ctx);
  }
}

/** Whether unfinished prompts simply run on into the next round (RollPacker §6.7, §7). */
function carries(state: AdmissionState): boolean {
  return state.config.maxStaleness > 0 && !state.config.keepPartial;
}

function isDone(round: Round, lane: Lane): boolean {
  if (lane.counted === lane.quota) return true;
  return (lane.exhausted || round.onlyDuplicates) && lane.admitted === lane.counted && lane.standby.size === 0;
}

/** Why the round is complete, once every quota is full or can get no fuller. */
function completion(state: AdmissionState, round: Round): CompletedReason | undefined {
  if (!round.lanes.every((lane) => isDone(round, lane))) return undefined;
  const numbers = { counted: round.counted, needed: state.config.promptsPerRound };
  if (round.counted === state.config.promptsPerRound) return { code: 'quota_reached', ...numbers };
  return { code: round.onlyDuplicates ? 'only_duplicates' : 'source_exhausted', ...numbers };
}

function completeRound(state: AdmissionState, round: Round, reason: CompletedReason, ctx: Ctx): void {
  const { responsesPerPrompt: needed } = state.config;
  const finals: PromptState[] = [];
  const rest: PromptState[] = [];
  let deferred = 0;
  for (const prompt of state.prompts.values()) {
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
  prompt.lane = null;
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

/** The host gives the round up: nothing counts, prompts that were queued go back to the queue, others to the source. */
export function failRound(state: AdmissionState, round: Round, ctx: Ctx): void {
  const reason = { code: 'round_failed', counted: 0, needed: state.config.promptsPerRound } as const;
  emitCompleted(round, [], 0, reason, ctx);
  for (const prompt of [...state.prompts.values()]) {
    abortAll(state, prompt, { code: 'round_failed' }, ctx);
    giveBack(state, prompt, round.id, 'round_failed', ctx);
  }
  closeRound(state, round, ctx);
}
