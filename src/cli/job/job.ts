/** The synchronous job that the options of a command describe; every command builds it in the same way. */
import type { Job } from '../../sim/colocated/job.ts';
import { presetWithBasis } from '../../sim/models/preset-basis.ts';
import { jobPreset, usualPreset } from '../../sim/models/presets.ts';
import { usualWorkload } from '../../sim/workload/of-trace.ts';
import { bundledSandboxSeconds } from '../files/traces.ts';
import { type Calibrated, calibratedBy, type Measured } from './calibration/measured.ts';
import { type ClusterOptions, clusterOf, saysCluster } from './cluster.ts';

/** Options of the simulated job; absent options have the values of the preset, or are assumed for the cluster. */
export interface JobOptions extends ClusterOptions {
  /** Id of a preset. */
  readonly preset?: string;
  /** P0, prompts of a round. */
  readonly promptsPerRound?: number;
  /** R0, responses of a prompt. */
  readonly responsesPerPrompt?: number;
  readonly engines?: number;
  /** Longest response, in tokens. */
  readonly cap?: number;
  /** Where measurements come from: a URL, a log, a file, or numbers. */
  readonly calibrate?: string;
}

/** A job, and how it was fitted. */
export interface OptionsJob {
  readonly job: Job;
  readonly capTokens: number;
  readonly calibration?: Calibrated;
}

/**
 * Returns the job; rewards of code take the measured times. `job.assumed` says what the options do not.
 *
 * @param measured - what `calibrate` names
 * @throws PolicyError `unknown_id` for an unknown preset, model or GPU; `invalid_input` for a preset beside a cluster; the errors of
 *   `clusterJob` and `calibratedBy`
 */
export function jobOfOptions(options: JobOptions, measured?: Measured): OptionsJob {
  const { job, capTokens } = saysCluster(options) ? ofCluster(options) : ofPreset(options);
  const asked: Job = {
    ...job,
    hardware: { ...job.hardware!, maxResponseTokens: capTokens },
    rewards: { ...job.rewards!, sandboxSeconds: bundledSandboxSeconds() },
  };
  if (measured === undefined) return { job: asked, capTokens };
  const calibration = calibratedBy(asked, measured);
  return { job: calibration.job, capTokens, calibration };
}

/** Returns the longest response where no option says it. */
export const usualCapOf = (options: JobOptions): number =>
  saysCluster(options) ? usualWorkload.capTokens : jobPreset(options.preset ?? usualPreset).capTokens;

function ofCluster(options: JobOptions): OptionsJob {
  const { engines, promptsPerRound, responsesPerPrompt, cap: capTokens } = options;
  return clusterOf(options, { engines, promptsPerRound, responsesPerPrompt, capTokens });
}

function ofPreset(options: JobOptions): OptionsJob {
  const preset = presetWithBasis(options.preset);
  const { promptsPerRound, responsesPerPrompt, engines } = preset.job;
  const job: Job = {
    ...preset.job,
    promptsPerRound: options.promptsPerRound ?? promptsPerRound,
    responsesPerPrompt: options.responsesPerPrompt ?? responsesPerPrompt,
    engines: options.engines ?? engines,
  };
  return { job, capTokens: options.cap ?? preset.capTokens };
}
