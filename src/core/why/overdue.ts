/** Says whether an event that is owed to a policy is late, and whether work for it is futile, compared with what is usual. */

/** How long an answer usually takes. */
export interface UsualTime {
  /** Median, in seconds. */
  readonly medianSeconds: number;
  /** Time that 99 percent of the answers do not exceed, in seconds. */
  readonly highSeconds: number;
  /** Number of answers from which the median was learnt; older answers weigh less. */
  readonly answers: number;
}

/** How many prompts or groups are usually filtered. */
export interface UsualFiltered {
  /** The 99th percentile of the number filtered between two that counted. */
  readonly highFiltered: number;
  /** Number of counted prompts or groups from which the usual number was learnt; older ones weigh less. */
  readonly counted: number;
}

/** How long a wait may last before it is overdue. Times are in seconds. */
export interface Patience {
  /** A shorter wait is never overdue. */
  readonly shortest: number;
  /** Limit while no answer has come. */
  readonly unknown: number;
  /** With fewer answers than this, the spread of their times is unknown. */
  readonly fewAnswers: number;
  /** Returns the limit then, from the 99th percentile of these times. */
  readonly few: (highSeconds: number) => number;
  /** Least and greatest limit, as multiples of the 99th percentile. */
  readonly times: readonly [least: number, most: number];
}

/** Patience of `why` and `explain`: the first responses of a job may take an hour. */
const patient: Patience = {
  shortest: 10,
  unknown: 3600,
  fewAnswers: 5,
  few: (highSeconds) => Math.max(300, 10 * highSeconds),
  times: [3, 10],
};
/** A timer that fires so many seconds late is not overdue yet. */
const timerPatience = 30;
/** The 99th percentile of a normal distribution, and how far beyond the median a rare value is, in standard deviations. */
const [high, rare] = [2.326, 5];

/**
 * Returns the seconds after which an answer is overdue. Times of answers are taken to be lognormal: the limit is five standard
 * deviations beyond the median, within the bounds of the patience: for `why`, 3 to 10 times the 99th percentile. In a job with a
 * million answers, hardly one takes longer.
 */
export function overdueSeconds(usual: UsualTime | undefined, patience = patient): number {
  if (usual === undefined) return patience.unknown;
  const { medianSeconds, highSeconds, answers } = usual;
  if (answers < patience.fewAnswers) return patience.few(highSeconds);
  const spread = Math.log(highSeconds / medianSeconds) / high;
  const [least, most] = patience.times;
  const limit = Math.max(medianSeconds * Math.exp(rare * spread), least * highSeconds);
  return Math.max(patience.shortest, Math.min(limit, most * highSeconds));
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

/** With fewer prompts or groups counted than this, the usual number of filtered ones is not known. */
const fewest = 8;
/** Least number filtered that is reported: where the usual number is known, and where it is not. */
export const leastFiltered = 32;
const leastUnknown = 128;
/** The same limits as multiples of a round's target, because the first ones that end may all be of one kind. */
const [rounds, roundsUnknown] = [2, 8];
/**
 * Work is reported beyond this multiple of the 99th percentile. If each item passes with the same probability, one run in a
 * million is as long.
 */
const rareTimes = 3;

/** Returns the number filtered in a row from which work counts as futile. */
export function mostFiltered(target: number, usual: UsualFiltered | undefined): number {
  if (usual === undefined || usual.counted < fewest) return Math.max(leastUnknown, roundsUnknown * target);
  return Math.max(leastFiltered, rounds * target, Math.ceil(rareTimes * usual.highFiltered));
}
