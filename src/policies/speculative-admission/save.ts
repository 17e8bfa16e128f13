/** The whole state as JSON, sharing nothing with it. */
import { engineOf } from './engines.ts';
import type { SavedAdmission, SavedPrompt, SavedResponse, SavedRound } from './snapshot.ts';
import type { AdmissionState, PromptState, ResponseState, Round } from './state.ts';

export function save(state: AdmissionState): SavedAdmission {
  const { round, exploration } = state;
  const detached = [...state.aborting.values()]
    .filter((response) => !isKnown(state, response))
    .sort((a, b) => a.order - b.order);
  return structuredClone({
    round: round && saveRound(round),
    draining: state.draining.map(saveRound),
    recentRounds: [...state.recentRounds],
    prompts: [...state.prompts.values()].map((prompt) => savePrompt(state, prompt)),
    settling: [...state.settling].map((prompt) => savePrompt(state, prompt)),
    aborting: detached.map((response) => ({
      promptId: response.prompt.spec.promptId,
      response: saveResponse(state, response),
    })),
    engines: [...state.engines.values()].map(({ id, active }) => ({ id, active })),
    timers: state.timers,
    rounds: state.rounds,
    seq: state.seq,
    weightVersion: state.weightVersion,
    nextAttempt: state.nextAttempt,
    prefix: state.prefix,
    oldPrefixes: state.oldPrefixes,
    restarts: state.restarts,
    departures: { horizon: state.departures.horizon, launched: [...state.departures] },
    exhausted: { all: state.exhausted.all, domains: [...state.exhausted.domains].sort() },
    exploration,
  });
}

/** Whether a response stands in a prompt that is saved. */
function isKnown(state: AdmissionState, response: ResponseState): boolean {
  const { prompt } = response;
  const isHere = state.prompts.get(prompt.spec.promptId) === prompt || state.settling.has(prompt);
  return isHere && prompt.responses.includes(response);
}

function saveRound(round: Round): SavedRound {
  const { weightVersions: _, ...rest } = round;
  return { ...rest, lanes: round.lanes.map(({ standby: _s, members: _m, ...lane }) => lane) };
}

function savePrompt(state: AdmissionState, prompt: PromptState): SavedPrompt {
  const lane = prompt.lane === null ? null : state.round!.lanes.indexOf(prompt.lane);
  const responses = prompt.responses.map((response) => saveResponse(state, response));
  return { ...prompt, lane, responses, status: prompt.status as SavedPrompt['status'] };
}

function saveResponse(state: AdmissionState, response: ResponseState): SavedResponse {
  const { prompt: _, ...rest } = response;
  const engine = engineOf(state, response)?.id ?? null;
  const weightVersions = [...response.weightVersions];
  return { ...rest, round: response.round?.id ?? null, engine, weightVersions };
}
