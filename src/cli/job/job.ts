/** The synchronous job that the options of a command describe; every command builds it in the same way. */
import type { MeasuredStep } from '../../sim/calibration/measured.ts';
import type { Calibration } from '../../sim/calibration/result.ts';
import type { Job } from '../../sim/colocated/job.ts';
import { jobPreset, usualPreset } from '../../sim/models/presets.ts';
import { bundledSandboxSeconds } from '../files/traces.ts';
import { calibrated } from './calibrate.ts';

/** Options of the simulated job; absent options have the values of the preset. */
export interface JobOptions {
  /** Id of a preset. */
  readonly preset?: string;
  /** P0, prompts of a round. */
  readonly promptsPerRound?: number;
  /** R0, responses of a prompt. */
  readonly responsesPerPrompt?: number;
  readonly engines?: number;
  /** Longest response, in tokens. */
  readonly cap?: number;
  /** A file of measured steps. */
  readonly calibrate?: string;
}

/**
 * Returns the job; rewards of code take the measured times.
 *
 * @param measured - the steps of the file that `calibrate` names
 * @throws PolicyError `unknown_id` for an unknown preset; the errors of `calibrated`
 */
export function jobOfOptions(
  options: JobOptions,
  measured: readonly MeasuredStep[] = [],
): {
  readonly job: Job;
  readonly capTokens: number;
  readonly calibration?: Calibration;
} {
  const preset = jobPreset(options.preset ?? usualPreset);
  const { promptsPerRound, responsesPerPrompt, engines, hardware, rewards } = preset.job;
  const capTokens = options.cap ?? preset.capTokens;
  const asked: Job = {
    ...preset.job,
    promptsPerRound: options.promptsPerRound ?? promptsPerRound,
    responsesPerPrompt: options.responsesPerPrompt ?? responsesPerPrompt,
    engines: options.engines ?? engines,
    hardware: { ...hardware!, maxResponseTokens: capTokens },
    rewards: { ...rewards!, sandboxSeconds: bundledSandboxSeconds() },
  };
  if (options.calibrate === undefined) return { job: asked, capTokens };
  const calibration = calibrated(asked, options.calibrate, measured);
  return { job: calibration.job, capTokens, calibration };
}
