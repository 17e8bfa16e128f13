/**
 * Speculative admission (RollPacker §3): a short round launches more prompts and more responses than it needs and
 * keeps the first that finish; what is left is deferred. See README.md.
 */
import { type Context, definePolicy } from '../../core/definition.ts';
import { arbitrary } from './arbitrary.ts';
import { check } from './check.ts';
import { engineAdded, engineDrained, engineLost, hostRestarted } from './cluster.ts';
import { type AdmissionDecision, type AdmissionEvent, admissionDecisions, admissionEvents } from './decisions.ts';
import { pump } from './launch.ts';
import { promptLedger, responseLedger } from './ledgers.ts';
import { failRound } from './progress.ts';
import { endAbort } from './requests.ts';
import * as responses from './responses.ts';
import { admissionConfig } from './schema.ts';
import { admissionSnapshot, load, save } from './snapshot.ts';
import { type AdmissionState, newState } from './state.ts';
import { exhaust, openRound, supply } from './supply.ts';
import { takeExpiredAborts, takeTimedOut, timerIds } from './timers.ts';

function apply(state: AdmissionState, event: AdmissionEvent, ctx: Context<AdmissionDecision>): void {
  switch (event.type) {
    case 'response.completed':
      return responses.completed(state, event, ctx);
    case 'response.failed':
      return responses.failed(state, event.requestId, event.kind, ctx);
    case 'request.aborted':
      return responses.aborted(state, event, ctx);
    case 'request.started':
      return responses.started(state, event, ctx);
    case 'reward.ready':
      return responses.rewarded(state, event, ctx);
    case 'prompt.judged':
      return responses.judged(state, event, ctx);
    case 'turn.finished':
      return responses.turnFinished(state, event, ctx);
    case 'environment.waiting':
      return responses.waiting(state, event.requestId, ctx);
    case 'environment.resumed':
      return responses.resumed(state, event.requestId, ctx);
    case 'environment.failed':
      return responses.failed(state, event.requestId, 'environment', ctx);
    case 'engine.added':
      return engineAdded(state, event.engineId, ctx);
    case 'engine.drained':
      return engineDrained(state, event.engineId);
    case 'engine.lost':
      return engineLost(state, event.engineId, ctx);
    case 'host.restarted':
      return hostRestarted(state, event.idPrefix, ctx);
    case 'timer.fired':
      return fire(state, event.timerId, ctx);
    case 'round.opened':
      openRound(state, event, ctx);
      break;
    case 'round.failed':
      failRound(state, state.round!, ctx);
      break;
    case 'prompts.supplied':
      supply(state, event.roundId, event.prompts, ctx);
      break;
    case 'source.exhausted':
      exhaust(state, event.domain, ctx);
      break;
    case 'source.reopened':
      state.exhausted.all = false;
      state.exhausted.domains.clear();
      break;
  }
  pump(state, ctx);
}

function fire(state: AdmissionState, timerId: string, ctx: Context<AdmissionDecision>): void {
  if (timerId === timerIds.abortGrace) {
    const graceSeconds = state.config.abortGraceSeconds;
    for (const request of takeExpiredAborts(state, ctx)) {
      ctx.emit({
        type: 'request.expired',
        at: ctx.at,
        requestId: request.id,
        promptId: request.promptId,
        reason: { code: 'abort_unconfirmed', graceSeconds },
      });
      endAbort(state, request, undefined, ctx);
    }
  } else {
    const limitSeconds = state.config.responseTimeoutSeconds ?? 0;
    for (const request of takeTimedOut(state, ctx)) {
      // A response before it may have taken its whole prompt out.
      if (request.phase !== 'aborting') responses.timedOut(state, request, limitSeconds, ctx);
    }
  }
  pump(state, ctx);
}

/** Over-provisions prompts and responses in short rounds and keeps the first that finish. */
export const speculativeAdmission = definePolicy({
  id: 'speculative-admission',
  version: 1,
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
  ledgers: [promptLedger, responseLedger],
  arbitrary,
});
