/** Which events fit the state. Nothing is changed here. */
import { checkNewPrefix } from '../../core/prefix.ts';
import { PolicyError } from '../../errors.ts';
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
      throw new PolicyError('out_of_order', {
        expected: state.round === null ? 'an open round' : `the open round ${state.round.id}`,
        got: event.roundId,
        path: 'roundId',
      });
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
      throw new PolicyError('unknown_id', {
        expected: `one of ${Object.values(timerIds).join(', ')}`,
        got: event.timerId,
        path: 'timerId',
      });
    case 'host.restarted':
      return checkNewPrefix(state, event.idPrefix);
    default:
  }
}

function checkOpening(state: AdmissionState, event: Extract<AdmissionEvent, { type: 'round.opened' }>): void {
  const refuse = (expected: string, got: unknown, path: string): never => {
    throw new PolicyError('out_of_order', { expected, got, path });
  };
  if (state.round !== null) refuse(`round ${state.round.id} to be completed first`, event.roundId, 'roundId');
  if (state.draining.length > 0 && !state.config.allowOverlap) {
    refuse(`round ${state.draining[0]!.id} to be drained first (or allowOverlap)`, event.roundId, 'roundId');
  }
  if (state.recentRounds.has(event.roundId)) {
    throw new PolicyError('duplicate_id', { expected: 'a new round id', got: event.roundId, path: 'roundId' });
  }
  if (event.weightVersion < state.weightVersion) {
    refuse(`a weight version >= ${state.weightVersion}`, event.weightVersion, 'weightVersion');
  }
  const waiting = state.settling.values().next().value?.spec.promptId;
  const isEmpty = event.prompts.length === 0 && state.prompts.size === 0 && isSourceExhausted(state);
  if (isEmpty && waiting !== undefined) {
    // There will be something to open it with.
    refuse(`the aborts of prompt ${waiting} to be confirmed first: it is the last there is`, event.roundId, 'roundId');
  }
  checkDomains(state, event.prompts);
}

function checkRound(state: AdmissionState, roundId: string): void {
  if (state.recentRounds.has(roundId)) return;
  throw new PolicyError(state.rounds === 0 ? 'out_of_order' : 'unknown_id', {
    expected: state.rounds === 0 ? 'a round to be opened first' : 'the id of a round that was opened',
    got: roundId,
    path: 'roundId',
  });
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
  const expected = `a domain with a quota: ${Object.keys(quotas).sort().join(', ')}`;
  throw new PolicyError('invalid_event', { expected, got: domain, path });
}

function checkJudgement(state: AdmissionState, event: Extract<AdmissionEvent, { type: 'prompt.judged' }>): void {
  if (state.config.filter !== 'host') {
    throw new PolicyError('invalid_event', { expected: 'filter `host`', got: state.config.filter, path: 'keep' });
  }
  checkRound(state, event.roundId);
  const status = state.prompts.get(event.promptId)?.status;
  if (status !== 'active' && status !== 'standby') return;
  throw new PolicyError('out_of_order', {
    expected: 'a judgement after prompt.collected',
    got: event.promptId,
    path: 'promptId',
  });
}

function checkEngine(state: AdmissionState, engineId: string): void {
  if (state.engines.has(engineId)) return;
  throw new PolicyError('unknown_id', { expected: 'an engine that was added', got: engineId, path: 'engineId' });
}

/** Refuses ids that were never minted; gives the request, if it is in flight. */
function checkRequestId(state: AdmissionState, requestId: string): ResponseState | undefined {
  const response = findRequest(state, requestId);
  if (response !== undefined || wasMinted(state, requestId)) return response;
  throw new PolicyError('unknown_id', {
    expected: 'the id of a request that was launched',
    got: requestId,
    path: 'requestId',
  });
}

function checkReward(state: AdmissionState, requestId: string): void {
  if (heldResponse(state, requestId) !== undefined) return;
  const response = checkRequestId(state, requestId);
  if (response === undefined || !isLive(response)) return;
  throw new PolicyError('out_of_order', {
    expected: 'a reward after response.completed',
    got: requestId,
    path: 'requestId',
  });
}

function checkStatus(state: AdmissionState, type: string, requestId: string): void {
  const status = checkRequestId(state, requestId)?.status;
  if (status === undefined || status === 'aborting') return;
  if (type === 'environment.waiting' ? status === 'running' : status === 'waiting') return;
  throw new PolicyError('out_of_order', {
    expected: type === 'environment.waiting' ? 'a request that is running' : 'a request whose environment is waiting',
    got: `${requestId} (${status})`,
    path: 'requestId',
  });
}
