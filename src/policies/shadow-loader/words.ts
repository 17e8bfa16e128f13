/** What shadow-loader answers with. */
import { type Context, handlersOf } from '../../core/definition.ts';
import {
  batchAbandoned,
  batchMaterialized,
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
import type { LoaderState } from './state.ts';
import type { ShadowLoaderDecision } from './types.ts';

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

/** Where decisions go. */
export type Ctx = Context<ShadowLoaderDecision>;
/** Declares an event. */
export const on = handlersOf<LoaderState, ShadowLoaderDecision>();
