/** Seconds of a stage's parts on one device. */

import {
  allToAllTime,
  attentionTime,
  type TimingCoefficients,
  timingPresets,
} from '../../planners/flex-ulysses/index.ts';
import { bytesPerValue } from '../models/cost-model.ts';
import { computeEfficiency, measuredHeads } from './constants.ts';
import { type VlmGpuId, type VlmModel, vlmGpus } from './models.ts';

const timings: Readonly<Record<VlmGpuId, TimingCoefficients>> = { h800: timingPresets.H800, h200: timingPresets.H200 };

/** Returns the seconds of variable-length attention in one layer, from Σ h² and Σ h of the sequences (FlexRL Table 3). */
export function attentionSeconds(heads: number, squares: number, tokens: number): number {
  return (heads / measuredHeads.attention) * attentionTime(timingPresets.H800, 1, tokens, squares);
}

/** The GPUs and links of an all-to-all. */
export interface AllToAllOptions {
  readonly gpu: VlmGpuId;
  /** Devices per node, by default 8. */
  readonly devicesPerNode?: number;
  /** Heads that are sent; by default as in the measurement. */
  readonly heads?: number;
}

/**
 * Returns the seconds of both all-to-alls of one attention layer (FlexRL Table 5); 0 for a group of one device. More heads count
 * like more tokens.
 *
 * @param tokens - tokens of the pack that the group shares
 */
export function allToAllSeconds(
  tokens: number,
  degree: number,
  { gpu, devicesPerNode = 8, heads = measuredHeads.allToAll }: AllToAllOptions,
): number {
  if (degree === 1 || tokens === 0) return 0;
  // Groups must fill nodes, or nodes must fill groups; otherwise a device may be the only one of its group on a node.
  const whole = devicesPerNode % degree === 0 || degree % devicesPerNode === 0;
  const besides = whole ? Math.min(degree, devicesPerNode) : 1;
  return 2 * allToAllTime(timings[gpu], degree, (tokens * heads) / measuredHeads.allToAll, besides);
}

/** Returns the number of heads that an all-to-all sends for a model. */
export const headsSent = ({ attentionHeads, kvHeads }: VlmModel): number => 2 * attentionHeads + 2 * kvHeads;

/** Returns the bytes that one layer's all-to-alls move per token that leaves its device. */
export const bytesPerSentToken = (model: VlmModel): number => headsSent(model) * model.headDimension * bytesPerValue;

/** Returns the seconds of a forward pass over tokens, without attention. */
export function linearSeconds(model: VlmModel, gpu: VlmGpuId, tokens: number): number {
  return (2e9 * model.billionParameters * tokens) / (vlmGpus[gpu].tflops * 1e12 * computeEfficiency.backbone);
}

/** Returns the seconds of the vision tower over images or frames with this many visual tokens (4 patches each). */
export function visionSeconds(model: VlmModel, gpu: VlmGpuId, visualTokens: number): number {
  const flops = 2e9 * model.vision.billionParameters * 4 * visualTokens;
  return flops / (vlmGpus[gpu].tflops * 1e12 * computeEfficiency.tower);
}
