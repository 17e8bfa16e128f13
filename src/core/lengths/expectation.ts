/** Expectation for a response: a log-length, and the spread of lengths around it. */
import type { Histogram } from './histogram.ts';
import type { Background } from './population.ts';

/** With fewer deviations, the shape of all lengths is used in place of theirs. */
const leastDeviations = 16;

/** A distribution of lengths. */
export class Expectation {
  readonly background: Background;
  readonly logLength: number;
  readonly spread: number;
  /** Deviations from the log-length, in units of the spread; `undefined` if nothing but the background is known. */
  readonly shape: Histogram | undefined;
  /** Variance that is not explained. */
  readonly rest: number;

  constructor(
    background: Background,
    own: { logLength: number; spread: number; shape: Histogram | undefined; rest: number } = {
      logLength: background.logLength,
      spread: 0,
      shape: undefined,
      rest: background.variance,
    },
  ) {
    this.background = background;
    this.logLength = own.logLength;
    this.spread = own.spread;
    this.shape = own.shape;
    this.rest = own.rest;
  }

  /** Returns the log-length at a level, among responses that reach the log-length `from`; `undefined` if none is known to have reached it. */
  at(level: number, from: number): number | undefined {
    const { shape, logLength, spread, background } = this;
    if (shape === undefined) return background.lengths.quantile(level, from);
    if (shape.total >= leastDeviations) {
      const deviation = shape.quantile(level, (from - logLength) / spread);
      return deviation === undefined ? undefined : logLength + deviation * spread;
    }
    // Too few deviations are known: the shape of all lengths, narrowed around the expected log-length, stands for them.
    const narrow = spread / Math.sqrt(background.variance);
    const at = background.lengths.quantile(level, background.logLength + (from - logLength) / narrow);
    return at === undefined ? undefined : logLength + (at - background.logLength) * narrow;
  }

  /** Returns the share of responses that end below a log-length. */
  below(at: number): number {
    const { shape, logLength, spread, background } = this;
    return shape === undefined || shape.total < leastDeviations
      ? background.lengths.below(at)
      : shape.below((at - logLength) / spread);
  }
}
