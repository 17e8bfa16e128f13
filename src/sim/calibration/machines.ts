/**
 * The machines that a job may turn out to run on: as its costs say, and each of the ways in which they may be off, by one standard
 * deviation. How an answer differs between them is how sure it is of the machine.
 */
import type { Job } from '../colocated/job.ts';
import type { Interval } from '../comparison/result.ts';
import { trainingAssumed } from '../silicon/training.ts';
import { deviationsOf, jobSlowedBy, unmeasuredMachine, withEachCost } from './machine.ts';

/**
 * Standard deviation of the logarithm of the seconds of training where nobody has measured them: published shares of the peak lie
 * between 0.2 and 0.5, around the 0.3 that is assumed (silicon/training.ts). It is no measurement of ours.
 */
const trainingDeviation = 0.3;
const z95 = 1.959964;

/** Whether the seconds of training are nobody's measurement of this cluster. */
const isTrainingAssumed = ({ assumed = [] }: Job): boolean =>
  assumed.some((one) => one === trainingAssumed || one.startsWith('training'));

const withTraining = (job: Job, factor: number): Job =>
  withEachCost(job, (cost) => ({
    ...cost,
    trainSecondsPerToken: cost.trainSecondsPerToken * factor,
    referenceSecondsPerToken: cost.referenceSecondsPerToken * factor,
    logProbSecondsPerToken: cost.logProbSecondsPerToken * factor,
  }));

/** Returns the machines of a job: itself first. A prefill that nobody has measured matters little in a rollout, and is among them. */
export function machinesOf(job: Job): readonly Job[] {
  const belief = job.machine ?? unmeasuredMachine((job.outside?.length ?? 0) > 0);
  return [
    job,
    ...deviationsOf(belief).map((factors) => jobSlowedBy(job, factors)),
    ...(isTrainingAssumed(job) ? [withTraining(job, Math.exp(trainingDeviation))] : []),
  ];
}

/**
 * Returns an interval that also covers the machine.
 *
 * @param sampling - the interval for the machine as its costs say
 * @param values - the same quantity on each of {@link machinesOf}, with the same seeds
 */
export function overMachines(sampling: Interval, values: readonly number[]): Interval {
  const [asSaid = 0, ...others] = values;
  const variance = others.reduce((sum, one) => sum + (one - asSaid) ** 2, 0);
  const wide = (end: number): number => Math.hypot(end - sampling.value, z95 * Math.sqrt(variance));
  return { ...sampling, low: sampling.value - wide(sampling.low), high: sampling.value + wide(sampling.high) };
}
