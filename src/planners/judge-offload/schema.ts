/** Input and plan of judge-offload. */
import { z } from 'zod';
import { lengthFunction } from '../../core/lengths/length-function.ts';
import { count, positiveCount } from '../../schemas/units.ts';

const bytes = z.number().nonnegative().max(1e18);
const seconds = z.number().nonnegative();
/** Limit on the layers: with more, the search would take longer than a training step justifies. */
const mostLayers = 256;

export const judgeOffloadInput = z.strictObject({
  layers: positiveCount.max(mostLayers).describe('Layers of the judge, all of one size.'),
  layerBytes: bytes.min(1).describe('Bytes of the weights of a layer.'),
  fixedBytes: bytes
    .default(0)
    .describe('Bytes that always stay on the GPU: embeddings, output head, workspace of the process.'),
  sequenceTokens: positiveCount
    .max(1e9)
    .describe('Length that the plan is for, in tokens: the longest that the judge is given until the next plan.'),
  activationBytes: lengthFunction.describe(
    'Bytes of activations and KV cache of a forward pass, by sequence length: a polynomial, or measured points.',
  ),
  layerSeconds: lengthFunction.describe(
    'Seconds that a layer computes with all SMs to itself, by sequence length: a polynomial, or measured points.',
  ),
  memoryBytes: bytes.describe('GPU memory that the actor leaves, in bytes.'),
  pcieBytesPerSecond: z
    .number()
    .min(1)
    .max(1e18)
    .describe('Bandwidth from host memory to the GPU that the actor leaves, in bytes per second.'),
  transferOverheadSeconds: seconds
    .max(1e6)
    .default(0)
    .describe('Seconds that the transfer of a layer takes besides its bytes.'),
  actorSmShare: z.number().min(0).max(1).describe('Share of the SMs that the actor keeps, 0 to 1.'),
  judgeSmShare: z
    .number()
    .min(0.01)
    .max(1)
    .default(1)
    .describe('Share of the SMs that the judge can fill; with fewer, a layer takes longer in proportion.'),
  maxPrefetchDepth: positiveCount.optional().describe('Most layers that wait or run in buffers; no limit if absent.'),
  latencyTolerance: z
    .number()
    .min(0)
    .max(10)
    .default(0)
    .describe('How much slower than the fastest plan a plan may be, relative, if it leaves more SMs to the actor.'),
});

export const judgeOffloadPlan = z.strictObject({
  residentLayers: count.describe('Layers that stay on the GPU.'),
  streamedLayers: z
    .array(count)
    .describe('The other layers, from 0, ascending: they lie in host memory and pass through the buffers.'),
  prefetchDepth: count.describe(
    'Buffers of one layer each for streamed layers, the one that computes included; 0 if none is streamed.',
  ),
  mpsShare: z
    .number()
    .min(0.01)
    .max(1)
    .describe('Share of the SMs for the judge, whole percents: CUDA_MPS_ACTIVE_THREAD_PERCENTAGE ÷ 100.'),
  memoryBytes: bytes.describe('GPU memory that the judge takes: fixed, activations, resident layers and buffers.'),
  layerSeconds: seconds.describe('Seconds that a layer computes with that share.'),
  transferSeconds: seconds.describe('Seconds that the transfer of a layer takes.'),
  pipelinedSeconds: seconds.describe('Predicted seconds of a forward pass, transfers overlapped with computation.'),
  sequentialSeconds: seconds.describe('Predicted seconds of the same pass if each layer were first fetched, then run.'),
});
