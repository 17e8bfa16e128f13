/** The messages of other policies that the watchdog follows: requests, answers, and messages that make an answer needless. */
import { requestAdmit } from '../../schemas/decisions/frontier.ts';
import { gpusReclaim, gpusRelease, progressQuery, requestMigrate } from '../../schemas/decisions/gpus.ts';
import { sampleMaterialize, samplePrefetch, samplePreprocess } from '../../schemas/decisions/loading.ts';
import { groupDrop, groupLaunch, trainBatch } from '../../schemas/decisions/pacing.ts';
import { profileMeasure } from '../../schemas/decisions/parallelism.ts';
import { trainDispatch, weightsPublish } from '../../schemas/decisions/pipelining.ts';
import { programEnded, programLate, programPause, turnRoute } from '../../schemas/decisions/programs.ts';
import {
  promptCollected,
  promptCounted,
  promptDeferred,
  promptFailed,
  promptFiltered,
  promptMerged,
  promptReturned,
} from '../../schemas/decisions/prompts.ts';
import {
  requestAbort,
  requestExpired,
  requestLaunch,
  requestResume,
  responseAccepted,
  responseDropped,
} from '../../schemas/decisions/requests.ts';
import { rewardCancel, rewardDispatch, rewardFailed } from '../../schemas/decisions/reward-workers.ts';
import { judgementRequest, rewardRequest } from '../../schemas/decisions/rewards.ts';
import { promptsRequest, roundCompleted, roundDrained } from '../../schemas/decisions/rounds.ts';
import { sandboxRun } from '../../schemas/decisions/sandbox.ts';
import { slotAssign, slotDenied, slotExpired, slotPrewarm, slotReclaim } from '../../schemas/decisions/slots.ts';
import { optimizerStep, trainFetch, trainFinish } from '../../schemas/decisions/training.ts';
import {
  gpusReleased,
  gpusReleaseFailed,
  gpusReturned,
  migrationFailed,
  progressReported,
  requestMigrated,
} from '../../schemas/events/gpus.ts';
import { preprocessFailed, samplePreprocessed, sliceFailed, sliceMaterialized } from '../../schemas/events/loading.ts';
import { profileMeasured } from '../../schemas/events/parallelism.ts';
import { updateConsumed, updateLost, weightsPublished } from '../../schemas/events/pipelining.ts';
import {
  programClosed,
  toolFinished,
  toolStarted,
  turnFinished,
  turnRequested,
} from '../../schemas/events/programs.ts';
import { requestAborted, responseCompleted, responseFailed } from '../../schemas/events/requests.ts';
import { rewardFinished } from '../../schemas/events/reward-workers.ts';
import { promptJudged, rewardReady } from '../../schemas/events/rewards.ts';
import { promptsSupplied, roundRequested, sourceExhausted } from '../../schemas/events/rounds.ts';
import { sandboxFinished } from '../../schemas/events/sandbox.ts';
import { timerFired } from '../../schemas/events/session.ts';
import { slotFailed, slotReady, slotReleased } from '../../schemas/events/slots.ts';
import {
  groupCompleted,
  groupRejected,
  optimizerStepped,
  trainConsumed,
  trainFinished,
} from '../../schemas/events/training.ts';

/** Decisions that are answered; `timer.set` has its own handler. */
export const asked = [
  gpusReclaim,
  gpusRelease,
  groupLaunch,
  judgementRequest,
  optimizerStep,
  profileMeasure,
  progressQuery,
  promptCollected,
  promptsRequest,
  requestAbort,
  requestAdmit,
  requestLaunch,
  requestMigrate,
  requestResume,
  responseAccepted,
  rewardCancel,
  rewardDispatch,
  rewardRequest,
  roundDrained,
  sampleMaterialize,
  samplePrefetch,
  samplePreprocess,
  sandboxRun,
  slotAssign,
  slotPrewarm,
  slotReclaim,
  trainBatch,
  trainDispatch,
  trainFetch,
  trainFinish,
  turnRoute,
  weightsPublish,
] as const;

/** Events that answer these decisions; `timer.fired` has its own handler. */
export const answering = [
  gpusReleaseFailed,
  gpusReleased,
  gpusReturned,
  groupCompleted,
  groupRejected,
  migrationFailed,
  optimizerStepped,
  preprocessFailed,
  profileMeasured,
  programClosed,
  progressReported,
  promptJudged,
  promptsSupplied,
  requestAborted,
  requestMigrated,
  responseCompleted,
  responseFailed,
  rewardFinished,
  rewardReady,
  roundRequested,
  samplePreprocessed,
  sandboxFinished,
  sliceFailed,
  sliceMaterialized,
  slotFailed,
  slotReady,
  slotReleased,
  sourceExhausted,
  toolFinished,
  toolStarted,
  trainConsumed,
  trainFinished,
  turnFinished,
  turnRequested,
  updateConsumed,
  updateLost,
  weightsPublished,
] as const;

/** Decisions after which neither the judgement of a prompt nor rewards of its dropped responses are awaited. */
export const dropping = [
  promptCounted,
  promptDeferred,
  promptFailed,
  promptFiltered,
  promptMerged,
  promptReturned,
] as const;

/** Decisions on one response after which its reward is not awaited. */
export const unrewarded = [responseDropped, rewardFailed] as const;

export {
  groupDrop,
  programEnded,
  programLate,
  programPause,
  requestExpired,
  roundCompleted,
  slotDenied,
  slotExpired,
  timerFired,
};
