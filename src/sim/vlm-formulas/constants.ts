/**
 * Constants of the simulator of VLM steps, in seconds, tokens and bytes. docs/calibration.md describes what each was fitted
 * to, and how well it fits. Attention and all-to-alls have theirs in the planner `flex-ulysses`.
 */
import type { VlmModelId } from './models.ts';

/** Query heads of FlexRL's Table 3, and heads that its Table 5 sends: query and output, keys and values. */
export const measuredHeads = { attention: 64, allToAll: 2 * 32 + 2 * 8 };

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
 * controller, which has this many processes.
 */
export const decoding = { imageSeconds: 0.16, videoSeconds: 0.107, frameExponent: 0.61, processes: 2.6 };

/**
 * Visual inputs by one controller: seconds that a stage waits for them, for each visual token of the batch, and for the root of
 * the thousands of them that come on a GPU, shared by the ranks of a fixed Ulysses group.
 */
export const centralized = {
  rolloutSecondsPerToken: 6.18e-5,
  stageSecondsPerToken: 2e-5,
  stageSecondsPerRoot: 13.6,
};

/**
 * Visual inputs by ShadowLoader: processes of a node; seconds that a stage waits, and the first one after the rollout in addition;
 * seconds that a step waits for each sample at least (FlexRL Table 1, if its batch has 256 sequences).
 */
export const shadow = {
  processesPerNode: 16,
  stageSeconds: 3.3,
  firstStageSeconds: 2,
  handOffSecondsPerSample: 0.014,
};

/** Bytes of the inputs of a visual token: 4 patches of 14 × 14 pixels, 3 colours, 2 frames, float32. */
export const bytesPerVisualToken = 4 * 14 * 14 * 3 * 2 * 4;
