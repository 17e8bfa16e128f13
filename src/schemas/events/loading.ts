/** Events: samples are drawn, preprocessed and materialized; nodes join and leave; steps end. */
import { z } from 'zod';
import {
  batchId,
  batchSequence,
  loaderNode,
  nodeId,
  preprocessId,
  rank,
  sliceId,
  stepId,
  tensorBytes,
  textSample,
  visualSample,
} from '../loading.ts';
import { count, message } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const nodeAdded = defineEvent(
  'node.added',
  'A node preprocesses samples; one that was lost holds nothing now. May be repeated, to change what it says.',
  loaderNode.shape,
);
export const nodeLost = defineEvent(
  'node.lost',
  'The preprocessor of a node is gone, with all that it held. Ranks keep what they have. May be repeated.',
  { nodeId },
);
export const samplesDrawn = defineEvent(
  'samples.drawn',
  'Samples were drawn for a step: metadata only. May be repeated for further samples of the step.',
  {
    stepId,
    samples: z
      .array(z.discriminatedUnion('kind', [textSample, visualSample]))
      .max(1_000_000)
      .describe('The samples, in the order in which they are wanted.'),
  },
);
export const samplePreprocessed = defineEvent(
  'sample.preprocessed',
  'A node has preprocessed a sample, and holds its tensors in host memory.',
  { preprocessId, nodeId, bytes: tensorBytes.describe('What they take in host memory, in bytes.') },
);
export const preprocessFailed = defineEvent(
  'preprocess.failed',
  'A node could not preprocess a sample, and holds nothing of it.',
  {
    preprocessId,
    nodeId,
    kind: z
      .enum(['infrastructure', 'data', 'memory'])
      .describe(
        '`data`: the sample is at fault. `memory`: its tensors would take more than what was reserved for them.',
      ),
    bytes: tensorBytes.optional().describe('What they would take, in bytes; with `memory`, and only then.'),
    message,
  },
);
export const sliceMaterialized = defineEvent('slice.materialized', 'A rank has the frames of a slice.', {
  sliceId,
  rank,
});
export const sliceFailed = defineEvent('slice.failed', 'A rank could not fetch a slice.', {
  sliceId,
  rank,
  attempt: count.describe('Number of the try, as `sample.materialize` gave it.'),
  kind: z
    .enum(['transfer', 'missing'])
    .describe('`transfer`: the connection failed. `missing`: the node does not have the sample.'),
  message,
});
export const batchReady = defineEvent('batch.ready', 'The sequences of a batch are known: it can be planned.', {
  batchId,
  stepId,
  sequences: z.array(batchSequence).max(1_000_000).describe('The sequences, in any order.'),
});
export const batchWithdrawn = defineEvent(
  'batch.withdrawn',
  'A batch will not be run: what its ranks do not have yet is not needed. Of one that is over nothing changes.',
  { batchId },
);
export const stepCompleted = defineEvent(
  'step.completed',
  'A training step is over: no further batch uses its samples. May be repeated.',
  { stepId },
);
