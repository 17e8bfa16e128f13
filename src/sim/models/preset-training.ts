/** Training costs of the presets; docs/calibration.md says which numbers are assumptions and which are fitted. */

/** Seconds of a step outside of its rollout. */
export interface PresetTimes {
  readonly fixedRolloutSeconds: number;
  readonly rewardTailSeconds: number;
  /** Seconds of all passes and gradients of a step of 1024 responses, without the part that is proportional to tokens. */
  readonly trainFixedSeconds: number;
  /** Seconds of all passes and gradients per token. */
  readonly trainTokenSeconds: number;
  readonly weightSyncSeconds: number;
}

/**
 * Share of one pass in the training time of a token: for each parameter, the pass of the reference model and the pass for
 * log-probabilities take two floating-point operations each, and the gradient six.
 */
const passShare = 1 / 5;
/** Share of the fixed training time that is spent per response; the rest is spent once all gradients exist. */
const responseShare = 0.5;
/** Bandwidth from host memory to a GPU, in bytes per second. */
export const hostBytesPerSecond = 25e9;

/**
 * Splits the seconds of training into shares for a step, a response and a token.
 *
 * @param responses - number of responses in a step
 * @param shardBytes - bytes of weights on a GPU in training
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
