/** Memory of a device in an update, and the places where memory does not suffice. */
import type { FlexUlyssesPlan } from '../../planners/flex-ulysses/index.ts';
import { bytesPerValue } from '../models/cost-model.ts';
import type { Loading } from './loading.ts';
import { vlmGpus, vlmModel } from './models.ts';
import type { VlmPlacement } from './scheduler.ts';
import type { VlmJob } from './settings.ts';
import { lengthOf, type VlmSample } from './workload/sample.ts';

/** Bytes per parameter in training: weights and gradients in bf16, a float32 copy and two float32 moments. */
const bytesPerParameter = 16;
/** Values that one layer stores per token during recomputation, in units of the hidden size. */
const layerValues = 17;

/** Share of a GPU's memory that training may fill. */
const usableShare = 0.95;

/** A place where memory may not suffice. */
export type Exceeded = 'device' | 'controller' | 'node';

/**
 * Returns the largest number of tokens of one sequence on one device, and the largest number of visual tokens that one tower must
 * encode together.
 */
function largestPieces(plan: FlexUlyssesPlan, batch: readonly VlmSample[]) {
  let [tokens, visualTokens] = [0, 0];
  for (const { sequence, degree } of plan.assignments) {
    tokens = Math.max(tokens, lengthOf(batch[sequence]!) / degree);
    visualTokens = Math.max(visualTokens, batch[sequence]!.visualTokens);
  }
  return { tokens, visualTokens };
}

/**
 * Returns the least bytes that the most loaded device needs for its share of the states and the activations of its largest piece.
 * Smaller pieces can be trained one after another (micro-batches), but a piece cannot be split.
 */
export function deviceBytes(
  plan: FlexUlyssesPlan,
  batch: readonly VlmSample[],
  { model: id, gpus }: VlmJob,
  placement: VlmPlacement,
): number {
  const model = vlmModel(id);
  const pieces = largestPieces(plan, batch);
  // The frames of a video go to all GPUs, or through one tower.
  const visualTokens = pieces.visualTokens / (placement === 'flex-ulysses' ? gpus : 1);
  const states = (bytesPerParameter * 1e9 * model.billionParameters) / Math.min(model.fsdp, gpus);
  const backbone = pieces.tokens * bytesPerValue * ((model.layers + layerValues) * model.hiddenSize + model.vocabulary);
  const tower = 4 * visualTokens * bytesPerValue * (model.vision.layers + layerValues) * model.vision.hiddenSize;
  return states + backbone + tower;
}

/** Returns the places where memory does not suffice, in a fixed order. */
export function exceeded(device: number, { controllerBytes, nodeBytes }: Loading, job: VlmJob): Exceeded[] {
  const found: Exceeded[] = [];
  if (device > vlmGpus[job.gpu].memoryGb * 1e9 * usableShare) found.push('device');
  if (controllerBytes > job.controllerMemoryGb * 1e9) found.push('controller');
  if (nodeBytes > job.nodeMemoryGb * 1e9) found.push('node');
  return found;
}
