/** Decisions: the node that preprocesses a sample, the frames that a rank fetches, and releases of host memory. */
import { z } from 'zod';
import { faultDomain, notCompared, sharedFailures } from '../faults.ts';
import {
  batchAssignment,
  batchId,
  batchPack,
  frames,
  fromFrame,
  goneSample,
  mediaPath,
  nodeId,
  preprocessId,
  rank,
  resolution,
  sampleId,
  sliceId,
  stepId,
  tensorBytes,
  tensorShape,
  toFrame,
  visualKind,
} from '../loading.ts';
import { count, positiveCount, ref, seconds } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const bytes = count.describe('Bytes.');
const reservedBytes = bytes.describe('What was reserved for it, in bytes.');
const sampleBytes = bytes.describe('What its tensors need, in bytes.');
const echoed = { ref: ref.optional() };
const attempts = {
  failures: count.describe('Failures of the sample, of this kind.'),
  budget: count.describe('Most failures that lead to another try.'),
};
const uses = count.describe('Batches that have used it.');
const waitedSeconds = seconds.describe('Since the batch was planned, in seconds.');
/** Queue and free host memory of the node before the decision. */
const load = {
  queuedBytes: bytes.describe('What the node had to preprocess already, in bytes.'),
  queued: count.describe('The same in samples.'),
  freeBytes: bytes.describe('Host memory of the node that was free, in bytes.'),
};
const work = {
  preprocessId,
  nodeId,
  sampleId,
  stepId,
  kind: visualKind,
  path: mediaPath,
  frames,
  resolution,
  bytes: tensorBytes.describe('Reserved in host memory; a node that needs more reports `preprocess.failed`.'),
  ...echoed,
};
const probe = {
  ...faultDomain,
  failures: sharedFailures,
  pauseSeconds: seconds.describe('Since the single try before, in seconds.'),
};
const causes = {
  drawn: load,
  node_lost: load,
  retry: {
    ...load,
    ...attempts,
    pauseSeconds: seconds.optional().describe('Since the last try that failed on a node, in seconds.'),
  },
  probe: { ...load, ...probe },
  memory: load,
  copy_missing: load,
  displaced: load,
  host_restarted: load,
};

export const samplePlaceholder = defineDecision(
  'sample.placeholder',
  'command',
  'Let shapes without data stand for the tensors of a sample on the controller.',
  { sampleId, shapes: z.array(tensorShape).max(16).describe('Its tensors; none for text.'), ...echoed },
  { drawn: {}, host_restarted: {} },
);
export const samplePreprocess = defineDecision(
  'sample.preprocess',
  'command',
  'Preprocess this sample on this node, hold the tensors in host memory, and answer with `sample.preprocessed` or `preprocess.failed`. A node carries out its commands in their order.',
  work,
  causes,
);
export const samplePrefetch = defineDecision(
  'sample.prefetch',
  'command',
  'The same as `sample.preprocess`, for a later step: it may give way to what is needed now.',
  work,
  causes,
);
export const sampleRegistered = defineDecision(
  'sample.registered',
  'notice',
  'The tensors of a sample are in the host memory of this node.',
  { sampleId, nodeId, bytes: tensorBytes },
  { preprocessed: { reservedBytes } },
);
export const sampleMaterialize = defineDecision(
  'sample.materialize',
  'command',
  'Fetch these frames from the host memory of this node to this rank, beside its computation, and answer with `slice.materialized` or `slice.failed`. A rank that has the slice answers at once.',
  {
    sliceId,
    attempt: count.describe('Number of the try, from 0.'),
    batchId,
    sampleId,
    rank,
    fromFrame,
    toFrame,
    from: nodeId.describe('The node that holds the sample.'),
    bytes: bytes.describe('About what is fetched, in bytes.'),
  },
  { same_node: {}, other_node: {}, probe },
);
export const sampleEvict = defineDecision(
  'sample.evict',
  'command',
  'Stop preprocessing this sample on this node, and free its host memory.',
  { sampleId, nodeId, bytes: bytes.describe('What is freed, in bytes.') },
  {
    last_use: { uses },
    step_completed: {},
    displaced: { neededBytes: bytes.describe('What a sample takes that a batch waits for.') },
    memory: { reservedBytes, usedBytes: sampleBytes },
    copy_missing: {},
    dropped: {},
  },
);
export const sampleUnplaced = defineDecision(
  'sample.unplaced',
  'notice',
  'No node that is here could hold this sample, but one that was lost could: it waits for a node of its size, and holds up no other.',
  { sampleId, stepId, ...echoed },
  {
    node_away: {
      bytes: sampleBytes,
      largestBudgetBytes: bytes.describe('Host memory of the largest node that is here, in bytes.'),
      lostBudgetBytes: bytes.describe('Host memory of the largest of the lost nodes that are remembered, in bytes.'),
    },
  },
);
export const sampleReleased = defineDecision(
  'sample.released',
  'notice',
  'A sample is not needed any more, and nothing of it is in host memory.',
  { sampleId, ...echoed },
  { last_use: { uses }, step_completed: {} },
);
export const sampleDropped = defineDecision(
  'sample.dropped',
  'notice',
  'A sample is given up: no batch gets more of it.',
  { sampleId, stepId, ...echoed },
  {
    infrastructure: attempts,
    data: attempts,
    transfer: attempts,
    not_compared: notCompared,
    too_large: {
      bytes: sampleBytes,
      largestBudgetBytes: bytes.describe('Host memory of the largest node, lost or not, in bytes.'),
    },
  },
);
export const preprocessLate = defineDecision(
  'preprocess.late',
  'notice',
  'A report about a try that is over or was given up: nothing changes.',
  { preprocessId },
  { over: {} },
);
export const sliceLate = defineDecision(
  'slice.late',
  'notice',
  'A report about a slice that the rank has, that nobody needs any more, or of an earlier try: nothing changes.',
  { sliceId },
  { over: {}, earlier_attempt: { attempt: count.describe('Number of the try that was reported.') } },
);
export const batchRun = defineDecision(
  'batch.run',
  'command',
  'Run the batch like this: each sequence on its ranks.',
  {
    batchId,
    stepId,
    assignments: z.array(batchAssignment).max(1_000_000).describe('Where each sequence goes, by its index.'),
    packs: z
      .array(batchPack)
      .max(1_000_000)
      .optional()
      .describe('Sequences that run as one, where the planner says so.'),
    order: z
      .array(z.array(count).max(1_000_000))
      .max(1_048_576)
      .optional()
      .describe('Of each rank, indices in `packs`, in the order in which it runs them.'),
  },
  {
    planned: {
      maxCompute: z
        .number()
        .nonnegative()
        .describe('Compute of the rank that has most, in the unit of the cost model.'),
      computeBound: z.number().nonnegative().describe('No plan has less.'),
      communication: z.number().nonnegative().describe('Cost of sharding.'),
      memoryRelaxed: z.boolean().describe('Whether a rank has more tokens than asked for.'),
    },
    host: {},
  },
);
export const batchMaterialized = defineDecision(
  'batch.materialized',
  'notice',
  'Every rank has the frames that it needs for a batch, but for those of samples that were dropped.',
  {
    batchId,
    stepId,
    slices: count.describe('Slices that ranks have fetched for it.'),
    missing: z.array(sampleId).max(1_000_000).describe('Samples that were dropped meanwhile.'),
  },
  {
    delivered: { waitedSeconds },
    samples_dropped: { waitedSeconds, dropped: positiveCount.describe('Samples that were dropped.') },
  },
);
export const batchAbandoned = defineDecision(
  'batch.abandoned',
  'notice',
  'A batch is given up before all of its slices were fetched.',
  {
    batchId,
    stepId,
    open: count.describe('Slices that were not fetched.'),
    gone: z
      .array(goneSample)
      .max(1_000_000)
      .describe('Samples that it had used and that are not here any more: draw them again where they are needed.'),
  },
  { withdrawn: {}, host_restarted: {} },
);
export const stepResumed = defineDecision(
  'step.resumed',
  'notice',
  'A training step was open when the host restarted, and is open still: batches are to be planned anew, then it is to be completed.',
  {
    stepId,
    samples: z
      .array(sampleId)
      .max(1_000_000)
      .describe('Its samples that are here, in the order in which they were drawn.'),
  },
  { host_restarted: { samples: count.describe('How many these are.') } },
);
