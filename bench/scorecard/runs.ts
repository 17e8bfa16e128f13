/** Simulated runs of RollPacker's jobs, each made once, and means over seeds. */

import { type RollpackerSwitches, rollpackerScheduler, variants } from '../../src/sim/colocated/ablation.ts';
import { simulate } from '../../src/sim/colocated/driver.ts';
import type { Job } from '../../src/sim/colocated/job.ts';
import { synchronousBaseline, tailBatchingScheduler } from '../../src/sim/colocated/scheduler.ts';
import type { RunResult, StepResult } from '../../src/sim/comparison/result.ts';
import { type JobPresetId, jobPreset, rollpackerWorkload } from '../../src/sim/models/presets.ts';
import type { RewardSettings } from '../../src/sim/rewards/settings.ts';
import type { Workload } from '../../src/sim/workload/workload.ts';
import { mean } from '../support.ts';

/** Steps of a run: four whole periods of short and long rounds at both factors 1.25. */
const usualSteps = 20;

/** Switches of a variant of the ablation, by its id. */
export const variant = (id: (typeof variants)[number]['id']): RollpackerSwitches =>
  variants.find((one) => one.id === id)!.switches;

/** A job, and the lengths of a seed. */
export interface Setting {
  readonly job: Job;
  readonly workload: (seed: number) => Workload;
  readonly steps?: number;
}

const kept = new Map<Setting, Map<string, RunResult>>();

/** A run of a setting with some mechanisms, made once. */
export function runOf(setting: Setting, switches: RollpackerSwitches, seed: number): RunResult {
  const { job, workload, steps = usualSteps } = setting;
  const runs = kept.get(setting) ?? new Map<string, RunResult>();
  kept.set(setting, runs);
  const key = JSON.stringify([switches, seed]);
  const prompts = steps * job.promptsPerRound;
  const run =
    runs.get(key) ??
    simulate(job, rollpackerScheduler(job, 'x', switches), workload(seed), { prompts, seed, timeline: false });
  runs.set(key, run);
  return run;
}

const settings = new Map<string, Setting>();

/** A preset on RollPacker's lengths, with rewards of one kind only if one is named. */
export function preset(id: JobPresetId, only?: 'rule' | 'sandbox' | 'judge'): Setting {
  const key = `${id} ${only}`;
  const { job, capTokens } = jobPreset(id);
  const shares: RewardSettings['shares'] = {
    rule: 0,
    sandbox: 0,
    judge: 0,
    ...(only === undefined ? {} : { [only]: 1 }),
  };
  const known = settings.get(key) ?? {
    job: only === undefined ? job : { ...job, rewards: { ...job.rewards!, shares } },
    workload: (seed: number) => rollpackerWorkload(capTokens, seed),
  };
  settings.set(key, known);
  return known;
}

/** Mean over the steps of a kind, or all of them. */
export function meanStep(run: RunResult, value: (step: StepResult) => number, kind?: StepResult['kind']): number {
  return mean(run.steps.filter((step) => kind === undefined || step.kind === kind).map(value));
}
export const stepSeconds = ({ startSeconds, endSeconds }: StepResult): number => endSeconds - startSeconds;
export const rolloutSeconds = (step: StepResult): number => step.rolloutSeconds;

/** Rounds after which 1, 1.125, 1.25 and 1.5 have all gone through whole periods of short and long rounds. */
const wholePeriods = 45;

/** Mean rollout seconds of a round with some factors, rewards left out: what Figure 12 shows. */
export function rolloutOf(
  id: JobPresetId,
  factors: { readonly promptSpeculation: number; readonly responseSpeculation: number },
  seeds: readonly number[],
): number {
  const { job, capTokens } = jobPreset(id);
  const isBaseline = factors.promptSpeculation === 1 && factors.responseSpeculation === 1;
  const scheduler = isBaseline ? synchronousBaseline(job) : tailBatchingScheduler(job, factors);
  const prompts = wholePeriods * job.promptsPerRound;
  return mean(
    seeds.flatMap((seed) =>
      simulate(job, scheduler, rollpackerWorkload(capTokens, seed), { prompts, seed, timeline: false }).steps.map(
        rolloutSeconds,
      ),
    ),
  );
}
