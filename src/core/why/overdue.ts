/** Says whether an event that is owed to a policy is late, compared with earlier times of such events. */
import type { UsualTime } from './open-commands.ts';

/** A shorter wait, in seconds, is never overdue. */
const shortest = 10;
/** With fewer answers than this, the spread of their times is unknown, so the patience is a fixed number of seconds. */
const [fewAnswers, fewPatience] = [5, 300];
/** Patience without experience, in seconds: the first responses of a job may take an hour. */
const patience = 3600;
/** A timer that fires so many seconds late is not overdue yet. */
const timerPatience = 30;
/** The 99th percentile of a normal distribution, and how far beyond the median a rare value is, in standard deviations. */
const [high, rare] = [2.326, 5];
/** Least and greatest limit for a wait, as multiples of the 99th percentile of answer times. */
const [leastTimes, mostTimes] = [3, 10];

/**
 * Returns the seconds after which an answer is overdue. Times of answers are taken to be lognormal: the limit is five standard
 * deviations beyond the median, at least 3 and at most 10 times the 99th percentile. In a job with a million answers, hardly one
 * takes longer.
 */
export function overdueSeconds(usual: UsualTime | undefined): number {
  if (usual === undefined) return patience;
  const { medianSeconds, highSeconds, answers } = usual;
  if (answers < fewAnswers) return Math.max(fewPatience, mostTimes * highSeconds);
  const spread = Math.log(highSeconds / medianSeconds) / high;
  const limit = medianSeconds * Math.exp(rare * spread);
  return Math.max(shortest, Math.min(Math.max(limit, leastTimes * highSeconds), mostTimes * highSeconds));
}

/** Known times of an event that is owed, in seconds. */
interface Times {
  /** Start of the wait. */
  readonly since?: number | undefined;
  /** For a timer: the time at which it is due. */
  readonly dueAt?: number | undefined;
  readonly usual?: UsualTime | undefined;
}

/**
 * Returns the waiting time for an event as a multiple of its limit: the event is overdue above 1. Returns 0 if nothing is known.
 */
export function lateness({ since, dueAt, usual }: Times, at: number): number {
  if (dueAt !== undefined) return Math.max(0, at - dueAt) / timerPatience;
  return since === undefined ? 0 : Math.max(0, at - since) / overdueSeconds(usual);
}
