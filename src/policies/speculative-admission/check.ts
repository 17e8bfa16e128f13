/** Which events fit the state. Nothing is changed here. */
import { checkNewPrefix } from '../../core/minted-ids.ts';
import { refuse } from '../../errors.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import type { AdmissionEvent } from './decisions.ts';
import { isSourceExhausted } from './intake.ts';
import { wasMinted } from './minted.ts';
import { findRequest, heldResponse } from './requests.ts';
import { type AdmissionState, isLive, type ResponseState } from './state.ts';
import { timerIds } from './timers.ts';

/** Refuses an event that does not fit. */
export function check(state: AdmissionState, event: AdmissionEvent): void {
  switch (event.type) {
    case 'round.opened':
      checkOpening(state, event);
      return;
    case 'round.failed':
      if (state.round?.id === event.roundId) return;
      return refuse(
        'out_of_order',
        'roundId',
        state.round === null ? 'an open round' : `the open round ${state.round.id}`,
        event.roundId,
      );
    case 'prompts.supplied':
      checkRound(state, event.roundId);
      if (state.round?.id === event.roundId) checkDomains(state, event.prompts);
      return;
    case 'prompt.judged':
      checkJudgement(state, event);
      return;
    case 'source.exhausted':
      checkDomain(state, event.domain, 'domain');
      return;
    case 'engine.drained':
    case 'engine.lost':
      checkEngine(state, event.engineId);
      return;
    case 'request.started':
      checkRequestId(state, event.requestId);
      if (state.config.placement === 'policy') checkEngine(state, event.engineId);
      return;
    case 'reward.ready':
    case 'reward.failed':
      checkReward(state, event.requestId);
      return;
    case 'environment.waiting':
    case 'environment.resumed':
      checkStatus(state, event.type, event.requestId);
      return;
    case 'request.aborted':
    case 'response.completed':
    case 'response.failed':
    case 'turn.finished':
    case 'environment.failed':
      checkRequestId(state, event.requestId);
      return;
    case 'timer.fired':
      if (Object.values(timerIds).includes(event.timerId as never)) return;
      return refuse('unknown_id', 'timerId', `one of ${Object.values(timerIds).join(', ')}`, event.timerId);
    case 'host.restarted':
      return checkNewPrefix(state, event.idPrefix);
    default:
  }
}

function checkOpening(state: AdmissionState, event: Extract<AdmissionEvent, { type: 'round.opened' }>): void {
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
    refuse('out_of_order', 'weightVersion', `a weight version >= ${state.weightVersion}`, event.weightVersion);
  }
  const waiting = state.settling.values().next().value?.spec.promptId;
  const isEmpty = event.prompts.length === 0 && state.prompts.size === 0 && isSourceExhausted(state);
  if (isEmpty && waiting !== undefined) {
    // There will be something to open it with.
    refuse(
      'out_of_order',
      'roundId',
      `the aborts of prompt ${waiting} to be confirmed first: it is the last there is`,
      event.roundId,
    );
  }
  checkDomains(state, event.prompts);
}

function checkRound(state: AdmissionState, roundId: string): void {
  if (state.recentRounds.has(roundId)) return;
  refuse(
    state.rounds === 0 ? 'out_of_order' : 'unknown_id',
    'roundId',
    state.rounds === 0 ? 'a round to be opened first' : 'the id of a round that was opened',
    roundId,
  );
}

function checkDomains(state: AdmissionState, prompts: readonly Prompt[]): void {
  if (state.config.quotas === undefined) return;
  prompts.forEach((prompt, index) => {
    checkDomain(state, prompt.domain ?? '', `prompts[${index}].domain`);
  });
}

function checkDomain(state: AdmissionState, domain: string | undefined, path: string): void {
  const { quotas } = state.config;
  if (domain === undefined || quotas === undefined || Object.hasOwn(quotas, domain)) return;
  refuse('invalid_event', path, `a domain with a quota: ${Object.keys(quotas).sort().join(', ')}`, domain);
}

function checkJudgement(state: AdmissionState, event: Extract<AdmissionEvent, { type: 'prompt.judged' }>): void {
  if (state.config.filter !== 'host') refuse('invalid_event', 'keep', 'filter `host`', state.config.filter);
  checkRound(state, event.roundId);
  const status = state.prompts.get(event.promptId)?.status;
  if (status !== 'active' && status !== 'standby') return;
  refuse('out_of_order', 'promptId', 'a judgement after prompt.collected', event.promptId);
}

function checkEngine(state: AdmissionState, engineId: string): void {
  if (state.engines.has(engineId)) return;
  refuse('unknown_id', 'engineId', 'an engine that was added', engineId);
}

/** Refuses ids that were never minted; gives the request, if it is in flight. */
function checkRequestId(state: AdmissionState, requestId: string): ResponseState | undefined {
  const response = findRequest(state, requestId);
  if (response !== undefined || wasMinted(state, requestId)) return response;
  refuse('unknown_id', 'requestId', 'the id of a request that was launched', requestId);
}

function checkReward(state: AdmissionState, requestId: string): void {
  if (heldResponse(state, requestId) !== undefined) return;
  const response = checkRequestId(state, requestId);
  if (response === undefined || !isLive(response)) return;
  refuse('out_of_order', 'requestId', 'a reward after response.completed', requestId);
}

function checkStatus(state: AdmissionState, type: string, requestId: string): void {
  const status = checkRequestId(state, requestId)?.status;
  if (status === undefined || status === 'aborting') return;
  if (type === 'environment.waiting' ? status === 'running' : status === 'waiting') return;
  refuse(
    'out_of_order',
    'requestId',
    type === 'environment.waiting' ? 'a request that is running' : 'a request whose environment is waiting',
    `${requestId} (${status})`,
  );
}
