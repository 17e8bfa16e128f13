/**
 * Speculative admission (RollPacker §3): a short round launches more prompts and more responses than it needs and keeps the first
 * that finish; the remaining prompts are deferred. See README.md.
 */

import { checkNewPrefix } from '../../core/ids/minted-ids.ts';
import { definePolicy, type HeldLedger, handlersOf, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import { checkTimer, timerFired as noteFired } from '../../core/rollout/deadlines.ts';
import { changeEngines, checkEngine } from '../../core/rollout/engines.ts';
import type {
  SpeculativeAdmissionConfig,
  SpeculativeAdmissionDecision,
  SpeculativeAdmissionTypes,
} from '../../generated/settings/speculative-admission.ts';
import { rewardFailed } from '../../schemas/decisions/reward-workers.ts';
import { engineAdded, engineDrained, engineLost, enginesChanged } from '../../schemas/events/engines.ts';
import { toolFinished, toolStarted, turnFinished } from '../../schemas/events/programs.ts';
import {
  requestAborted,
  requestProgressed,
  requestStarted,
  responseCompleted,
  responseFailed,
} from '../../schemas/events/requests.ts';
import { promptJudged, rewardReady } from '../../schemas/events/rewards.ts';
import {
  promptsSupplied,
  roundFailed,
  roundOpened,
  sourceExhausted,
  sourceReopened,
} from '../../schemas/events/rounds.ts';
import { hostRestarted, timerFired } from '../../schemas/events/session.ts';
import { finishedIds, requestIds } from '../../schemas/moves.ts';
import { pauses, settleFaults, suspendWhereTriesFail } from './faults.ts';
import { pump, timeouts } from './launch.ts';
import * as prompts from './prompts.ts';
import * as reports from './reports.ts';
import { checkRequestId, grace, link } from './requests.ts';
import * as rounds from './rounds.ts';
import { admissionConfig, admissionDecisions, mostResponses } from './schema.ts';
import { type AdmissionState, admissionState, begin, type SavedAdmission } from './state.ts';
import { unpark } from './tries.ts';
import { gates, waits } from './waits.ts';

/** The deadlines, each with a timer. */
const deadlines = [grace, timeouts, pauses];
const never = Number.POSITIVE_INFINITY;
/** Time of the first deadline. Whatever sets a deadline forgets the time. */
const dueAt = (state: AdmissionState): number =>
  state.dueAt ?? deadlines.reduce((first, one) => Math.min(first, one.first(state) ?? never), never);

const on = handlersOf<AdmissionState, SpeculativeAdmissionDecision>();
const handlers = [
  on(roundOpened, rounds.openRound, rounds.checkOpening),
  on(roundFailed, rounds.failRound, rounds.checkFailing),
  on(promptsSupplied, rounds.supply, rounds.checkSupply),
  on(sourceExhausted, rounds.exhaust, (state, { domain }) => rounds.checkDomain(state, domain, 'domain')),
  on(sourceReopened, rounds.reopen),
  on(engineAdded, reports.engineAdded),
  on(engineDrained, reports.engineDrained, checkEngine),
  on(engineLost, reports.engineLost, checkEngine),
  on(enginesChanged, changeEngines(reports.engineAdded, reports.engineDrained)),
  on(requestStarted, reports.started, reports.checkStart),
  on(requestAborted, reports.aborted, checkRequestId),
  on(responseCompleted, reports.completed, checkRequestId),
  on(responseFailed, reports.failed, checkRequestId),
  on(rewardReady, prompts.rewarded, prompts.checkReward),
  on(rewardFailed, prompts.unrewarded, prompts.checkReward),
  on(promptJudged, prompts.judged, prompts.checkJudgement),
  on([requestProgressed, turnFinished], reports.progressed, checkRequestId),
  on(toolStarted, reports.toolStarted, reports.checkToolStart),
  on(toolFinished, reports.toolFinished, reports.checkToolEnd),
  on(timerFired, noteFired(...deadlines), checkTimer(...deadlines)),
  on(hostRestarted, reports.hostRestarted, checkNewPrefix),
];

const held = ({ prompts, settling }: SavedAdmission) => [...prompts, ...settling];
type AdmissionLedger = HeldLedger<SavedAdmission, SpeculativeAdmissionConfig>;
const promptLedger: AdmissionLedger = {
  name: 'prompts',
  held: (saved) => held(saved).map((one) => one.spec.promptId),
  mints: mostResponses,
};
const responseLedger: AdmissionLedger = {
  name: 'responses',
  held: (saved) =>
    held(saved).flatMap(({ status, spec, responses }) =>
      status === 'standby' ? finishedIds(spec) : requestIds(responses.filter((one) => one.status === 'held')),
    ),
};

/** Over-provisions prompts and responses in short rounds and keeps the first that finish. */
export const speculativeAdmission: PolicyDefinitionOf<SpeculativeAdmissionTypes, AdmissionState, SavedAdmission> =
  definePolicy({
    id: 'speculative-admission',
    version: 5,
    summary: 'Launches more prompts and responses than a round needs and keeps the first that finish.',
    source: 'RollPacker §3, §6.3, §7',
    config: admissionConfig,
    state: admissionState,
    begin,
    link,
    handlers,
    after: (state, ctx) => {
      if (dueAt(state) <= ctx.at) reports.endOverdue(state, ctx);
      settleFaults(state, ctx);
      rounds.settle(state, ctx);
      if (state.mayUnpark) unpark(state);
      pump(state, ctx);
      if (suspendWhereTriesFail(state, ctx)) pump(state, ctx);
      // Where all remaining prompts have failed, one more prompt is started; each suspension has only a few of these.
      while (state.unsettled !== null) {
        rounds.settle(state, ctx);
        pump(state, ctx);
      }
      state.faults.dropDue(ctx.at);
      state.dueAt = never;
      for (const one of deadlines) state.dueAt = Math.min(state.dueAt, one.arm(state, ctx) ?? never);
    },
    dueAt: (state) => {
      const due = dueAt(state);
      return due === never ? undefined : due;
    },
    decisions: admissionDecisions,
    ledgers: [promptLedger, responseLedger],
    waits,
    gates,
  });
