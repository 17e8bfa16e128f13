// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `judge-offload`: its input and its plan. */
import type { LengthFunction } from '../messages/objects.ts';

/** Input of `judge-offload`, as a caller writes it. */
export interface JudgeOffloadInput {
  /** Layers of the judge, all of one size. A whole number, 1 to 256. */
  layers: number;
  /** Bytes of the weights of a layer. A number, 1 or more. */
  layerBytes: number;
  /**
   * Bytes that always stay on the GPU: embeddings, output head, workspace of the process. A number, 0 or more.
   *
   * @defaultValue `0`
   */
  fixedBytes?: number | undefined;
  /**
   * Length that the plan is for, in tokens: the longest that the judge is given until the next plan. A whole number, 1
   * to 1,000,000,000.
   */
  sequenceTokens: number;
  /** Bytes of activations and KV cache of a forward pass, by sequence length: a polynomial, or measured points. */
  activationBytes: LengthFunction;
  /** Seconds that a layer computes with all SMs to itself, by sequence length: a polynomial, or measured points. */
  layerSeconds: LengthFunction;
  /** GPU memory that the actor leaves, in bytes. A number, 0 or more. */
  memoryBytes: number;
  /** Bandwidth from host memory to the GPU that the actor leaves, in bytes per second. A number, 1 or more. */
  pcieBytesPerSecond: number;
  /**
   * Seconds that the transfer of a layer takes besides its bytes. A number, 0 to 1,000,000.
   *
   * @defaultValue `0`
   */
  transferOverheadSeconds?: number | undefined;
  /** Share of the SMs that the actor keeps, 0 to 1. */
  actorSmShare: number;
  /**
   * Share of the SMs that the judge can fill; with fewer, a layer takes longer in proportion. A number, 0.01 to 1.
   *
   * @defaultValue `1`
   */
  judgeSmShare?: number | undefined;
  /** Most layers that wait or run in buffers; no limit if absent. A whole number, 1 or more. */
  maxPrefetchDepth?: number | undefined;
  /**
   * How much slower than the fastest plan a plan may be, relative, if it leaves more SMs to the actor. A number, 0 to
   * 10.
   *
   * @defaultValue `0`
   */
  latencyTolerance?: number | undefined;
}

/** Input of `judge-offload`, its defaults filled in. */
export interface JudgeOffloadSettings
  extends Omit<JudgeOffloadInput, 'fixedBytes' | 'transferOverheadSeconds' | 'judgeSmShare' | 'latencyTolerance'> {
  /** Bytes that always stay on the GPU: embeddings, output head, workspace of the process. A number, 0 or more. */
  fixedBytes: number;
  /** Seconds that the transfer of a layer takes besides its bytes. A number, 0 to 1,000,000. */
  transferOverheadSeconds: number;
  /** Share of the SMs that the judge can fill; with fewer, a layer takes longer in proportion. A number, 0.01 to 1. */
  judgeSmShare: number;
  /**
   * How much slower than the fastest plan a plan may be, relative, if it leaves more SMs to the actor. A number, 0 to
   * 10.
   */
  latencyTolerance: number;
}

/** Plan of `judge-offload`. */
export interface JudgeOffloadPlan {
  /** Layers that stay on the GPU. A whole number, 0 or more. */
  residentLayers: number;
  /**
   * The other layers, from 0, ascending: they lie in host memory and pass through the buffers. Each: a whole number.
   */
  streamedLayers: number[];
  /**
   * Buffers of one layer each for streamed layers, the one that computes included; 0 if none is streamed. A whole
   * number.
   */
  prefetchDepth: number;
  /** Share of the SMs for the judge, whole percents: CUDA_MPS_ACTIVE_THREAD_PERCENTAGE ÷ 100. A number, 0.01 to 1. */
  mpsShare: number;
  /**
   * GPU memory that the judge takes: fixed, activations, resident layers and buffers. A number, 0 or more. In bytes.
   */
  memoryBytes: number;
  /** Seconds that a layer computes with that share. A number, 0 or more. */
  layerSeconds: number;
  /** Seconds that the transfer of a layer takes. A number, 0 or more. */
  transferSeconds: number;
  /** Predicted seconds of a forward pass, transfers overlapped with computation. A number, 0 or more. */
  pipelinedSeconds: number;
  /** Predicted seconds of the same pass if each layer were first fetched, then run. A number, 0 or more. */
  sequentialSeconds: number;
}
