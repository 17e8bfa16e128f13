/** Prompts coming in: opening a round, taking prompts in, asking for more. */
import type { Context } from '../../core/definition.ts';
import { Fifo } from '../../core/fifo.ts';
import { copyPrompt, type KeptResponse, type Prompt } from '../../schemas/prompts.ts';
import { scaledCount } from '../../schemas/units.ts';
import type { AdmissionDecision } from './decisions.ts';
import { enqueue } from './launch.ts';
import { defer } from './leave.ts';
import { collect, count, judgeRewards, settleRound } from './progress.ts';
import { currentFactor, grid, roundsPerFactor } from './speculation.ts';
import { type AdmissionState, type Lane, newSlot, type PromptState, type Round } from './state.ts';

type Ctx = Context<AdmissionDecision>;
type RequestCode = Extract<AdmissionDecision, { type: 'prompts.request' }>['reason']['code'];

const defaultFactor = 1.25;
const recentRounds = 64;

interface Opening {
  readonly roundId: string;
  readonly kind: 'short' | 'long';
  readonly weightVersion: number;
  readonly prompts: readonly Prompt[];
}

/** Opens a round: prompts carried over come first, then those given, then the rest is asked for. */
export function openRound(state: AdmissionState, event: Opening, ctx: Ctx): void {
  const round = newRound(state, event, ctx);
  state.round = round;
  state.rounds += 1;
  state.weightVersion = event.weightVersion;
  state.recentRounds.push(event.roundId);
  if (state.recentRounds.length > recentRounds) state.recentRounds.shift();
  const carried = [...state.prompts.values()];
  for (const prompt of carried) readmit(state, prompt, round, ctx);
  for (const prompt of carried) if (state.round === round) recount(state, prompt, ctx);
  for (const prompt of event.prompts) addPrompt(state, prompt, round, ctx);
  for (const lane of round.lanes) takeIn(state, lane, ctx);
  requestMore(state, 'round_opened', ctx);
  settleRound(state, ctx);
}

function newRound(state: AdmissionState, event: Opening, ctx: Ctx): Round {
  const { config } = state;
  const short = event.kind === 'short';
  const auto = config.speculation === 'auto';
  const factor = short && auto ? currentFactor(state.exploration) : 0;
  const forPrompts = short ? factor || (config.promptSpeculation ?? defaultFactor) : 1;
  const forResponses = short ? factor || (config.responseSpeculation ?? defaultFactor) : 1;
  if (short && auto && state.exploration.chosen === 0) {
    const rounds = grid.length * roundsPerFactor;
    const measured = state.exploration.rounds.reduce((sum, one) => sum + one, 0);
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
    lanes: newLanes(state, short, forPrompts),
    counted: 0,
    inFlight: 0,
    duplicates: 0,
    onlyDuplicates: false,
  };
}

/** One lane a domain where quotas hold; long rounds take any mix, so that a queue's mix can never block them. */
function newLanes(state: AdmissionState, short: boolean, factor: number): Lane[] {
  const { quotas, promptsPerRound } = state.config;
  const domains = Object.keys(quotas ?? {}).sort();
  const isExhausted = (domain: string) => state.exhausted.all || state.exhausted.domains.has(domain);
  const lane = (domain: string | null, quota: number, exhausted: boolean): Lane => ({
    domain,
    quota,
    target: scaledCount(factor, quota),
    admitted: 0,
    counted: 0,
    awaiting: 0,
    standby: new Fifo(),
    members: new Set(),
    exhausted,
  });
  if (short && quotas !== undefined) return domains.map((one) => lane(one, quotas[one]!, isExhausted(one)));
  const exhausted = state.exhausted.all || (domains.length > 0 && domains.every(isExhausted));
  return [lane(null, promptsPerRound, exhausted)];
}

export function laneOf(round: Round, domain: string | undefined): Lane | undefined {
  if (round.lanes[0]!.domain === null) return round.lanes[0];
  return round.lanes.find((lane) => lane.domain === domain);
}

/** A prompt that went on running between the rounds belongs to this one, unless its weights are too old by now. */
function readmit(state: AdmissionState, prompt: PromptState, round: Round, ctx: Ctx): void {
  const { maxStaleness } = state.config;
  const { startVersion } = prompt;
  const { weightVersion } = round;
  if (weightVersion - startVersion > maxStaleness) {
    defer(state, prompt, round.id, { code: 'stale_weights', startVersion, weightVersion, maxStaleness }, ctx);
    return;
  }
  const lane = laneOf(round, prompt.spec.domain)!;
  prompt.lane = lane;
  lane.members.add(prompt);
  lane.admitted += 1;
  for (const slot of prompt.slots) {
    if (slot.status !== 'live') continue;
    const request = state.requests.get(slot.requestId)!;
    request.round = round;
    round.inFlight += 1;
    if (request.weightVersions[request.weightVersions.length - 1] !== weightVersion) {
      request.weightVersions = [...request.weightVersions, weightVersion];
    }
  }
}

/** A carried prompt may have been collected between the rounds. */
function recount(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  if (prompt.status !== 'collected') return;
  if (state.config.filter === 'none') count(state, prompt, ctx);
  else if (state.config.filter === 'zero-variance') judgeRewards(state, prompt, ctx);
}

/** Adds a prompt to the round; one that is in it already is the same prompt. */
export function addPrompt(state: AdmissionState, spec: Prompt, round: Round, ctx: Ctx): void {
  if (state.round !== round) {
    // The round was completed by what came before it in the same event.
    returnUnused(spec, round.id, 'round_closed', ctx);
    return;
  }
  if (state.prompts.has(spec.promptId)) {
    merge(state, spec, round, ctx);
    return;
  }
  round.duplicates = 0;
  const lane = laneOf(round, spec.domain)!;
  const prompt: PromptState = {
    spec: copyPrompt(spec),
    seq: state.seq++,
    lane,
    status: 'standby',
    attemptBase: 0,
    startVersion: round.weightVersion,
    slots: [],
    held: 0,
    rewards: 0,
    unsettled: 0,
    settling: null,
  };
  state.prompts.set(spec.promptId, prompt);
  lane.standby.push(prompt);
}

function merge(state: AdmissionState, spec: Prompt, round: Round, ctx: Ctx): void {
  const { promptId, ref, kept } = spec;
  const finished = kept?.filter((one) => one.finished) ?? [];
  ctx.emit({
    type: 'prompt.merged',
    at: ctx.at,
    promptId,
    roundId: round.id,
    ...(ref === undefined ? undefined : { ref }),
    dropped: finished.map(({ requestId, tokens }) => ({ requestId, tokens, cause: 'merged' })),
    reason: { code: 'already_in_round' },
  });
  round.duplicates += 1;
  // A source that deals a shuffled data set repeats itself after at most twice its length.
  if (round.duplicates >= 2 * state.prompts.size) round.onlyDuplicates = true;
}

/** Prompts that were asked for have come. */
export function supply(state: AdmissionState, roundId: string, prompts: readonly Prompt[], ctx: Ctx): void {
  const { round } = state;
  if (round === null || round.id !== roundId) {
    for (const prompt of prompts) returnUnused(prompt, roundId, 'round_closed', ctx);
    return;
  }
  for (const prompt of prompts) {
    const lane = laneOf(round, prompt.domain)!;
    if (lane.awaiting > 0) lane.awaiting -= 1;
    addPrompt(state, prompt, round, ctx);
  }
  for (const lane of round.lanes) takeIn(state, lane, ctx);
  requestMore(state, 'merged', ctx);
  settleRound(state, ctx);
}

/** The source, or one domain of it, has no more: the round ends with what there is. */
export function exhaust(state: AdmissionState, domain: string | undefined, ctx: Ctx): void {
  if (domain === undefined) state.exhausted.all = true;
  else state.exhausted.domains.add(domain);
  const { round } = state;
  if (round === null) return;
  const { all, domains } = state.exhausted;
  const quotas = Object.keys(state.config.quotas ?? {});
  for (const lane of round.lanes) {
    const gone =
      lane.domain === null ? quotas.length > 0 && quotas.every((one) => domains.has(one)) : domains.has(lane.domain);
    if (!all && !gone) continue;
    lane.exhausted = true;
    lane.awaiting = 0;
  }
  settleRound(state, ctx);
}

/** Hands back a prompt that came too late. */
export function returnUnused(spec: Prompt, roundId: string, code: 'round_closed', ctx: Ctx): void {
  ctx.emit({
    type: 'prompt.returned',
    at: ctx.at,
    prompt: copyPrompt(spec),
    roundId,
    dropped: [],
    reason: { code },
  });
}

/** Starts prompts of a lane until it has as many as it wants. */
export function takeIn(state: AdmissionState, lane: Lane, ctx: Ctx): void {
  while (lane.admitted < lane.target && lane.counted < lane.quota && state.round !== null) {
    const prompt = lane.standby.shift();
    if (prompt === undefined) return;
    if (prompt.status === 'standby') startPrompt(state, prompt, lane, state.round, ctx);
  }
}

function startPrompt(state: AdmissionState, prompt: PromptState, lane: Lane, round: Round, ctx: Ctx): void {
  const { responsesPerPrompt } = state.config;
  prompt.status = 'active';
  prompt.attemptBase = state.nextAttempt;
  lane.admitted += 1;
  lane.members.add(prompt);
  const kept = usableKept(state, prompt, round, ctx);
  for (const one of kept) placeKept(state, prompt, one, ctx);
  const taken = new Set(kept.map((one) => one.index));
  for (let index = 0; prompt.slots.length < round.responses; index += 1) {
    if (!taken.has(index)) prompt.slots.push(newSlot(prompt, index));
  }
  prompt.slots.sort((a, b) => a.index - b.index);
  if (prompt.held >= responsesPerPrompt) {
    collect(state, prompt, ctx);
    return;
  }
  for (const slot of prompt.slots) if (slot.status === 'pending') enqueue(state, slot, 'planned');
}

/** Responses kept from earlier rounds that may still be used: fresh enough, finished ones first, then the longest. */
function usableKept(state: AdmissionState, prompt: PromptState, round: Round, ctx: Ctx): KeptResponse[] {
  const { maxStaleness, responsesPerPrompt } = state.config;
  const usable: KeptResponse[] = [];
  const sorted = [...(prompt.spec.kept ?? [])].sort(
    (a, b) => Number(b.finished) - Number(a.finished) || b.tokens - a.tokens || a.index - b.index,
  );
  for (const one of sorted) {
    const oldestVersion = Math.min(...one.weightVersions);
    const { weightVersion } = round;
    const drop = (reason: Extract<AdmissionDecision, { type: 'response.dropped' }>['reason']) => {
      const { requestId, tokens, finished } = one;
      const { promptId } = prompt.spec;
      ctx.emit({ type: 'response.dropped', at: ctx.at, requestId, promptId, tokens, finished, reason });
    };
    const repeated = usable.some((other) => other.index === one.index);
    const limit = one.finished ? responsesPerPrompt : round.responses;
    if (weightVersion - oldestVersion > maxStaleness) {
      drop({ code: 'stale_weights', oldestVersion, weightVersion, maxStaleness });
    } else if (repeated || usable.length >= limit) drop({ code: 'beyond_round', needed: limit });
    else usable.push(one);
  }
  return usable;
}

function placeKept(state: AdmissionState, prompt: PromptState, kept: KeptResponse, ctx: Ctx): void {
  const slot = newSlot(prompt, kept.index);
  slot.resume = kept;
  slot.tokens = kept.tokens;
  slot.weightVersions = kept.weightVersions.slice();
  prompt.startVersion = Math.min(prompt.startVersion, ...kept.weightVersions);
  prompt.slots.push(slot);
  if (!kept.finished) return;
  slot.status = 'held';
  slot.requestId = kept.requestId;
  prompt.held += 1;
  if (kept.reward !== undefined) {
    slot.reward = kept.reward;
    prompt.rewards += 1;
  } else if (state.config.filter === 'zero-variance') {
    ctx.emit({
      type: 'reward.request',
      at: ctx.at,
      requestId: kept.requestId,
      promptId: prompt.spec.promptId,
      reason: { code: 'kept_without_reward' },
    });
  }
}

/** Asks for the prompts that are missing and have not been asked for. */
export function requestMore(state: AdmissionState, code: RequestCode, ctx: Ctx): void {
  const { round } = state;
  if (round === null) return;
  let total = 0;
  const domains: Record<string, number> = {};
  for (const lane of round.lanes) {
    if (lane.exhausted || round.onlyDuplicates || lane.counted === lane.quota) continue;
    const missing = lane.target - lane.admitted - lane.standby.size - lane.awaiting;
    if (missing <= 0) continue;
    lane.awaiting += missing;
    total += missing;
    if (lane.domain !== null) domains[lane.domain] = missing;
  }
  if (total === 0) return;
  const target = round.lanes.reduce((sum, lane) => sum + lane.target, 0);
  const known = round.lanes.reduce((sum, lane) => sum + lane.admitted + lane.standby.size, 0);
  ctx.emit({
    type: 'prompts.request',
    at: ctx.at,
    roundId: round.id,
    count: total,
    ...(Object.keys(domains).length === 0 ? undefined : { domains }),
    reason: code === 'round_opened' ? { code, target, known } : { code, target, admitted: known },
  });
}
