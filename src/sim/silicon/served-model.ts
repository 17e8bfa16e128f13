/**
 * What a decode step and a prefill of a model cost on an engine, from physical sizes: bytes of weights and KV, operations, layers,
 * and payloads of all-reduces. A step of b sequences on each of D data-parallel ranks of the attention takes
 *
 *   max( (dense + experts · (1 − (1 − k/E)^(b·D))) / bandwidth,  b · operations / compute )      matrix products
 *   + context tokens · KV bytes / bandwidth                                                       attention
 *   + layers · launches + 2 · layers · (all-reduce + b · payload / link) + b · per sequence        all that is left
 *
 * Dense weights are shared by the GPUs of a rank, experts by all GPUs of the engine. `constants.ts` has the shares of the peaks.
 */
import { refuse } from '../../errors.ts';
import { type SiliconConstants, siliconConstants } from './constants.ts';
import type { Gpu } from './gpus.ts';
import type { ModelShape, Precision } from './models/model-shape.ts';

/** The sizes of a model that its times follow from. */
export type ServedShape = Omit<
  ModelShape,
  'name' | 'family' | 'slidingLayers' | 'totalParameters' | 'activeParameters' | 'sparseAttentionTopK' | 'assumed'
>;
/** What the times follow from of a GPU; what it has no units for is left out. */
export type ServingGpu = Pick<Gpu, 'label' | 'memoryGb' | 'bandwidthGbps' | 'tflops' | 'linkGbps'> &
  Partial<Pick<Gpu, 'generation' | 'fp8Tflops' | 'fp4Tflops'>>;

/** A model on one inference engine. */
export interface ServedModel {
  readonly model: ServedShape;
  readonly gpu: ServingGpu;
  /** Precision of the weights. */
  readonly precision: Precision;
  /** Precision of the KV cache; bf16 by default. */
  readonly kvPrecision?: 'bf16' | 'fp8';
  /** GPUs of the engine. */
  readonly gpus: number;
  /** Data-parallel ranks of the attention (1 by default); the other parallelism of the engine is tensor parallelism. */
  readonly attentionRanks?: number;
  /** Share of the GPU memory for weights and KV cache; 0.9 by default. */
  readonly memoryUtilization?: number;
}

/** Bytes of a value; those with four bits have scales for groups of 16 or 32 values. */
export const bytesOfPrecision: Readonly<Record<Precision, number>> = Object.freeze({
  bf16: 2,
  fp8: 1,
  int8: 1,
  fp4: 0.5625,
  int4: 0.5625,
});

/** GPU memory that neither weights nor KV may use, in bytes: activations, graphs, the context of the driver. */
const workspaceBytes = 2e9;
/** Makers call 2^30 bytes a GB of memory: nvidia-smi shows 81,559 MiB of an H100 with 80 GB. */
export const bytesOfGb = 2 ** 30;

/** The costs of a decode step and of a prefill, of one rank of the attention; `costModelSchema` says what each one is. */
export interface EngineCosts {
  readonly gpus: number;
  readonly memoryBoundSeconds: number;
  readonly expertSeconds: number;
  readonly expertMissShare: number;
  readonly computeSecondsPerSequence: number;
  readonly overheadSeconds: number;
  readonly secondsPerSequence: number;
  readonly secondsPerContextToken: number;
  readonly prefillSecondsPerToken: number;
  readonly prefillSecondsPerSquaredToken: number;
  readonly prefillInterference: number;
  readonly kvCapacityTokens: number;
}

/**
 * Returns the precision of what is not an expert: four bits are for the experts of a mixture, whose attention stays as it was
 * published, and for all of a dense model.
 */
function densePrecision({ experts, nativePrecision }: ServedShape, precision: Precision): Precision {
  const isFourBits = precision === 'fp4' || precision === 'int4';
  if (!isFourBits || experts === 0) return precision;
  return nativePrecision === 'fp8' ? 'fp8' : 'bf16';
}

/** Returns operations per second at a precision: what a GPU has no units for is computed in bf16. */
function flopsOf({ tflops, fp8Tflops = tflops, fp4Tflops = tflops }: ServingGpu, precision: Precision): number {
  const speeds = { bf16: tflops, fp8: fp8Tflops, int8: fp8Tflops, fp4: fp4Tflops, int4: tflops };
  return speeds[precision] * 1e12;
}

/**
 * Returns the costs of an engine.
 *
 * @throws PolicyError `infeasible` if the weights leave no room for a KV cache
 */
export function engineCosts(served: ServedModel, constants: SiliconConstants = siliconConstants): EngineCosts {
  const { model, gpu, precision, kvPrecision = 'bf16', gpus, attentionRanks: ranks = 1 } = served;
  const shards = gpus / ranks;
  const bandwidth = gpu.bandwidthGbps * 1e9;
  const dense = densePrecision(model, precision);
  const denseBytes = model.denseParameters * bytesOfPrecision[dense];
  const expertBytes = model.expertParameters * bytesOfPrecision[precision];
  const hit = model.experts === 0 ? 0 : model.expertsPerToken / model.experts;

  const kvBytes = bytesOfPrecision[kvPrecision];
  // A latent cache is whole on every GPU; heads are shared until each GPU has one.
  const kvShards = model.mla === undefined ? Math.min(shards, model.kvHeads) : 1;
  const kvBytesPerToken = (model.kvValuesPerToken * kvBytes) / kvShards;
  const windowBytes = (model.slidingKvValuesPerToken * model.slidingWindow * kvBytes) / kvShards;
  // The state of linear attention is read and written in each step.
  const stateBytes = (2 * model.linearStateValues * bytesOfPrecision.bf16) / shards;
  const kvBandwidth = bandwidth * constants.kvBandwidth;

  const denseFlops = flopsOf(gpu, dense);
  const expertFlops = flopsOf(gpu, precision);
  // Of each sequence of a rank; experts have the sequences of all ranks.
  const flopSeconds =
    (2 * model.denseParameters) / (shards * denseFlops) +
    (2 * model.expertParameters * hit * ranks) / (gpus * expertFlops);
  // A prefill is shared by all GPUs.
  const prefillSeconds =
    (2 * model.denseParameters) / (gpus * denseFlops) + (2 * model.expertParameters * hit) / (gpus * expertFlops);

  const isOne = gpus === 1;
  const reduces = isOne ? 0 : 2 * model.layers;
  const payloadSeconds =
    (reduces * model.hiddenSize * bytesOfPrecision.bf16 * Math.min(1, (2 * (gpus - 1)) / gpus)) /
    (gpu.linkGbps * 1e9 * constants.linkBandwidth);

  const latentLayers = (model.mla === undefined ? 0 : model.attentionLayers) + model.linearLayers;
  const launches =
    model.layers * constants.layerSeconds +
    model.moeLayers * constants.expertLayerSeconds +
    latentLayers * constants.latentLayerSeconds;
  const queryValues = model.heads * model.headDimension * model.attentionLayers;

  return {
    gpus,
    memoryBoundSeconds: denseBytes / (shards * bandwidth * constants.weightBandwidth),
    expertSeconds: expertBytes / (gpus * bandwidth * constants.weightBandwidth),
    expertMissShare: hit === 0 ? 0 : (1 - hit) ** ranks,
    computeSecondsPerSequence: flopSeconds / constants.decodeCompute,
    overheadSeconds:
      launches * (gpu.generation === 'blackwell' ? constants.blackwellLaunches : 1) +
      reduces * constants.allReduceSeconds,
    secondsPerSequence: constants.sequenceSeconds + ranks * payloadSeconds + (windowBytes + stateBytes) / kvBandwidth,
    secondsPerContextToken: kvBytesPerToken / kvBandwidth,
    prefillSecondsPerToken: prefillSeconds / constants.prefillCompute + payloadSeconds,
    // Causal attention: two products of half of the square, with two operations a value.
    prefillSecondsPerSquaredToken: (2 * queryValues) / (gpus * gpu.tflops * 1e12 * constants.prefillAttention),
    prefillInterference: constants.interference,
    kvCapacityTokens: capacityOf(served, denseBytes, expertBytes, kvBytesPerToken),
  };
}

/** Returns the tokens of KV that fit on a rank. */
function capacityOf(
  { model, gpu, gpus, attentionRanks = 1, memoryUtilization = 0.9 }: ServedModel,
  denseBytes: number,
  expertBytes: number,
  kvBytesPerToken: number,
): number {
  // Input and output embeddings stay in bf16; the output is a part of the dense weights already.
  const embeddingBytes = model.embeddingParameters * bytesOfPrecision.bf16;
  const weights = ((denseBytes + embeddingBytes) * attentionRanks + expertBytes) / gpus;
  const free = gpu.memoryGb * bytesOfGb * memoryUtilization - workspaceBytes - weights;
  const tokens = Math.floor(free / kvBytesPerToken);
  if (tokens >= 1) return tokens;
  const expected = `weights that leave room on ${gpus} × ${gpu.label}: more GPUs an engine, or fewer bits`;
  const perGpu = `${(weights / bytesOfGb).toFixed(0)} of ${gpu.memoryGb} GB a GPU at ${gpus} GPUs an engine`;
  refuse('infeasible', 'tensorParallel', expected, perGpu);
}
