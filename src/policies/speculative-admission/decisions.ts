/** The words that speculative-admission understands and answers with. */
import {
  promptCarried,
  promptCollected,
  promptCounted,
  promptDeferred,
  promptFiltered,
  promptMerged,
  promptQuarantined,
  promptReturned,
} from '../../schemas/decisions/prompts.ts';
import {
  requestAbort,
  requestExpired,
  requestLaunch,
  requestResume,
  responseAbandoned,
  responseAccepted,
  responseDropped,
  responseLate,
  responseSurplus,
} from '../../schemas/decisions/requests.ts';
import { rewardFailed } from '../../schemas/decisions/reward-workers.ts';
import { judgementLate, judgementRequest, rewardRequest } from '../../schemas/decisions/rewards.ts';
import { promptsRequest, roundCompleted, roundDrained, speculationChosen } from '../../schemas/decisions/rounds.ts';
import { timerSet } from '../../schemas/decisions/session.ts';
import { engineAdded, engineDrained, engineLost, enginesChanged } from '../../schemas/events/engines.ts';
import {
  environmentFailed,
  environmentResumed,
  environmentWaiting,
  requestAborted,
  requestStarted,
  responseCompleted,
  responseFailed,
  turnFinished,
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
import type { Of } from '../../schemas/vocabulary.ts';

export const admissionEvents = [
  roundOpened,
  roundFailed,
  promptsSupplied,
  sourceExhausted,
  sourceReopened,
  engineAdded,
  engineDrained,
  engineLost,
  enginesChanged,
  requestStarted,
  requestAborted,
  responseCompleted,
  responseFailed,
  rewardReady,
  rewardFailed,
  promptJudged,
  turnFinished,
  environmentWaiting,
  environmentResumed,
  environmentFailed,
  timerFired,
  hostRestarted,
] as const;

export const admissionDecisions = [
  promptsRequest,
  requestLaunch,
  requestAbort,
  requestResume,
  timerSet,
  responseAccepted,
  responseSurplus,
  responseLate,
  responseDropped,
  responseAbandoned,
  rewardRequest,
  judgementRequest,
  judgementLate,
  requestExpired,
  promptCollected,
  promptCounted,
  promptFiltered,
  promptQuarantined,
  promptDeferred,
  promptCarried,
  promptReturned,
  promptMerged,
  roundCompleted,
  roundDrained,
  speculationChosen,
] as const;

/** What speculative-admission understands. */
export type AdmissionEvent = Of<(typeof admissionEvents)[number]>;
/** What speculative-admission answers with. */
export type AdmissionDecision = Of<(typeof admissionDecisions)[number]>;
