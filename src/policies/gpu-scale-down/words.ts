/** The words of gpu-scale-down. */
import type { Context } from '../../core/definition.ts';
import {
  gpusReclaim,
  gpusRelease,
  migrationAbandoned,
  migrationCancel,
  progressQuery,
  requestMigrate,
  scaleDownLate,
  scaleDownRejected,
} from '../../schemas/decisions/gpus.ts';
import { promptCounted } from '../../schemas/decisions/prompts.ts';
import { requestAbort, responseAccepted } from '../../schemas/decisions/requests.ts';
import { roundCompleted } from '../../schemas/decisions/rounds.ts';
import { engineAdded, engineDrained, engineLost, enginesPlaced } from '../../schemas/events/engines.ts';
import {
  gpusReleased,
  gpusReleaseFailed,
  gpusReturned,
  migrationFailed,
  progressReported,
  requestMigrated,
} from '../../schemas/events/gpus.ts';
import { requestAborted, responseCompleted } from '../../schemas/events/requests.ts';
import { roundOpened } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const scaleDownEvents = [
  roundOpened,
  roundCompleted,
  responseAccepted,
  promptCounted,
  responseCompleted,
  requestAbort,
  requestAborted,
  progressReported,
  requestMigrated,
  migrationFailed,
  gpusReleased,
  gpusReleaseFailed,
  gpusReturned,
  enginesPlaced,
  engineAdded,
  engineDrained,
  engineLost,
  hostRestarted,
] as const;
export const scaleDownDecisions = [
  progressQuery,
  gpusRelease,
  requestMigrate,
  migrationCancel,
  migrationAbandoned,
  gpusReclaim,
  scaleDownRejected,
  scaleDownLate,
] as const;

/** What gpu-scale-down understands. */
export type ScaleDownEvent = Of<(typeof scaleDownEvents)[number]>;
/** What gpu-scale-down answers with. */
export type ScaleDownDecision = Of<(typeof scaleDownDecisions)[number]>;
export type Ctx = Context<ScaleDownDecision>;
export type EventOf<T extends ScaleDownEvent['type']> = Extract<ScaleDownEvent, { type: T }>;
export type DecisionOf<T extends ScaleDownDecision['type']> = Extract<ScaleDownDecision, { type: T }>;
