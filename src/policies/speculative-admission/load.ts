/** A state that decides just as the saved one would. */

import { Fifo } from '../../core/fifo.ts';
import { RecentIds } from '../../core/recent-ids.ts';
import { newPrompt, newState } from './create.ts';
import { Departures } from './departures.ts';
import { addEngine, reheap, takeSlot } from './engines.ts';
import { heldResponse, inFlight } from './requests.ts';
import type { AdmissionConfig } from './schema.ts';
import type { SavedAdmission, SavedPrompt, SavedResponse, SavedRound } from './snapshot.ts';
import type { AdmissionState, Lane, PromptState, ResponseState, Round } from './state.ts';

export function load(given: SavedAdmission, config: AdmissionConfig): AdmissionState {
  const saved = structuredClone(given);
  const all = saved.round === null ? saved.draining : [...saved.draining, saved.round];
  const rounds = new Map(all.map((one) => [one.id, loadRound(one)]));
  const { exhausted } = saved;
  const state: AdmissionState = {
    ...newState(config),
    round: saved.round === null ? null : rounds.get(saved.round.id)!,
    draining: saved.draining.map((one) => rounds.get(one.id)!),
    recentRounds: new RecentIds(saved.recentRounds),
    timers: saved.timers,
    rounds: saved.rounds,
    seq: saved.seq,
    weightVersion: saved.weightVersion,
    nextAttempt: saved.nextAttempt,
    prefix: saved.prefix,
    oldPrefixes: saved.oldPrefixes,
    restarts: saved.restarts,
    departures: loadDepartures(saved, config),
    exhausted: { all: exhausted.all, domains: new Set(exhausted.domains) },
    exploration: saved.exploration,
  };
  for (const { id, active } of saved.engines) {
    const engine = addEngine(state, id);
    engine.active = active;
    reheap(state, engine);
  }
  for (const one of saved.prompts) {
    const prompt = loadPrompt(state, one, rounds);
    state.prompts.set(prompt.spec.promptId, prompt);
    for (const one of prompt.responses) findElsewhere(state, one);
    if (prompt.status === 'standby') prompt.lane?.standby.push(prompt);
    else if (prompt.status !== 'counted') prompt.lane?.members.add(prompt);
  }
  for (const one of saved.settling) {
    const prompt = loadPrompt(state, one, rounds);
    state.settling.add(prompt);
    for (const response of prompt.responses) findElsewhere(state, response);
  }
  for (const { promptId, response } of saved.aborting) {
    const gone = newPrompt({ promptId }, 0, null, { startVersion: 0, firstPrefix: 0 });
    gone.status = 'gone';
    loadResponse(state, response, gone, rounds);
  }
  fillLines(state);
  return state;
}

function loadDepartures({ departures }: SavedAdmission, { promptsPerRound }: AdmissionConfig): Departures {
  const loaded = new Departures(promptsPerRound, departures.horizon);
  for (const one of departures.launched) loaded.add(one);
  return loaded;
}

/** What is held, and not found by its id. */
function findElsewhere(state: AdmissionState, response: ResponseState): void {
  const { requestId } = response;
  if (response.status === 'held' && heldResponse(state, requestId) !== response) {
    state.elsewhere.set(requestId, response);
  }
}

function loadRound(saved: SavedRound): Round {
  const lanes = saved.lanes.map((lane): Lane => ({ ...lane, standby: new Fifo(), members: new Set() }));
  return { ...saved, weightVersions: [saved.weightVersion], lanes };
}

function loadPrompt(state: AdmissionState, saved: SavedPrompt, rounds: ReadonlyMap<string, Round>): PromptState {
  const lane = saved.lane === null ? null : state.round!.lanes[saved.lane]!;
  const prompt: PromptState = { ...saved, lane, responses: [] } as PromptState;
  for (const one of saved.responses) prompt.responses.push(loadResponse(state, one, prompt, rounds));
  return prompt;
}

function loadResponse(
  state: AdmissionState,
  saved: SavedResponse,
  prompt: PromptState,
  rounds: ReadonlyMap<string, Round>,
): ResponseState {
  const engine = saved.engine === null ? null : (state.engines.get(saved.engine) ?? null);
  const round = saved.round === null ? null : rounds.get(saved.round)!;
  const response: ResponseState = { ...saved, prompt, round, engine, holdsSlot: false };
  if (saved.holdsSlot) takeSlot(state, response, engine);
  if (response.status === 'aborting') state.aborting.set(response.requestId, response);
  return response;
}

/** Builds the lines again, each in the order that its members carry. */
function fillLines(state: AdmissionState): void {
  const byOrder = (a: ResponseState, b: ResponseState) => a.order - b.order;
  const pending = [...state.prompts.values()].flatMap((prompt) =>
    prompt.responses.filter((one) => one.status === 'pending'),
  );
  for (const response of pending.sort(byOrder)) {
    (response.cause === 'planned' ? state.launches : state.retries).push(response);
  }
  const requests = inFlight(state).sort(byOrder);
  for (const response of requests) {
    if (response.status === 'resuming') state.resumes.push({ response, order: response.order });
    else if (response.status === 'aborting') state.aborts.push(response);
  }
  if (state.config.responseTimeoutSeconds === undefined) return;
  for (const response of requests.sort((a, b) => a.since - b.since)) {
    state.deadlines.push({ response, requestId: response.requestId });
  }
}
