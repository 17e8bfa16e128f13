/** The one sentence about a speedup, on the terminal and on pages: how many times as fast, and the share of the time that it saves. */
import type { Interval } from '../comparison/result.ts';
import { nothing, savedBy } from './best.ts';

/** How a place writes numbers. */
export interface Signs {
  /** Stands behind a factor: `x`, or ` ×`. */
  readonly times: string;
  /** Stands behind a percentage: `%`, or a space and `%`. */
  readonly percent: string;
  /** Stands on both sides of ±; one without a break keeps a factor on one line. */
  readonly space: string;
}

/** Numbers on the terminal. */
export const plainSigns: Signs = { times: 'x', percent: '%', space: ' ' };
/** Numbers on pages. */
export const pageSigns: Signs = { times: '\u00a0×', percent: '\u00a0%', space: '\u00a0' };

/**
 * Returns how many times as fast something is that saves a share of the time. Nothing saves more than all of it, but the end of an
 * interval may lie beyond it.
 */
export const timesOf = (saved: number): number => (saved >= 1 ? Number.POSITIVE_INFINITY : 1 / (1 - saved));

/** Returns how many times as fast something is that saves a share of the time, with the interval. */
export const speedupOf = (saved: Interval): Interval => ({
  ...saved,
  value: timesOf(saved.value),
  low: timesOf(saved.low),
  high: timesOf(saved.high),
});

/** An end of an interval that is so many times as far from the value as the other is told itself, in place of a distance. */
const lopsided = 2;

/** Returns a factor with its interval, if it has one: `1.27 ± 0.03x`, or its ends if one is much farther than the other. */
export function factorText(factor: Interval | number, { times, space }: Signs): string {
  if (typeof factor === 'number') return `${factor.toFixed(2)}${times}`;
  const { value, low, high } = factor;
  const [below, above] = [value - low, high - value];
  const off = Math.max(below, above);
  if (off < 0.005) return `${value.toFixed(2)}${times}`;
  if (high === Number.POSITIVE_INFINITY) return `${value.toFixed(2)}${times} (${low.toFixed(2)} and more)`;
  const isEven = off <= lopsided * Math.min(below, above) || off < 0.1;
  return isEven
    ? `${value.toFixed(2)}${space}±${space}${off.toFixed(2)}${times}`
    : `${value.toFixed(2)}${times} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}

/** Returns the share of the time that a speedup saves, in words: `21% of the time saved`. */
export function savedText(speedup: number, { percent }: Signs): string {
  const saved = savedBy(speedup);
  if (Math.abs(saved) < nothing) return 'no time saved';
  const share = `${(100 * Math.abs(saved)).toFixed(Math.abs(saved) < 0.01 ? 1 : 0)}${percent}`;
  return saved > 0 ? `${share} of the time saved` : `${share} more time`;
}

/** Returns a speedup in words, over what `than` names: `1.27 ± 0.03x as fast as verl (21% of the time saved)`. */
export function fasterText(speedup: Interval | number, signs: Signs, than?: string): string {
  const saved = savedText(typeof speedup === 'number' ? speedup : speedup.value, signs);
  return `${factorText(speedup, signs)} as fast${than === undefined ? '' : ` as ${than}`} (${saved})`;
}

/** Returns a speedup at equal tokens in words: `1.06 ± 0.04x at equal tokens`. */
export const equalText = (speedup: Interval | number, signs: Signs): string =>
  `${factorText(speedup, signs)} at equal tokens`;
