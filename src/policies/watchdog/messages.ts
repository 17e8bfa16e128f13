/** The messages of other policies that the watchdog follows: those after which something is owed, and those that end this. */
import { requestAdmit } from '../../schemas/decisions/frontier.ts';
import {
  gpusReclaim,
  gpusRelease,
  migrationCancel,
  progressQuery,
  requestMigrate,
} from '../../schemas/decisions/gpus.ts';
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
import { engineLost } from '../../schemas/events/engines.ts';
import {
  gpusReleased,
  gpusReleaseFailed,
  gpusReturned,
  migrationFailed,
  progressReported,
  requestMigrated,
} from '../../schemas/events/gpus.ts';
import {
  nodeLost,
  preprocessFailed,
  samplePreprocessed,
  sliceFailed,
  sliceMaterialized,
} from '../../schemas/events/loading.ts';
import { profileMeasured } from '../../schemas/events/parallelism.ts';
import { updateConsumed, updateLost, weightsPublished } from '../../schemas/events/pipelining.ts';
import {
  programClosed,
  toolFinished,
  toolStarted,
  turnFinished,
  turnRequested,
} from '../../schemas/events/programs.ts';
import { requestAborted, requestStarted, responseCompleted, responseFailed } from '../../schemas/events/requests.ts';
import { rewardFinished, rewardWorkerLost } from '../../schemas/events/reward-workers.ts';
import { promptJudged, rewardReady } from '../../schemas/events/rewards.ts';
import { promptsSupplied, roundFailed, roundRequested, sourceExhausted } from '../../schemas/events/rounds.ts';
import { sandboxFinished } from '../../schemas/events/sandbox.ts';
import { timerFired } from '../../schemas/events/session.ts';
import { slotFailed, slotReady, slotReleased } from '../../schemas/events/slots.ts';
import {
  groupCompleted,
  groupRejected,
  optimizerStepped,
  replicaLost,
  trainConsumed,
  trainFinished,
} from '../../schemas/events/training.ts';

/** Decisions, and reports of the host that are none of what it owes; `timer.set` has its own handler. */
export const decided = [
  gpusReclaim,
  gpusRelease,
  groupDrop,
  groupLaunch,
  judgementRequest,
  migrationCancel,
  optimizerStep,
  profileMeasure,
  programEnded,
  programLate,
  programPause,
  progressQuery,
  promptCollected,
  promptCounted,
  promptDeferred,
  promptFailed,
  promptFiltered,
  promptMerged,
  promptReturned,
  promptsRequest,
  requestAbort,
  requestAdmit,
  requestExpired,
  requestLaunch,
  requestMigrate,
  requestResume,
  responseAccepted,
  responseDropped,
  rewardCancel,
  rewardDispatch,
  rewardFailed,
  rewardRequest,
  roundCompleted,
  roundDrained,
  roundFailed,
  sampleMaterialize,
  samplePrefetch,
  samplePreprocess,
  sandboxRun,
  slotAssign,
  slotDenied,
  slotExpired,
  slotPrewarm,
  slotReclaim,
  trainBatch,
  trainDispatch,
  trainFetch,
  trainFinish,
  turnRoute,
  weightsPublish,
] as const;

/** What the host reports; `timer.fired` has its own handler. */
export const reported = [
  engineLost,
  gpusReleaseFailed,
  gpusReleased,
  gpusReturned,
  groupCompleted,
  groupRejected,
  migrationFailed,
  nodeLost,
  optimizerStepped,
  preprocessFailed,
  profileMeasured,
  programClosed,
  progressReported,
  promptJudged,
  promptsSupplied,
  replicaLost,
  requestAborted,
  requestMigrated,
  requestStarted,
  responseCompleted,
  responseFailed,
  rewardFinished,
  rewardReady,
  rewardWorkerLost,
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

export { timerFired };
