/**
 * FlexRL (§3, §4): flex-ulysses plans batches, and shadow-loader brings each rank the frames that the plan needs there. The
 * recipe adds no scheduling of its own. See README.md.
 */
import type { AnyDecision, AnyEvent, Ledger } from '../../core/machine/definition.ts';
import { defineRecipe, settingsOf } from '../../core/recipe/recipe.ts';
import type { Delivery, RecipeDefinition, SavedRecipe } from '../../core/recipe/spec.ts';
import type { FlexrlConfig, FlexrlEvent, FlexrlTypes } from '../../generated/settings/flexrl.ts';
import { type ShadowLoaderEvent, shadowLoader } from '../../policies/shadow-loader/index.ts';
import { loaderDecisions, shadowLoaderConfig } from '../../policies/shadow-loader/schema.ts';
import { batchRun } from '../../schemas/decisions/loading.ts';
import {
  batchReady,
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
import { hostRestarted, timerFired } from '../../schemas/events/session.ts';
import type { BatchAssignment } from '../../schemas/loading.ts';
import type { Of } from '../../schemas/vocabulary.ts';
import { batchPlanning } from './batch-planning.ts';
import { flexrlConfig, plannerSettings } from './schema.ts';

type Ready = Of<typeof batchReady>;

const events = [
  nodeAdded,
  nodeLost,
  samplesDrawn,
  samplePreprocessed,
  preprocessFailed,
  batchReady,
  batchWithdrawn,
  sliceMaterialized,
  sliceFailed,
  stepCompleted,
  timerFired,
  hostRestarted,
] as const;
const decisions = [batchRun, ...loaderDecisions] as const;

/** Returns the fields of a sample's assignment that are known before planning and that the loader may refuse. */
function foreseen({ sampleId, frames = 0 }: Ready['sequences'][number], sequence: number): BatchAssignment {
  const one = { sequence, degree: 1, ranks: [0] };
  if (sampleId === undefined) return one;
  return { ...one, sampleId, ...(frames > 0 ? { slices: [{ rank: 0, fromFrame: 0, toFrame: frames }] } : undefined) };
}

function expects(event: FlexrlEvent): Delivery[] {
  if (event.type !== 'batch.ready') return [];
  const { at, batchId, stepId, sequences } = event;
  const planned: ShadowLoaderEvent = {
    ...{ type: 'batch.run', at, batchId, stepId, assignments: sequences.map(foreseen) },
    reason: { code: 'host' },
  };
  return [{ part: 'loader', event: planned }];
}

/** The ledgers of the loader, changed so that a batch enters before it is planned. */
const ledgers = (shadowLoader.ledgers as readonly Ledger[]).map(
  (ledger): Ledger<SavedRecipe, AnyEvent, AnyDecision> => ({
    name: ledger.name,
    entered: (event) =>
      event.type === 'batch.ready' && ledger.name === 'batches' ? [(event as Ready).batchId] : ledger.entered(event),
    left: ledger.left,
    held: ({ parts }) => ledger.held(parts.loader!.state),
  }),
);

/** Plans each batch, and loads samples where the plan needs them. */
export const flexrl: RecipeDefinition<FlexrlTypes> = defineRecipe({
  id: 'flexrl',
  version: 1,
  summary: 'Shards each batch by flex-ulysses, and brings each rank the frames that the plan needs there.',
  source: 'FlexRL §3, §4',
  config: flexrlConfig,
  parts: { planner: batchPlanning, loader: shadowLoader },
  configure: (config: FlexrlConfig) => ({
    planner: settingsOf(config, plannerSettings),
    loader: settingsOf(config, shadowLoaderConfig.shape),
  }),
  events,
  decisions,
  expects,
  origins: { 'batch.run': { event: 'batch.ready' } },
  routes: {},
  ledgers,
});
