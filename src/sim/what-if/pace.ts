/** Fits the speed of a job to the rounds of its log: one factor for all engine seconds, and the mean time between rounds. */
import type { Job } from '../colocated/job.ts';
import { sumOf } from '../comparison/metrics.ts';
import type { StepResult } from '../comparison/result.ts';

/** A fit. */
export interface PaceFit {
  /** Number of rounds used for the fit; all ended before the event. */
  readonly rounds: number;
  /** Engine seconds: log ÷ cost model. */
  readonly factor: number;
  /** Mean seconds between the end of a rollout and the next rollout: rewards, training, new weights. */
  readonly betweenSeconds: number;
}

const rolloutsOf = (steps: readonly StepResult[]): number => sumOf(steps, 'rolloutSeconds');

/**
 * Fits the speed of a job to its log.
 *
 * @param steps - rounds of the log, from the first on
 * @param simulated - simulates the job from its beginning until so many prompts are trained
 */
export function fittedTo(
  steps: readonly StepResult[],
  job: Job,
  simulated: (prompts: number) => readonly StepResult[],
): { readonly job: Job; readonly fit: PaceFit | null } {
  const prompts = sumOf(steps, 'prompts');
  if (prompts === 0) return { job, fit: null };
  const factor = rolloutsOf(steps) / rolloutsOf(simulated(prompts));
  const betweenSeconds = sumOf(steps, (one) => one.endSeconds - one.startSeconds - one.rolloutSeconds) / steps.length;
  const { cost } = job;
  const fitted = {
    ...cost,
    memoryBoundSeconds: cost.memoryBoundSeconds * factor,
    expertSeconds: cost.expertSeconds * factor,
    computeSecondsPerSequence: cost.computeSecondsPerSequence * factor,
    overheadSeconds: cost.overheadSeconds * factor,
    secondsPerSequence: cost.secondsPerSequence * factor,
    secondsPerContextToken: cost.secondsPerContextToken * factor,
    prefillSecondsPerToken: cost.prefillSecondsPerToken * factor,
    prefillSecondsPerSquaredToken: cost.prefillSecondsPerSquaredToken * factor,
    fixedRolloutSeconds: cost.fixedRolloutSeconds * factor,
    rewardTailSeconds: 0,
    trainBaseSeconds: betweenSeconds,
    trainSecondsPerResponse: 0,
    trainSecondsPerToken: 0,
    referenceSecondsPerToken: 0,
    logProbSecondsPerToken: 0,
    weightSyncSeconds: 0,
  };
  return { job: { ...job, cost: fitted }, fit: { rounds: steps.length, factor, betweenSeconds } };
}
