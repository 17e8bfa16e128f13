/** Memory of a device in an update, and whether anything has too little. */
import type { FlexUlyssesPlan } from '../../planners/flex-ulysses/index.ts';
import { bytesPerValue, memoryUtilization } from '../cost-model.ts';
import type { Loading } from './loading.ts';
import { vlmGpus, vlmModel } from './models.ts';
import { lengthOf, type VlmSample } from './sample.ts';
import type { VlmPlacement } from './scheduler.ts';
import type { VlmJob } from './settings.ts';
import type { DeviceLoad } from './stage.ts';

/** Bytes of a parameter in training: weights and gradients in bf16, their copy and two moments in float32. */
const bytesPerParameter = 16;
/** Values that one layer keeps of a token while it is computed again, in units of the hidden size. */
const layerValues = 17;

/** What may have too little memory. */
export type Exceeded = 'device' | 'controller' | 'node';

/** Most tokens of one sequence on one device, and most visual tokens that one tower must encode at once. */
function largestPieces(plan: FlexUlyssesPlan, batch: readonly VlmSample[], placement: VlmPlacement) {
  let [tokens, visualTokens] = [0, 0];
  for (const { sequence, degree } of plan.assignments) {
    tokens = Math.max(tokens, lengthOf(batch[sequence]!) / degree);
    if (placement !== 'flex-ulysses') visualTokens = Math.max(visualTokens, batch[sequence]!.visualTokens);
  }
  return { tokens, visualTokens };
}

/**
 * Bytes that the most loaded device needs at least: its share of the states, and the activations of its largest piece.
 * Shorter pieces can be trained one after another (micro-batches), a piece cannot be cut further.
 */
export function deviceBytes(
  plan: FlexUlyssesPlan,
  batch: readonly VlmSample[],
  loads: readonly DeviceLoad[],
  { model: id, gpus }: VlmJob,
  placement: VlmPlacement,
): number {
  const model = vlmModel(id);
  const pieces = largestPieces(plan, batch, placement);
  // Frames that are spread evenly go through the tower a micro-batch at a time, like the sequences that they belong to.
  const spread = loads[0]?.visualTokens ?? 0;
  const visualTokens = placement === 'flex-ulysses' ? spread : pieces.visualTokens;
  const states = (bytesPerParameter * 1e9 * model.billionParameters) / Math.min(model.fsdp, gpus);
  const backbone = pieces.tokens * bytesPerValue * ((model.layers + layerValues) * model.hiddenSize + model.vocabulary);
  const tower = 4 * visualTokens * bytesPerValue * (model.vision.layers + layerValues) * model.vision.hiddenSize;
  return states + backbone + tower;
}

/** What is exceeded, in a fixed order. */
export function exceeded(device: number, { controllerBytes, nodeBytes }: Loading, job: VlmJob): Exceeded[] {
  const found: Exceeded[] = [];
  if (device > vlmGpus[job.gpu].memoryGb * 1e9 * (memoryUtilization + 0.1)) found.push('device');
  if (controllerBytes > job.controllerMemoryGb * 1e9) found.push('controller');
  if (nodeBytes > job.nodeMemoryGb * 1e9) found.push('node');
  return found;
}
