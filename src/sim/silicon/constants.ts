/**
 * The constants of the time model of inference engines. They are effective values: each stands for what its comment says, and is
 * fitted with the others to measured serving runs of vLLM, SGLang and TensorRT-LLM on H100, H200, B200, B300 and GB200
 * (`npm run scorecard -- silicon --fit`; docs/silicon.md has the errors on runs that were left out of the fit).
 */

import type { Precision } from './models/model-shape.ts';

/** Inference engines that were measured. */
export const engineNames = ['vllm', 'sglang', 'trtllm'] as const;
/** Name of an inference engine. */
export type EngineName = (typeof engineNames)[number];

/** Precisions of weights. */
export const precisionNames = ['bf16', 'fp8', 'int8', 'fp4', 'int4'] as const satisfies readonly Precision[];

/** What stands between a request and its first token, apart from the compute of its prefill. */
export interface FirstTokenConstants {
  /** Seconds of the server and its client. */
  readonly seconds: number;
  /** Decode steps that a request waits for: scheduling, batching of arrivals, and chunks of tokens that are streamed together. */
  readonly steps: number;
  /** Share of the prefill of each other running request that a request waits for. */
  readonly queue: number;
}

/** The constants of the time model; shares are of the peak in the data sheet of a GPU. */
export interface SiliconConstants {
  /** Share of the memory bandwidth at which weights are read. */
  readonly weightBandwidth: number;
  /** Share of the memory bandwidth at which decode attention reads the KV cache. */
  readonly kvBandwidth: number;
  /** Share of the peak compute that the matrix products of a decode step reach. */
  readonly decodeCompute: number;
  /** Share of the peak compute that the matrix products of a prefill reach. */
  readonly prefillCompute: number;
  /** Share of the bf16 peak that the attention of a prefill reaches. */
  readonly prefillAttention: number;
  /** Share of the link bandwidth that an all-reduce reaches. */
  readonly linkBandwidth: number;
  /** Seconds by which a second of the prefill of others delays running sequences: chunked prefill hides a part of it. */
  readonly interference: number;
  /** Seconds of a layer for its launches and for the least time of its kernels, whatever the batch. */
  readonly layerSeconds: number;
  /** The same, in addition, of a layer with routed experts: routing and grouped products. */
  readonly expertLayerSeconds: number;
  /** The same, in addition, of a layer with latent (MLA) or linear attention. */
  readonly latentLayerSeconds: number;
  /** Share of these seconds on Blackwell GPUs: their hosts and kernels are faster. */
  readonly blackwellLaunches: number;
  /** Seconds of a decode step per sequence: sampling, detokenization, block tables. */
  readonly sequenceSeconds: number;
  /** Seconds of an all-reduce without its payload; a layer has two. */
  readonly allReduceSeconds: number;
  /** By engine, what comes before the first token. */
  readonly firstToken: Readonly<Record<EngineName, FirstTokenConstants>>;
}

/** The constants that ship. */
export const siliconConstants: SiliconConstants = Object.freeze({
  weightBandwidth: 0.92,
  kvBandwidth: 0.813,
  decodeCompute: 0.534,
  prefillCompute: 0.85,
  prefillAttention: 0.189,
  linkBandwidth: 0.3485,
  interference: 0.737,
  layerSeconds: 45.54e-6,
  expertLayerSeconds: 34.19e-6,
  latentLayerSeconds: 74.12e-6,
  blackwellLaunches: 0.744,
  sequenceSeconds: 26.15e-6,
  allReduceSeconds: 9.764e-6,
  firstToken: Object.freeze({
    vllm: Object.freeze({ seconds: 0.0113, steps: 4.71, queue: 0.096 }),
    trtllm: Object.freeze({ seconds: 0.0427, steps: 14.8, queue: 0.0364 }),
    sglang: Object.freeze({ seconds: 0.179, steps: 4.6, queue: 0.442 }),
  }),
});
