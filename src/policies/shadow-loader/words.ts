/** The words that shadow-loader understands and answers with. */
import * as d from '../../schemas/decisions/index.ts';
import * as e from '../../schemas/events/index.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const loaderEvents = [
  e.nodeAdded,
  e.nodeLost,
  e.samplesDrawn,
  e.samplePreprocessed,
  e.preprocessFailed,
  d.batchPlanned,
  e.batchWithdrawn,
  e.sliceMaterialized,
  e.sliceFailed,
  e.stepCompleted,
  e.hostRestarted,
] as const;

export const loaderDecisions = [
  d.samplePlaceholder,
  d.samplePreprocess,
  d.samplePrefetch,
  d.sampleRegistered,
  d.sampleMaterialize,
  d.sampleEvict,
  d.sampleReleased,
  d.sampleDropped,
  d.batchMaterialized,
  d.batchAbandoned,
  d.preprocessLate,
  d.sliceLate,
] as const;

/** What shadow-loader understands. */
export type LoaderEvent = Of<(typeof loaderEvents)[number]>;
/** What shadow-loader answers with. */
export type LoaderDecision = Of<(typeof loaderDecisions)[number]>;
/** An event by its type. */
export type EventOf<T extends LoaderEvent['type']> = Extract<LoaderEvent, { type: T }>;
/** The reasons of a decision. */
export type ReasonOf<T extends LoaderDecision['type']> = Extract<LoaderDecision, { type: T }>['reason'];
