/**
 * Speculative admission (RollPacker §3): a short round launches more prompts and more responses than it needs and
 * keeps the first that finish; what is left is deferred. See README.md.
 */
import { type Context, definePolicyByHand } from '../../core/definition.ts';
import { check } from './check.ts';
import { engineAdded, engineDrained, engineLost, enginesChanged, hostRestarted } from './cluster.ts';
import { newState } from './create.ts';
import { type AdmissionDecision, type AdmissionEvent, admissionDecisions, admissionEvents } from './decisions.ts';
import { exhaust, reopen, supply } from './intake.ts';
import { pump } from './launch.ts';
import { endAbort } from './leave.ts';
import { promptLedger, responseLedger } from './ledgers.ts';
import { load } from './load.ts';
import { openRound } from './opening.ts';
import * as responses from './responses.ts';
import { save } from './save.ts';
import { admissionConfig } from './schema.ts';
import { failRound, settle } from './settle.ts';
import { admissionSnapshot, migrateFromOne } from './snapshot.ts';
import { type AdmissionState, isLive } from './state.ts';
import { takeExpiredAborts, takeTimedOut, timerIds } from './timers.ts';
import * as trajectories from './trajectories.ts';

type Ctx = Context<AdmissionDecision>;

function apply(state: AdmissionState, event: AdmissionEvent, ctx: Ctx): void {
  handle(state, event, ctx);
  settle(state, ctx);
  pump(state, ctx);
}

function handle(state: AdmissionState, event: AdmissionEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'response.completed':
      return responses.completed(state, event, ctx);
    case 'response.failed':
      return responses.failed(state, event.requestId, event.kind, ctx);
    case 'request.aborted':
      return responses.aborted(state, event, ctx);
    case 'request.started':
      return trajectories.started(state, event, ctx);
    case 'reward.ready':
      return responses.rewarded(state, event, ctx);
    case 'reward.failed':
      return responses.unrewarded(state, event.requestId, ctx);
    case 'prompt.judged':
      return responses.judged(state, event, ctx);
    case 'turn.finished':
      return trajectories.turnFinished(state, event, ctx);
    case 'environment.waiting':
      return trajectories.waiting(state, event.requestId, ctx);
    case 'environment.resumed':
      return trajectories.resumed(state, event.requestId, ctx);
    case 'environment.failed':
      return responses.failed(state, event.requestId, 'environment', ctx);
    case 'engine.added':
      return engineAdded(state, event.engineId);
    case 'engine.drained':
      return engineDrained(state, event.engineId);
    case 'engines.changed':
      return enginesChanged(state, event.engineIds);
    case 'engine.lost':
      return engineLost(state, event.engineId, ctx);
    case 'host.restarted':
      return hostRestarted(state, event.idPrefix, ctx);
    case 'timer.fired':
      return event.timerId === timerIds.abortGrace ? expireAborts(state, ctx) : timeOut(state, ctx);
    case 'round.opened':
      return openRound(state, event, ctx);
    case 'round.failed':
      return failRound(state, state.round!, ctx);
    case 'prompts.supplied':
      return supply(state, event.roundId, event.prompts, ctx);
    case 'source.exhausted':
      return exhaust(state, event.domain);
    case 'source.reopened':
      return reopen(state);
  }
}

function expireAborts(state: AdmissionState, ctx: Ctx): void {
  const graceSeconds = state.config.abortGraceSeconds;
  for (const response of takeExpiredAborts(state, ctx)) {
    ctx.emit({
      type: 'request.expired',
      at: ctx.at,
      requestId: response.requestId,
      promptId: response.prompt.spec.promptId,
      reason: { code: 'abort_unconfirmed', graceSeconds },
    });
    endAbort(state, response, undefined, ctx);
  }
}

function timeOut(state: AdmissionState, ctx: Ctx): void {
  const limitSeconds = state.config.responseTimeoutSeconds ?? 0;
  for (const response of takeTimedOut(state, ctx)) {
    // One before it may have taken its whole prompt out.
    if (isLive(response)) responses.timedOut(state, response, limitSeconds, ctx);
  }
}

/** Over-provisions prompts and responses in short rounds and keeps the first that finish. */
export const speculativeAdmission = definePolicyByHand({
  id: 'speculative-admission',
  version: 2,
  summary: 'Launches more prompts and responses than a round needs and keeps the first that finish.',
  source: 'RollPacker §3, §6.3, §7',
  config: admissionConfig,
  events: admissionEvents,
  decisions: admissionDecisions,
  state: admissionSnapshot,
  init: newState,
  check,
  apply,
  save,
  load,
  migrations: { 1: migrateFromOne },
  ledgers: [promptLedger, responseLedger],
});
