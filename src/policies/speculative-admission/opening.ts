/** Opening a round: prompts carried over come first, then those given, then the rest is asked for. */
import type { Context } from '../../core/definition.ts';
import { Fifo } from '../../core/fifo.ts';
import { scaledCount } from '../../schemas/units.ts';
import type { AdmissionDecision, AdmissionEvent } from './decisions.ts';
import { addPrompt, isSourceExhausted, laneOf } from './intake.ts';
import { defer } from './leave.ts';
import { nameOwed } from './owed.ts';
import { judge } from './progress.ts';
import { usualFactor } from './schema.ts';
import { currentFactor, grid, roundsPerFactor } from './speculation.ts';
import { type AdmissionState, isLive, type Lane, type PromptState, type Round } from './state.ts';

type Ctx = Context<AdmissionDecision>;
type Opening = Extract<AdmissionEvent, { type: 'round.opened' }>;

export function openRound(state: AdmissionState, event: Opening, ctx: Ctx): void {
  const round = newRound(state, event, ctx);
  state.round = round;
  state.rounds += 1;
  state.weightVersion = event.weightVersion;
  state.recentRounds.add(event.roundId);
  const carried = [...state.prompts.values()];
  for (const prompt of carried) readmit(state, prompt, round, ctx);
  for (const prompt of carried) judge(state, prompt, ctx);
  nameOwed(state, 'round_opened', ctx);
  for (const prompt of event.prompts) addPrompt(state, prompt, round, ctx);
  state.unsettled = 'round_opened';
}

function newRound(state: AdmissionState, event: Opening, ctx: Ctx): Round {
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
    lanes: newLanes(state, isShort, forPrompts),
    counted: 0,
    inFlight: 0,
    duplicates: 0,
    onlyDuplicates: false,
  };
}

/** One lane a domain where quotas hold; long rounds take any mix, so that a queue's mix can never block them. */
function newLanes(state: AdmissionState, isShort: boolean, factor: number): Lane[] {
  const { quotas, promptsPerRound } = state.config;
  const domains = Object.keys(quotas ?? {}).sort();
  const isAll = isSourceExhausted(state);
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
  if (isShort && quotas !== undefined) {
    return domains.map((one) => lane(one, quotas[one]!, isAll || state.exhausted.domains.has(one)));
  }
  return [lane(null, promptsPerRound, isAll)];
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
  for (const response of prompt.responses) {
    if (!isLive(response)) continue;
    response.round = round;
    round.inFlight += 1;
    if (response.weightVersions[response.weightVersions.length - 1] !== weightVersion) {
      response.weightVersions = [...response.weightVersions, weightVersion];
    }
  }
}
