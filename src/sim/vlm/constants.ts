/**
 * Constants of the simulator of VLM steps, in seconds, tokens and bytes. docs/calibration.md says what each was fitted
 * to, and how well it fits.
 */
import type { VlmGpuId, VlmModelId } from './models.ts';

/**
 * Variable-length attention on an H800, 64 query heads of dimension 128: seconds = perTokenSquared · Σ h² + perToken · Σ h
 * (FlexRL Table 3, from its first and last column).
 */
export const attention = { heads: 64, perTokenSquared: 4.224361e-11, perToken: 2.235534e-8 };

/**
 * The all-to-alls of one attention layer with 32 query and 8 KV heads of dimension 128, for a pack of h tokens: base +
 * (inside + growth · h) · v + between · w. Of 10,000 tokens, v leave a device (h (p − 1) ÷ p²) and w leave its node
 * (FlexRL Table 5).
 */
export const allToAll: Readonly<
  Record<
    VlmGpuId,
    { readonly base: number; readonly inside: number; readonly growth: number; readonly between: number }
  >
> = {
  h200: { base: 0, inside: 2.2364e-3, growth: 3.262e-9, between: 1.39592e-2 },
  h800: { base: 5.1975e-3, inside: 0, growth: 7.8126e-9, between: 1.55003e-2 },
};
/** Heads in {@link allToAll}: what is sent grows with query and output, keys and values. */
export const allToAllHeads = 2 * 32 + 2 * 8;

/** Share of the peak speed that matrix products reach, of the backbone in training and of the vision tower. */
export const computeEfficiency = { backbone: 0.45, tower: 0.4 };
/**
 * Passes over a sequence: an update is a forward, a recomputed forward, and a backward of twice the compute and as much
 * all-to-all as a forward.
 */
export const passes = { forward: { compute: 1, allToAll: 1 }, update: { compute: 4, allToAll: 3 } };

/** Rollout: seconds that do not depend on the batch, and of each visual token on the engine that has most of them. */
export const rollout = {
  fixedSeconds: { 'mimo-vl-7b': 14.7, 'qwen2.5-vl-32b': 12 } as Readonly<Record<VlmModelId, number>>,
  hostSecondsPerDecodeStep: 2.8e-3,
  secondsPerVisualToken: 1.09e-4,
};

/**
 * Decoding and preprocessing: seconds of an image, and of a video times frames ^ exponent · megapixels, at the pace of a
 * controller, which is that of so many processes.
 */
export const decoding = { imageSeconds: 0.16, videoSeconds: 0.107, frameExponent: 0.61, processes: 2.6 };

/**
 * Visual inputs by one controller: what a stage waits for them, for each visual token of the batch, and for the root of
 * the thousands of them that come on a GPU, shared by the ranks of a fixed Ulysses group.
 */
export const centralized = {
  rolloutSecondsPerToken: 6.18e-5,
  stageSecondsPerToken: 2e-5,
  stageSecondsPerRoot: 13.6,
};

/**
 * Visual inputs by ShadowLoader: processes of a node; what a stage waits, and the first one after the rollout in addition;
 * what a step waits for each sample at least (FlexRL Table 1, if its batch has 256 sequences).
 */
export const shadow = {
  processesPerNode: 16,
  stageSeconds: 3.3,
  firstStageSeconds: 2,
  handOffSecondsPerSample: 0.014,
};

/** Bytes of the inputs of a visual token: 4 patches of 14 × 14 pixels, 3 colours, 2 frames, float32. */
export const bytesPerVisualToken = 4 * 14 * 14 * 3 * 2 * 4;
