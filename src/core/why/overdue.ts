/** Says whether an event that is owed to a policy is late, by the times that such events took before. */
import type { UsualTime } from './open-commands.ts';

/** What is awaited for a shorter time, in seconds, is never overdue. */
const shortest = 10;
/** With fewer answers than this little is known of how their times spread: patience with those, in seconds. */
const [fewAnswers, fewPatience] = [5, 300];
/** Patience without experience, in seconds: the first responses of a job may take an hour. */
const patience = 3600;
/** A timer fires at its time; this is the patience with it, in seconds. */
const timerPatience = 30;
/** The 99th percentile of a normal distribution, and how far beyond the median a rare value is, in standard deviations. */
const [high, rare] = [2.326, 5];
/** Bounds of what is rare, as multiples of the time that 99 percent of the answers do not exceed. */
const [leastTimes, mostTimes] = [3, 10];

/**
 * Returns the seconds after which an answer is overdue. Times of answers are taken to be lognormal: the limit is five standard
 * deviations beyond the median, at least 3 and at most 10 times what 99 percent of them do not exceed. A job with a million
 * answers has hardly one beyond it.
 */
export function overdueSeconds(usual: UsualTime | undefined): number {
  if (usual === undefined) return patience;
  const { medianSeconds, highSeconds, answers } = usual;
  if (answers < fewAnswers) return Math.max(fewPatience, mostTimes * highSeconds);
  const spread = Math.log(highSeconds / medianSeconds) / high;
  const limit = medianSeconds * Math.exp(rare * spread);
  return Math.max(shortest, Math.min(Math.max(limit, leastTimes * highSeconds), mostTimes * highSeconds));
}

/** What is known of the times of an event that is owed, in seconds. */
interface Times {
  /** Since when it is awaited. */
  readonly since?: number | undefined;
  /** For a timer: when it is to fire. */
  readonly dueAt?: number | undefined;
  readonly usual?: UsualTime | undefined;
}

/** Returns how long an event is awaited, as a multiple of the time after which it is overdue: above 1 it is. 0 where nothing is known. */
export function lateness({ since, dueAt, usual }: Times, at: number): number {
  if (dueAt !== undefined) return Math.max(0, at - dueAt) / timerPatience;
  return since === undefined ? 0 : Math.max(0, at - since) / overdueSeconds(usual);
}
