/**
 * One-off pipelines (RollPacker §6.7): the training of a round runs beside the rollout of the next one, on GPUs of its own,
 * so that responses come from weights that are one version old.
 */
import { refuse } from '../../errors.ts';
import type { Job } from './job.ts';
import { type RollpackerSwitches, rollpackerScheduler, rungs } from './ladder.ts';
import type { Scheduler } from './scheduler.ts';

/**
 * The same job with half of its GPUs for rollouts and the other half for training, which therefore takes twice as long.
 *
 * @throws PolicyError `infeasible` for a job without hardware, or with less than two engines
 */
export function withOneOff(job: Job): Job {
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

/** The rungs of the ladder in a one-off pipeline, the one without any mechanism first; training streams in none of them. */
export function oneOffLadder(
  job: Job,
  factors: Pick<RollpackerSwitches, 'promptSpeculation' | 'responseSpeculation'> = {},
): Scheduler[] {
  return rungs
    .filter((one) => !one.switches.streamTraining)
    .map(({ id, label, switches, ...place }) => ({
      ...rollpackerScheduler(job, id, { ...factors, ...switches, oneOff: true }, id === 'baseline' ? 'one-off' : label),
      ...place,
    }));
}
