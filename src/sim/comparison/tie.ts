/** Whether two choices can be told apart. */
import type { Interval, RunResult } from './result.ts';
import { pairedStatistics } from './statistics.ts';

/** Whether an interval of what one choice saves over another holds no difference, as well as some. */
export const isTie = ({ low, high }: Interval): boolean => low <= 0 && high >= 0 && low < high;

/** What of a scheduler's result tells ties. */
export interface Compared {
  /** Its runs, those of one seed at one place. */
  readonly runs: readonly Pick<RunResult, 'totalSeconds'>[];
  readonly speedup: Pick<Interval, 'confidence'>;
}

/**
 * Returns the share of another scheduler's time that a scheduler saves, with an interval from the pairs of their runs on the same
 * seeds.
 */
export const savedOver = (one: Compared, other: Compared): Interval =>
  pairedStatistics(one.runs, other.runs, one.speedup.confidence).saved('totalSeconds');

/** Returns the schedulers, others than a given one, that its runs cannot be told from: the intervals of what it saves hold 0. */
export const tiedWith = <T extends Compared>(one: T, all: readonly T[]): T[] =>
  all.filter((other) => other !== one && isTie(savedOver(one, other)));
