/** Intervals of an answer: what the log does not know, and by how much the simulation missed the rounds that it has. */
import { sumOf } from '../comparison/metrics.ts';
import type { Interval } from '../comparison/result.ts';

const confidence = 0.95;
/** Of the standard normal distribution: half of what is outside lies above. */
const normalBound = 1.959963984540054;

/**
 * The change leads where the log has no rounds, and few draws tell little of the longest responses: by this factor intervals are
 * wider than the parts that are known. It was chosen on 102 simulated changes, and holds on others (`bench/simulated/what-if.ts`).
 */
const unknownFactor = 1.25;

/** By how much the simulation misses something of the log. Logarithms of log ÷ simulation. */
export interface Miss {
  /** Rounds before the event, each simulated from its own beginning on. */
  readonly rounds: readonly number[];
  /** The rest of the log as it was. */
  readonly rest: number;
}

/** Returns by how much numbers of the log are missed; what is nothing in one of them says nothing. */
export const missOf = (pairs: readonly (readonly [log: number, simulated: number])[]): number[] =>
  pairs.map(([log, simulated]) => Math.log(log / simulated)).filter(Number.isFinite);

const meanOf = (values: readonly number[]): number => sumOf(values, (one) => one) / values.length;
const varianceOf = (values: readonly number[]): number => {
  if (values.length < 2) return 0;
  const mean = meanOf(values);
  return sumOf(values, (one) => (one - mean) ** 2) / (values.length - 1);
};

/**
 * Returns the mean of a ratio over draws, and an interval for what really would have been. That is one more draw: its distance from
 * the mean of n has Student's distribution. The two simulations that are compared miss it as they have missed the log, each on its
 * own: by the mean over rounds in all rounds alike, and by their deviations from it less, the more rounds there are. And it is as far
 * off as the rest of the log.
 *
 * @param ratios - one for each draw, positive
 * @param rounds - that are simulated
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
