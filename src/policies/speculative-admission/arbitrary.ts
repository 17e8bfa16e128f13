/** Likely next events, for property tests: mostly usual ones, sometimes late, repeated or odd ones. */

import { type Choices, pick } from '../../core/generators/choices.ts';
import type { SpeculativeAdmissionEvent } from '../../generated/settings/speculative-admission.ts';
import { pauses } from './faults.ts';
import { timeouts } from './launch.ts';
import { grace, inFlight } from './requests.ts';
import type { AdmissionState, ResponseState } from './state.ts';

function promptsFor(state: AdmissionState, choices: Choices, most: number) {
  const domains = Object.keys(state.config.quotas ?? {}).sort();
  return Array.from({ length: choices.below(most + 1) }, () => {
    // The space of ids is small, so that prompts come again, as in later epochs and with duplicate rows.
    const promptId = `p${choices.below(12)}`;
    const domain = pick(domains, choices);
    return domain === undefined ? { promptId, promptTokens: 10 * choices.below(5) } : { promptId, domain };
  });
}

/** Draws a likely next event. */
export function arbitrary(state: AdmissionState, choices: Choices): SpeculativeAdmissionEvent {
  const at = choices.below(4) === 0 ? choices.below(200) : choices.below(5) + state.seq;
  const { round } = state;
  if (round === null && choices.below(3) > 0) {
    return {
      type: 'round.opened',
      at,
      roundId: `r${state.rounds}`,
      kind: choices.below(3) === 0 ? 'long' : 'short',
      weightVersion: state.weightVersion + choices.below(2),
      prompts: promptsFor(state, choices, state.config.promptsPerRound * 2),
    };
  }
  const awaiting = round?.quotas.some((quota) => quota.awaiting > 0) ?? false;
  if (round !== null && (awaiting ? choices.below(3) === 0 : choices.below(12) === 0)) {
    return { type: 'prompts.supplied', at, roundId: round.id, prompts: promptsFor(state, choices, 4) };
  }
  const request = pick([...inFlight(state)], choices);
  if (request === undefined || choices.below(6) === 0) return rareEvent(state, choices, at);
  return requestEvent(state, request, choices, at);
}

function requestEvent(
  state: AdmissionState,
  { requestId, status, tokens: before, weightVersions }: ResponseState,
  choices: Choices,
  at: number,
): SpeculativeAdmissionEvent {
  const tokens = before + choices.below(50);
  switch (choices.below(14)) {
    case 0:
      return { type: 'response.failed', at, requestId, kind: choices.below(4) === 0 ? 'data' : 'infrastructure' };
    case 1:
      return { type: 'turn.finished', at, requestId, tokens };
    case 2:
      return { type: 'response.failed', at, requestId, kind: 'environment' };
    case 3:
    case 4:
      if (status === 'running') return { type: 'tool.started', at, requestId, tool: 'bash' };
      if (status === 'waiting') return { type: 'tool.finished', at, requestId, outcome: 'success' };
      return { type: 'request.aborted', at, requestId, tokens, ...said(choices, weightVersions) };
    case 5: {
      const engineId = pick([...state.engines.keys()], choices);
      if (engineId === undefined) return { type: 'request.aborted', at, requestId };
      return { type: 'request.started', at, requestId, engineId };
    }
    default:
      return {
        type: status === 'aborting' && choices.below(4) > 0 ? 'request.aborted' : 'response.completed',
        at,
        requestId,
        tokens,
        ...said(choices, weightVersions),
      };
  }
}

/** What an engine reports about its weights: mostly nothing or the requested version; sometimes other versions. */
function said(choices: Choices, [version = 0]: readonly number[]): { weightVersions?: number[] } {
  if (choices.below(3) > 0) return {};
  const other = Math.max(0, version + choices.below(6) - 3);
  return { weightVersions: choices.below(2) === 0 ? [other] : [other, version] };
}

function rareEvent(state: AdmissionState, choices: Choices, at: number): SpeculativeAdmissionEvent {
  const held = [...state.prompts.values(), ...state.settling].flatMap((prompt) =>
    prompt.responses.filter((one) => one.status === 'held'),
  );
  const collected = [...state.prompts.values()].filter((prompt) => prompt.status === 'collected');
  const one = pick(held, choices);
  const roundId = state.recentRounds.newest;
  const engineId = `e${choices.below(3)}`;
  const judged = pick(collected, choices);
  if (judged !== undefined && state.config.filter === 'host' && roundId !== undefined && choices.below(2) === 0) {
    return { type: 'prompt.judged', at, roundId, promptId: judged.spec.promptId, keep: choices.below(3) > 0 };
  }
  switch (choices.below(14)) {
    case 0:
      return { type: 'engine.lost', at, engineId };
    case 1:
      if (choices.below(3) === 0) return { type: 'engines.changed', at, engineIds: [engineId] };
      return { type: 'engine.drained', at, engineId };
    case 2:
      return choices.below(4) === 0 ? { type: 'source.exhausted', at } : { type: 'source.reopened', at };
    case 3:
      return { type: 'timer.fired', at: at + 40, timerId: grace.timerId };
    case 4:
      return { type: 'timer.fired', at: at + 40, timerId: timeouts.timerId };
    case 5:
      if (choices.below(3) > 0 || roundId === undefined) break;
      return { type: 'round.failed', at, roundId };
    case 6:
      if (choices.below(3) > 0) break;
      return { type: 'host.restarted', at, idPrefix: `h${state.restarts}-` };
    case 8:
      return { type: 'timer.fired', at: at + choices.below(70), timerId: pauses.timerId };
    case 9:
      if (one === undefined) break;
      if (choices.below(2) === 0) return { type: 'reward.failed', at, requestId: one.requestId, kind: 'judge' };
      return { type: 'response.failed', at, requestId: one.requestId, kind: 'environment' };
    case 7:
      // Late or repeated: the response is over.
      if (one === undefined) break;
      return { type: 'response.completed', at, requestId: one.requestId, tokens: one.tokens };
    default:
      if (one === undefined) break;
      return { type: 'reward.ready', at, requestId: one.requestId, reward: choices.below(2) };
  }
  return { type: 'engine.added', at, engineId };
}
