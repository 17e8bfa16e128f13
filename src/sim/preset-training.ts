/** Training costs of the presets: docs/calibration.md separates assumptions from fits. */

/** Seconds of a step around its rollout. */
export interface PresetTimes {
  readonly fixedRolloutSeconds: number;
  readonly rewardTailSeconds: number;
  /** Seconds of all passes and gradients of a step of 1024 responses, without the part that grows with tokens. */
  readonly trainFixedSeconds: number;
  /** All passes and gradients of a token. */
  readonly trainTokenSeconds: number;
  readonly weightSyncSeconds: number;
}

/** A pass is two of the six floating-point operations that a gradient takes for each parameter and token. */
const passShare = 1 / 5;
/** Share of the fixed seconds of training that come with the responses; the rest comes once all gradients are there. */
const responseShare = 0.5;
/** Bandwidth from host memory to a GPU, in bytes a second. */
export const hostBytesPerSecond = 25e9;

/**
 * Splits the seconds of training into shares for a step, a response and a token.
 *
 * @param responses - of a step
 * @param shardBytes - weights that a GPU has in training
 */
export function trainingOf(
  { trainFixedSeconds, trainTokenSeconds, ...times }: PresetTimes,
  responses: number,
  shardBytes: number,
) {
  const referenceSwapSeconds = shardBytes / hostBytesPerSecond;
  const fixed = trainFixedSeconds - 2 * referenceSwapSeconds;
  return {
    ...times,
    trainBaseSeconds: fixed * (1 - responseShare),
    trainSecondsPerResponse: (fixed * responseShare) / responses,
    trainSecondsPerToken: trainTokenSeconds * (1 - 2 * passShare),
    referenceSecondsPerToken: trainTokenSeconds * passShare,
    logProbSecondsPerToken: trainTokenSeconds * passShare,
    referenceSwapSeconds,
  };
}
