/** Decoding of images and videos: by one controller, as in veRL, or by ShadowLoader, on all nodes and ahead of time (FlexRL §4). */
import { bytesPerVisualToken, decoding, shadow } from './constants.ts';
import { nodesOf, type VlmJob } from './settings.ts';
import type { VlmSample } from './workload/sample.ts';

/** Ids of the loaders. */
export const loaderIds = ['centralized', 'shadow-loader'] as const;
/** Id of a loader. */
export type LoaderId = (typeof loaderIds)[number];

/** The time and memory of loading a batch. */
export interface Loading {
  /** Seconds until the whole batch is decoded. */
  readonly seconds: number;
  /** Seconds that a step waits: the whole loading time, or the part that the previous step did not hide. */
  readonly exposedSeconds: number;
  /** Host memory of the controller for visual inputs. */
  readonly controllerBytes: number;
  /** Most host memory of a node for visual inputs. */
  readonly nodeBytes: number;
}

/** Returns the seconds that one process needs to decode and preprocess a sample. */
export function decodeSeconds({ kind, frames, megapixels }: VlmSample): number {
  if (kind === 'text') return 0;
  if (kind === 'image') return frames * decoding.imageSeconds * decoding.processes;
  const { videoSeconds, frameExponent, processes } = decoding;
  return videoSeconds * processes * frames ** frameExponent * megapixels;
}

/** Returns the bytes of the input tensors of the vision tower. */
export const payloadBytes = ({ visualTokens }: VlmSample): number => visualTokens * bytesPerVisualToken;

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

/** Loads a batch through one controller, which decodes, stores and sends the whole batch; while sending, it holds two copies. */
function byController(batch: readonly VlmSample[]): Loading {
  const seconds = sum(batch.map(decodeSeconds)) / decoding.processes;
  const controllerBytes = 2 * sum(batch.map(payloadBytes));
  return { seconds, exposedSeconds: seconds, controllerBytes, nodeBytes: 0 };
}

/** Returns the node for each sample: the node with the fewest bytes so far; ties go to the lowest node. */
export function nodeOfSamples(batch: readonly VlmSample[], job: VlmJob): number[] {
  const bytes = new Array<number>(nodesOf(job)).fill(0);
  return batch.map((one) => {
    const node = bytes.indexOf(Math.min(...bytes));
    bytes[node]! += payloadBytes(one);
    return node;
  });
}

/** Loads a batch through nodes, each of which decodes several samples at once. */
function byNodes(batch: readonly VlmSample[], job: VlmJob, gpuSeconds: number): Loading {
  const nodes = nodeOfSamples(batch, job);
  const bytes = new Array<number>(nodesOf(job)).fill(0);
  const seconds = bytes.map(() => 0);
  batch.forEach((one, index) => {
    bytes[nodes[index]!]! += payloadBytes(one);
    seconds[nodes[index]!]! += decodeSeconds(one) / shadow.processesPerNode;
  });
  const longest = batch.reduce((most, one) => Math.max(most, decodeSeconds(one)), 0);
  const busy = Math.max(longest, ...seconds);
  const visual = batch.filter((one) => one.kind !== 'text').length;
  const exposedSeconds = Math.max(shadow.handOffSecondsPerSample * visual, busy - gpuSeconds);
  // A node stores this batch and the prefetched next one.
  return { seconds: busy, exposedSeconds, controllerBytes: 0, nodeBytes: 2 * Math.max(...bytes) };
}

/**
 * Loads a batch.
 *
 * @param gpuSeconds - GPU seconds of the step before, during which ShadowLoader works
 */
export function load(loader: LoaderId, batch: readonly VlmSample[], job: VlmJob, gpuSeconds: number): Loading {
  return loader === 'centralized' ? byController(batch) : byNodes(batch, job, gpuSeconds);
}
