/**
 * One-step off-policy pipelines (RollPacker §6.7): a round is trained on separate GPUs while the next round is rolled out, so
 * responses come from weights that are one version old.
 */
import { refuse } from '../../errors.ts';
import { type RollpackerSwitches, rollpackerScheduler, variants } from './ablation.ts';
import type { Job } from './job.ts';
import type { Scheduler } from './scheduler.ts';

/**
 * Returns the same job with half of its GPUs for rollouts and half for training, which therefore takes twice as long.
 *
 * @throws PolicyError `infeasible` for a job without hardware, or with less than two engines
 */
export function withOneStepOff(job: Job): Job {
  const { hardware, cost } = job;
  if (hardware === undefined || job.engines < 2) {
    const path = hardware === undefined ? 'hardware' : 'engines';
    refuse('infeasible', path, 'a job with hardware and two engines or more', job.name);
  }
  const engines = Math.floor(job.engines / 2);
  const gpus = job.engines * cost.gpus;
  const trainingGpus = gpus - engines * cost.gpus;
  const slower = gpus / trainingGpus;
  return {
    ...job,
    engines,
    hardware: { ...hardware, trainingGpus },
    cost: {
      ...cost,
      trainSecondsPerResponse: cost.trainSecondsPerResponse * slower,
      trainSecondsPerToken: cost.trainSecondsPerToken * slower,
      referenceSecondsPerToken: cost.referenceSecondsPerToken * slower,
      logProbSecondsPerToken: cost.logProbSecondsPerToken * slower,
    },
  };
}

/**
 * Returns the variants of the ablation in a one-step off-policy pipeline, the variant without mechanisms first; no variant
 * streams its training.
 */
export function oneStepOffAblation(
  job: Job,
  factors: Pick<RollpackerSwitches, 'promptSpeculation' | 'responseSpeculation'> = {},
): Scheduler[] {
  return variants
    .filter((one) => !one.switches.streamTraining)
    .map(({ id, label, switches, ...rest }) => ({
      ...rollpackerScheduler(
        job,
        id,
        { ...factors, ...switches, oneStepOff: true },
        id === 'baseline' ? 'one-step-off' : label,
      ),
      ...rest,
    }));
}
