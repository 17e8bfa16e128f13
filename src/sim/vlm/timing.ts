/** Seconds of the parts of a stage on one device. */
import { bytesPerValue } from '../cost-model.ts';
import { allToAll, allToAllHeads, attention, computeEfficiency } from './constants.ts';
import { type VlmGpuId, type VlmModel, vlmGpus } from './models.ts';

/** Variable-length attention of one layer, in seconds, over sequences by Σ h² and Σ h (FlexRL Table 3). */
export function attentionSeconds(heads: number, squares: number, tokens: number): number {
  return (heads / attention.heads) * (attention.perTokenSquared * squares + attention.perToken * tokens);
}

/** Tokens that a device sends to the others of its group in one all-to-all. */
export const sentTokens = (tokens: number, degree: number): number => (tokens * (degree - 1)) / (degree * degree);

/**
 * The all-to-alls of one attention layer, in seconds (FlexRL Table 5): 0 for a group of one.
 *
 * @param tokens - of the pack that the group shares
 * @param heads - twice the query heads and twice the KV heads of the model
 */
export function allToAllSeconds(
  tokens: number,
  degree: number,
  { gpu, devicesPerNode = 8, heads = allToAllHeads }: AllToAllOptions,
): number {
  if (degree === 1 || tokens === 0) return 0;
  const { base, inside, growth, between } = allToAll[gpu];
  const share = heads / allToAllHeads / 1e4;
  const outside = (tokens * Math.max(0, degree - devicesPerNode)) / (degree * degree);
  return base + share * ((inside + growth * tokens) * sentTokens(tokens, degree) + between * outside);
}

/** Where an all-to-all runs. */
export interface AllToAllOptions {
  readonly gpu: VlmGpuId;
  /** By default 8. */
  readonly devicesPerNode?: number;
  readonly heads?: number;
}

/** Heads that an all-to-all of a model sends. */
export const headsSent = ({ attentionHeads, kvHeads }: VlmModel): number => 2 * attentionHeads + 2 * kvHeads;

/** Bytes that one all-to-all layer moves for a token that leaves its device. */
export const bytesPerSentToken = (model: VlmModel): number => headsSent(model) * model.headDimension * bytesPerValue;

/** Everything but attention of a forward pass over tokens, in seconds. */
export function linearSeconds(model: VlmModel, gpu: VlmGpuId, tokens: number): number {
  return (2e9 * model.billionParameters * tokens) / (vlmGpus[gpu].tflops * 1e12 * computeEfficiency.backbone);
}

/** The vision tower over the images or frames of so many visual tokens (4 patches each), in seconds. */
export function visionSeconds(model: VlmModel, gpu: VlmGpuId, visualTokens: number): number {
  const flops = 2e9 * model.vision.billionParameters * 4 * visualTokens;
  return flops / (vlmGpus[gpu].tflops * 1e12 * computeEfficiency.tower);
}
