/** The words that speculative-admission understands and answers with. */
import * as d from '../../schemas/decisions/index.ts';
import * as e from '../../schemas/events/index.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const admissionEvents = [
  e.roundOpened,
  e.roundFailed,
  e.promptsSupplied,
  e.sourceExhausted,
  e.sourceReopened,
  e.engineAdded,
  e.engineDrained,
  e.engineLost,
  e.enginesChanged,
  e.requestStarted,
  e.requestAborted,
  e.responseCompleted,
  e.responseFailed,
  e.rewardReady,
  d.rewardFailed,
  e.promptJudged,
  e.turnFinished,
  e.environmentWaiting,
  e.environmentResumed,
  e.environmentFailed,
  e.timerFired,
  e.hostRestarted,
] as const;

export const admissionDecisions = [
  d.promptsRequest,
  d.requestLaunch,
  d.requestAbort,
  d.requestResume,
  d.timerSet,
  d.responseAccepted,
  d.responseSurplus,
  d.responseLate,
  d.responseDropped,
  d.responseAbandoned,
  d.rewardRequest,
  d.judgementLate,
  d.requestExpired,
  d.promptCollected,
  d.promptCounted,
  d.promptFiltered,
  d.promptQuarantined,
  d.promptDeferred,
  d.promptCarried,
  d.promptReturned,
  d.promptMerged,
  d.roundCompleted,
  d.roundDrained,
  d.speculationChosen,
] as const;

/** What speculative-admission understands. */
export type AdmissionEvent = Of<(typeof admissionEvents)[number]>;
/** What speculative-admission answers with. */
export type AdmissionDecision = Of<(typeof admissionDecisions)[number]>;
