/** The words that shadow-loader understands and answers with. */
import {
  batchAbandoned,
  batchMaterialized,
  batchPlanned,
  preprocessLate,
  sampleDropped,
  sampleEvict,
  sampleMaterialize,
  samplePlaceholder,
  samplePrefetch,
  samplePreprocess,
  sampleRegistered,
  sampleReleased,
  sampleUnplaced,
  sliceLate,
  stepResumed,
} from '../../schemas/decisions/loading.ts';
import {
  batchWithdrawn,
  nodeAdded,
  nodeLost,
  preprocessFailed,
  samplePreprocessed,
  samplesDrawn,
  sliceFailed,
  sliceMaterialized,
  stepCompleted,
} from '../../schemas/events/loading.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import type { Of } from '../../schemas/vocabulary.ts';

export const loaderEvents = [
  nodeAdded,
  nodeLost,
  samplesDrawn,
  samplePreprocessed,
  preprocessFailed,
  batchPlanned,
  batchWithdrawn,
  sliceMaterialized,
  sliceFailed,
  stepCompleted,
  hostRestarted,
] as const;

/** Decisions of shadow-loader, in the order of a sample's life. */
export const loaderDecisions = [
  stepResumed,
  samplePlaceholder,
  sampleUnplaced,
  samplePreprocess,
  samplePrefetch,
  sampleRegistered,
  sampleMaterialize,
  sampleEvict,
  sampleReleased,
  sampleDropped,
  batchMaterialized,
  batchAbandoned,
  preprocessLate,
  sliceLate,
] as const;

/** What shadow-loader understands. */
export type LoaderEvent = Of<(typeof loaderEvents)[number]>;
/** What shadow-loader answers with. */
export type LoaderDecision = Of<(typeof loaderDecisions)[number]>;
/** An event by its type. */
export type EventOf<T extends LoaderEvent['type']> = Extract<LoaderEvent, { type: T }>;
/** The reasons of a decision. */
export type ReasonOf<T extends LoaderDecision['type']> = Extract<LoaderDecision, { type: T }>['reason'];
