/** The words of gpu-scale-down. */
import type { Context } from '../../core/definition.ts';
import * as d from '../../schemas/decisions/index.ts';
import * as e from '../../schemas/events/index.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const scaleDownEvents = [
  e.roundOpened,
  d.roundCompleted,
  d.responseAccepted,
  d.promptCounted,
  e.responseCompleted,
  d.requestAbort,
  e.requestAborted,
  e.progressReported,
  e.requestMigrated,
  e.migrationFailed,
  e.gpusReleased,
  e.gpusReleaseFailed,
  e.gpusReturned,
  e.enginesPlaced,
  e.engineAdded,
  e.engineDrained,
  e.engineLost,
  e.hostRestarted,
] as const;
export const scaleDownDecisions = [
  d.progressQuery,
  d.gpusRelease,
  d.requestMigrate,
  d.migrationCancel,
  d.migrationAbandoned,
  d.gpusReclaim,
  d.scaleDownRejected,
  d.scaleDownLate,
] as const;

/** What gpu-scale-down understands. */
export type ScaleDownEvent = Of<(typeof scaleDownEvents)[number]>;
/** What gpu-scale-down answers with. */
export type ScaleDownDecision = Of<(typeof scaleDownDecisions)[number]>;
export type Ctx = Context<ScaleDownDecision>;
export type EventOf<T extends ScaleDownEvent['type']> = Extract<ScaleDownEvent, { type: T }>;
export type DecisionOf<T extends ScaleDownDecision['type']> = Extract<ScaleDownDecision, { type: T }>;
