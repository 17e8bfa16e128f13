/**
 * Constants of the simulator of VLM steps, in seconds, tokens and bytes. docs/calibration.md describes the measurements behind each
 * constant, and the quality of its fit. The constants of attention and all-to-alls are in the planner `flex-ulysses`.
 */
import type { VlmModelId } from './models.ts';

/** Query heads of FlexRL's Table 3, and heads that the all-to-alls of its Table 5 send: query and output, keys and values. */
export const measuredHeads = { attention: 64, allToAll: 2 * 32 + 2 * 8 };

/** Shares of the peak speed that matrix products reach, for the backbone in training and for the vision tower. */
export const computeEfficiency = { backbone: 0.45, tower: 0.4 };
/**
 * Passes over a sequence. An update is a forward, a recomputed forward, and a backward with twice the compute and the same
 * all-to-all as a forward.
 */
export const passes = { forward: { compute: 1, allToAll: 1 }, update: { compute: 4, allToAll: 3 } };

/** Rollout: seconds that do not depend on the batch, and seconds per visual token, on the engine with most of them. */
export const rollout = {
  fixedSeconds: { 'mimo-vl-7b': 14.7, 'qwen2.5-vl-32b': 6.5 } as Readonly<Record<VlmModelId, number>>,
  hostSecondsPerDecodeStep: 1.2e-3,
  secondsPerVisualToken: 1.09e-4,
};

/**
 * Decoding and preprocessing: seconds per image, and seconds per video, times frames ^ exponent · megapixels, at the speed of a
 * controller with so many processes.
 */
export const decoding = { imageSeconds: 0.16, videoSeconds: 0.107, frameExponent: 0.61, processes: 2.6 };

/**
 * Visual inputs from one controller. A stage waits some seconds per visual token of the batch, and some for the square root of
 * the thousands of visual tokens per GPU; the ranks in a fixed Ulysses group share the second part.
 */
export const centralized = {
  rolloutSecondsPerToken: 6.18e-5,
  stageSecondsPerToken: 2e-5,
  stageSecondsPerRoot: 13.6,
};

/**
 * Visual inputs from ShadowLoader: processes of a node; seconds that a stage waits, and additional seconds of the first stage after
 * the rollout; least seconds per sample that a step waits (FlexRL Table 1, if its batch has 256 sequences).
 */
export const shadow = {
  processesPerNode: 16,
  stageSeconds: 3.3,
  firstStageSeconds: 2,
  handOffSecondsPerSample: 0.014,
};

/** Input bytes of a visual token: 4 patches of 14 × 14 pixels, 3 colours, 2 frames, float32. */
export const bytesPerVisualToken = 4 * 14 * 14 * 3 * 2 * 4;
