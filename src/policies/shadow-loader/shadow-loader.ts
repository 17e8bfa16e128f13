/**
 * ShadowLoader (FlexRL §4): the controller keeps metadata of samples, nodes preprocess them and hold the tensors, and
 * ranks fetch from there the frames that they need. See README.md.
 */
import { type Context, definePolicyByHand, type Ledger } from '../../core/definition.ts';
import * as batches from './batches.ts';
import { check } from './check.ts';
import * as cluster from './cluster.ts';
import { init, load } from './load.ts';
import { settle } from './place.ts';
import * as reports from './reports.ts';
import { draw } from './samples.ts';
import { shadowLoaderConfig } from './schema.ts';
import { loaderSnapshot, migrateFromOne, type SavedLoader, save } from './snapshot.ts';
import type { LoaderState } from './state.ts';
import { type LoaderDecision, type LoaderEvent, loaderDecisions, loaderEvents } from './words.ts';

type Ctx = Context<LoaderDecision>;

function apply(state: LoaderState, event: LoaderEvent, ctx: Ctx): void {
  handle(state, event, ctx);
  settle(state, ctx);
}

function handle(state: LoaderState, event: LoaderEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'slice.materialized':
      return reports.sliceMaterialized(state, event, ctx);
    case 'sample.preprocessed':
      return reports.preprocessed(state, event, ctx);
    case 'samples.drawn':
      return draw(state, event, ctx);
    case 'batch.planned':
      return batches.planned(state, event, ctx);
    case 'preprocess.failed':
      return reports.preprocessFailed(state, event, ctx);
    case 'slice.failed':
      return reports.sliceFailed(state, event, ctx);
    case 'step.completed':
      return cluster.stepCompleted(state, event.stepId, ctx);
    case 'batch.withdrawn':
      return batches.withdrawn(state, event.batchId, ctx);
    case 'node.added':
      return cluster.nodeAdded(state, event);
    case 'node.lost':
      return cluster.nodeLost(state, event.nodeId, ctx);
    case 'host.restarted':
      return cluster.hostRestarted(state, event.idPrefix, ctx);
  }
}

/** Samples: each leaves when it is evicted or released for good, or dropped by name. */
const samples: Ledger<SavedLoader, LoaderEvent, LoaderDecision> = {
  name: 'samples',
  entered: (event) => (event.type === 'samples.drawn' ? event.samples.map((one) => one.sampleId) : []),
  left: (decision) => {
    switch (decision.type) {
      case 'sample.evict': {
        const { code } = decision.reason;
        return code === 'last_use' || code === 'step_completed' ? [decision.sampleId] : [];
      }
      case 'sample.released':
      case 'sample.dropped':
        return [decision.sampleId];
      default:
        return [];
    }
  },
  held: (saved) => saved.samples.map((one) => one.sampleId),
};

/** Batches: each leaves when its ranks have what they need, or when it is given up. */
const plannedBatches: Ledger<SavedLoader, LoaderEvent, LoaderDecision> = {
  name: 'batches',
  entered: (event) => (event.type === 'batch.planned' ? [event.batchId] : []),
  left: (decision) =>
    decision.type === 'batch.materialized' || decision.type === 'batch.abandoned' ? [decision.batchId] : [],
  held: (saved) => saved.batches.map((one) => one.batchId),
};

/** Preprocesses samples on nodes, and brings to each rank the frames that it needs; keeps metadata only. */
export const shadowLoader = definePolicyByHand({
  id: 'shadow-loader',
  version: 2,
  summary: 'Preprocesses samples on the nodes, and brings each rank the frames that it needs; holds metadata only.',
  source: 'FlexRL §4',
  config: shadowLoaderConfig,
  events: loaderEvents,
  decisions: loaderDecisions,
  state: loaderSnapshot,
  init,
  check,
  apply,
  save,
  load,
  migrations: { 1: migrateFromOne },
  ledgers: [samples, plannedBatches],
});
