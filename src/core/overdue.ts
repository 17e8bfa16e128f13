/** Says whether an event that is owed to a policy is overdue, by the times that such events took before. */
import type { UsualTime } from './open-commands.ts';
import type { OwedEvent } from './why.ts';

/** What is awaited for a shorter time, in seconds, is never overdue. */
const shortest = 10;
/** With fewer answers than this nothing is usual yet. */
const fewAnswers = 5;
/** Patience without experience, in seconds: the first responses of a job may take an hour. */
const patience = 3600;
/** With few answers: the least patience, in seconds, and a multiple of the longest of them. */
const [leastPatience, timesFew] = [600, 30];
/** A timer fires at its time; this is the patience with it, in seconds. */
const timerPatience = 30;
/** The 99th percentile of a normal distribution, and how far beyond the median a rare value is, in standard deviations. */
const [high, rare] = [2.326, 5];
/** Bounds of what is rare, as multiples of the time that 99 percent of the answers do not exceed. */
const [leastTimes, mostTimes] = [3, 10];

/**
 * Returns the seconds after which an answer is overdue. Times of answers are taken to be lognormal: the limit is five standard
 * deviations beyond the median, at least 3 and at most 10 times what 99 percent of them do not exceed. A job with a million
 * answers has hardly one beyond it. Where there were fewer than 5, it is 30 times the longest, and at least ten minutes.
 */
export function overdueSeconds(usual: UsualTime | undefined): number {
  if (usual === undefined) return patience;
  if (usual.answers < fewAnswers) return Math.max(leastPatience, timesFew * usual.highSeconds);
  const { medianSeconds, highSeconds } = usual;
  const spread = Math.log(highSeconds / medianSeconds) / high;
  const limit = medianSeconds * Math.exp(rare * spread);
  return Math.max(shortest, Math.min(Math.max(limit, leastTimes * highSeconds), mostTimes * highSeconds));
}

/** Returns the time that an event is awaited, as a multiple of the time after which it is overdue; 0 for what has no time. */
export function overdueTimes({ since, dueAt, usual }: OwedEvent, at: number): number {
  if (dueAt !== undefined) return (at - dueAt) / timerPatience;
  return since === undefined ? 0 : (at - since) / overdueSeconds(usual);
}

/** Returns whether an event is overdue. What has no time is not. */
export const isOverdue = (one: OwedEvent, at: number): boolean => overdueTimes(one, at) > 1;
