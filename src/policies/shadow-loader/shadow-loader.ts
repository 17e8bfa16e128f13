/**
 * ShadowLoader (FlexRL §4): the controller keeps metadata of samples, nodes preprocess samples and hold the tensors, and ranks
 * fetch the frames that they need from nodes. See README.md.
 */

import { checkNewPrefix } from '../../core/ids/minted-ids.ts';
import { definePolicy, type Ledger, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import { checkTimer, timerFired as noteFired } from '../../core/rollout/deadlines.ts';
import type { ShadowLoaderDecision, ShadowLoaderTypes } from '../../generated/settings/shadow-loader.ts';
import { batchRun } from '../../schemas/decisions/loading.ts';
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
import { hostRestarted, timerFired } from '../../schemas/events/session.ts';
import type { Message } from '../../schemas/messages.ts';
import { checkBatch, checkPlan, plan, withdraw } from './batches.ts';
import { addNode, checkMemory, checkNode, completeStep, loseNode, restartHost } from './cluster.ts';
import { pauses } from './faults.ts';
import { link } from './link.ts';
import { settle } from './placement.ts';
import {
  checkFailed,
  checkSlice,
  checkTask,
  failPreprocessing,
  failSlice,
  materializeSlice,
  preprocessed,
} from './reports.ts';
import { checkDraw, draw } from './samples.ts';
import { loaderDecisions, on, shadowLoaderConfig } from './schema.ts';
import { begin, type LoaderState, loaderState, migrateFromThree, type SavedLoader } from './state.ts';
import { checkKnown } from './steps.ts';
import { waits } from './waits.ts';

const handlers = [
  on(nodeAdded, addNode, checkMemory),
  on(nodeLost, loseNode, checkNode),
  on(samplesDrawn, draw, checkDraw),
  on(samplePreprocessed, preprocessed, checkTask),
  on(preprocessFailed, failPreprocessing, checkFailed),
  on(batchRun, plan, checkPlan),
  on(batchWithdrawn, withdraw, checkBatch),
  on(sliceMaterialized, materializeSlice, checkSlice),
  on(sliceFailed, failSlice, checkSlice),
  on(stepCompleted, completeStep, (state, event) => checkKnown(state, event.stepId)),
  on(timerFired, noteFired(pauses), checkTimer(pauses)),
  on(hostRestarted, restartHost, checkNewPrefix),
];

/** Holds samples: a sample leaves when it is dropped, or evicted or released for good. */
const samples: Ledger<SavedLoader, Message, ShadowLoaderDecision> = {
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
  held: (saved) => saved.samples.map((one) => one.id),
};

/** Holds batches: a batch leaves when its ranks have all their frames, or when it is given up. */
const plannedBatches: Ledger<SavedLoader, Message, ShadowLoaderDecision> = {
  name: 'batches',
  entered: (event) => (event.type === 'batch.run' ? [event.batchId] : []),
  left: (decision) =>
    decision.type === 'batch.materialized' || decision.type === 'batch.abandoned' ? [decision.batchId] : [],
  held: (saved) => saved.batches.map((one) => one.id),
};

/** Preprocesses samples on nodes, and has each rank fetch the frames that it needs; keeps metadata only. */
export const shadowLoader: PolicyDefinitionOf<ShadowLoaderTypes, LoaderState, SavedLoader> = definePolicy({
  id: 'shadow-loader',
  version: 4,
  migrations: { 3: migrateFromThree },
  summary: 'Preprocesses samples on the nodes, and brings each rank the frames that it needs; holds metadata only.',
  source: 'FlexRL §4',
  config: shadowLoaderConfig,
  state: loaderState,
  begin,
  link,
  handlers,
  after: settle,
  dueAt: (state) => pauses.first(state),
  decisions: loaderDecisions,
  ledgers: [samples, plannedBatches],
  waits,
});
