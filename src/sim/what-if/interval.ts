/** Intervals of an answer: they cover what the log does not know, and the error of the simulation in the log's rounds. */
import { refuse } from '../../errors.ts';
import { sumOf } from '../comparison/metrics.ts';
import type { Interval } from '../comparison/result.ts';

const confidence = 0.95;
/** Quantile of the standard normal distribution: half of the probability outside ± this bound lies above it. */
const normalBound = 1.959963984540054;

/**
 * The change leads where the log has no rounds, and a few draws say little about the longest responses: intervals are wider by
 * this factor than the known parts. The factor was chosen on 102 simulated changes, and holds on others
 * (`bench/simulated/what-if.ts`).
 */
const unknownFactor = 1.25;

/** Most times as long that a change may take: beyond it, log and simulation do not measure the same thing. */
const mostTimes = 1000;

/** Refuses a time with a change, over that without, that no run can have. Throws `infeasible`. */
export function checkPossible({ value, low, high }: Interval): void {
  if (value >= 0 && value <= mostTimes && low >= 0 && Number.isFinite(high)) return;
  const expected = 'a change that takes at most a thousand times as long, and no less than no time';
  refuse('infeasible', 'log', expected, `${value} (${low} to ${high}) times as long`);
}

/** Errors of the simulation against the log, as logarithms of log ÷ simulation. */
export interface Miss {
  /** Errors for rounds before the event, each simulated from its own beginning. */
  readonly rounds: readonly number[];
  /** Error for the rest of the log, simulated unchanged. */
  readonly rest: number;
}

/** Returns the relative errors against numbers of the log; a pair with a zero says nothing. */
export const missOf = (pairs: readonly (readonly [log: number, simulated: number])[]): number[] =>
  pairs.map(([log, simulated]) => Math.log(log / simulated)).filter(Number.isFinite);

const meanOf = (values: readonly number[]): number => sumOf(values, (one) => one) / values.length;
const varianceOf = (values: readonly number[]): number => {
  if (values.length < 2) return 0;
  const mean = meanOf(values);
  return sumOf(values, (one) => (one - mean) ** 2) / (values.length - 1);
};

/**
 * Returns the mean of a ratio over draws, with an interval for the true value. The true value is like one more draw: its distance
 * from the mean of n draws has Student's distribution. Each of the two compared simulations misses the truth as it has missed the
 * log, independently: by the mean error, which all rounds share, and by deviations, which weigh less the more rounds there are.
 * The answer may also be off by as much as the rest of the log was.
 *
 * @param ratios - one per draw, positive
 * @param rounds - number of simulated rounds
 */
export function ratioInterval(ratios: readonly number[], miss: Miss, rounds: number): Interval {
  const logs = ratios.map(Math.log);
  const count = logs.length;
  const drawn = varianceOf(logs) * (1 + 1 / count) * (studentBound(count - 1) / normalBound) ** 2;
  const known = miss.rounds.length;
  const missed =
    known === 0
      ? 0
      : 2 *
        (meanOf(miss.rounds) ** 2 + varianceOf(miss.rounds) / Math.max(1, rounds)) *
        (studentBound(known) / normalBound) ** 2;
  const half = unknownFactor * Math.sqrt(normalBound ** 2 * (drawn + missed) + miss.rest ** 2);
  const middle = meanOf(logs);
  return { value: meanOf(ratios), low: Math.exp(middle - half), high: Math.exp(middle + half), confidence };
}

/** Returns the bound within which 95 % of Student's distribution lie, by Cornish and Fisher's expansion (within 1 % from three degrees of freedom on). */
export function studentBound(freedom: number): number {
  if (freedom <= 1) return 12.706204736;
  if (freedom === 2) return 4.30265273;
  const z = normalBound;
  const terms = [
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
  ];
  return terms.reduce((sum, term, index) => sum + term / freedom ** (index + 1), z);
}
