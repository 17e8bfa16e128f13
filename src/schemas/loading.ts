/** Samples with images or videos, the nodes that preprocess them, and the ranks that need parts of them. */
import { z } from 'zod';
import type { TextSample, VisualSample } from '../generated/messages/objects.ts';
import { count, idText, positiveCount, ref, tokens } from './units.ts';

export type { BatchAssignment, FrameSlice, LoaderNode } from '../generated/messages/objects.ts';

const id = idText(512);
const bytes = count.describe('Bytes.');

/** A sample's id, given by the host: new for every draw. */
export const sampleId = id.describe('Id of the sample, given by the host; new whenever it is drawn.');
/** A node's id, given by the host. */
export const nodeId = id.describe('Id of the node, given by the host.');
/** A training step's id, given by the host. */
export const stepId = id.describe('Id of the training step, given by the host; new for every step.');
/** A batch's id, given by the host. */
export const batchId = id.describe('Id of the batch, given by the host; new for every batch.');
/** Rank of a device of the job, in the planner's numbering: 0 to 1,048,575. */
export const rank = count.max(1_048_575).describe('Rank of the worker: its device, numbered from 0.');
/** Id of one attempt to preprocess, minted by the policy: `<idPrefix>preprocess/<number>`, never reused. */
export const preprocessId = idText(256).describe('Id of the try, minted by the policy.');
/** A slice's id, minted by the policy: `<idPrefix>slice/<number>`, the same for each attempt to fetch it. */
export const sliceId = idText(256).describe(
  'Id of the slice, minted by the policy; a rank that has it already does not fetch it again.',
);
/** Path or URL of a sample's file, at most 4,096 characters. */
export const mediaPath = z.string().min(1).max(4096).describe('Path or URL of the file.');
/** Frames of a video, or images of a sample: 1 to 1,048,576. */
export const frames = positiveCount.max(1_048_576).describe('Frames of the video, or images of the sample.');
/** First frame of a slice. */
export const fromFrame = count.max(1_048_575).describe('First frame of the slice, numbered from 0.');
/** End of a slice: the frame after its last one. */
export const toFrame = positiveCount.max(1_048_576).describe('Frame behind the last one of the slice.');
/** Width and height of a frame, 1 to 65,536 each. */
export const resolution = z
  .strictObject({
    width: positiveCount.max(65_536).describe('Pixels across, 1 to 65,536.'),
    height: positiveCount.max(65_536).describe('Pixels down, 1 to 65,536.'),
  })
  .describe('Size of each frame after preprocessing.');
/** Size of preprocessed tensors in host memory, in bytes. */
export const tensorBytes = bytes.min(1).max(1e15).describe('Bytes of the preprocessed tensors in host memory.');
/** Kind of visual data: images, or a video clip. */
export const visualKind = z
  .enum(['image', 'video'])
  .describe('`image`: one or more images; `video`: frames of a clip.');

const uses = positiveCount
  .optional()
  .describe('Batches that will use it; it is evicted after the last. Kept until its step is completed if absent.');

export const textSample = z
  .strictObject({ sampleId, kind: z.literal('text').describe('It has no pixels.'), uses, ref: ref.optional() })
  .describe('A sample without pixels: it needs no preprocessing.');
export const visualSample = z
  .strictObject({
    sampleId,
    kind: visualKind,
    path: mediaPath,
    frames,
    resolution,
    bytes: tensorBytes.describe('Bytes that its preprocessed tensors are expected to take in host memory.'),
    uses,
    ref: ref.optional(),
  })
  .describe('A sample with images or a video, as metadata.');

export const goneSample = z
  .strictObject({ sampleId, ref: ref.optional() })
  .describe('A sample that is not here any more.');

export const loaderNode = z
  .strictObject({
    nodeId,
    hostMemoryBytes: positiveCount.max(1e15).describe('Host memory for preprocessed tensors, in bytes.'),
    weight: z
      .number()
      .positive()
      .max(1e6)
      .optional()
      .describe('How fast it preprocesses, relative to others; 1 if absent.'),
    slots: positiveCount
      .max(1_000_000)
      .optional()
      .describe('Samples that it may have to preprocess at once, waiting ones included; no limit if absent.'),
    ranks: z.array(rank).max(65_536).optional().describe('Ranks that run on it; those named before if absent.'),
  })
  .describe('A node that preprocesses, and holds what it has preprocessed.');

export const frameSlice = z.strictObject({ rank, fromFrame, toFrame }).describe('Frames of a sequence for one rank.');

export const batchSequence = z
  .strictObject({
    tokens: tokens.max(1e9).describe('Its tokens, those of its images and frames included, 0 to 1e9.'),
    sampleId: sampleId
      .optional()
      .describe('The sample that it belongs to; several may belong to one. Absent: text only.'),
    frames: count
      .max(1_048_576)
      .optional()
      .describe('Frames that the vision tower encodes for it; absent: it is not spread frame by frame.'),
  })
  .describe('A sequence of a batch that is to be planned.');

export const batchAssignment = z
  .strictObject({
    sequence: count.describe('Index of the sequence in the batch.'),
    sampleId: sampleId.optional().describe('The sample that it belongs to, if any.'),
    degree: positiveCount.max(65_536).describe('Sharding degree: how many ranks share it.'),
    ranks: z.array(rank).min(1).max(65_536).describe('Those ranks, ascending.'),
    slices: z
      .array(frameSlice)
      .max(1_048_576)
      .optional()
      .describe('Which rank needs which frames; spread evenly over `ranks` if absent.'),
  })
  .describe('Where a sequence of a batch goes.');

export const batchPack = z
  .strictObject({
    degree: positiveCount.max(65_536).describe('Sharding degree: how many ranks share the pack.'),
    ranks: z.array(rank).min(1).max(65_536).describe('Those ranks, ascending.'),
    sequences: z.array(count).min(1).max(1_000_000).describe('Indices of its sequences in the batch.'),
  })
  .describe('Sequences of one group of ranks that run as one.');

export const tensorShape = z
  .strictObject({
    name: z
      .enum(['pixel_values', 'pixel_values_videos'])
      .describe('As model inputs name it: `pixel_values`, or `pixel_values_videos` for a video.'),
    shape: z.array(positiveCount).length(4).describe('Frames, channels, height, width. The first axis can be sliced.'),
    bytesPerFrame: bytes.describe('Bytes of one frame, rounded up.'),
  })
  .describe('The name and shape of a tensor.');

/** Metadata of a sample: text, or with images or video. */
export type DrawnSample = TextSample | VisualSample;
