/** The synchronous job that the options of a command describe: the same one for every command. */
import type { MeasuredStep } from '../sim/calibration/measured.ts';
import type { Calibration } from '../sim/calibration/result.ts';
import type { Job } from '../sim/colocated/job.ts';
import { jobPreset } from '../sim/presets.ts';
import { calibrated } from './calibrate.ts';
import { bundledSandboxSeconds } from './files.ts';

/** Options for the job to simulate; absent ones are the preset's. */
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

/** The preset of the command line. */
export const usualPreset = 'qwen2.5-14b-16k';

/**
 * The job, its code rewarded in the seconds that were measured.
 *
 * @param measured - the steps of the file that `calibrate` names
 * @throws PolicyError `unknown_id` for a preset that there is not; as `calibrated` does
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
