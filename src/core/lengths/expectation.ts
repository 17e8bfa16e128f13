/** Expectation for a response: a place on the scale of lengths, and the spread of lengths around it. */
import type { Histogram } from './histogram.ts';
import type { Background } from './population.ts';

/** With fewer deviations, the shape of all lengths is used in place of theirs. */
const leastDeviations = 16;

/** A distribution of lengths. */
export class Expectation {
  readonly background: Background;
  readonly place: number;
  readonly spread: number;
  /** Deviations from the place, in units of the spread; `undefined` if nothing but the background is known. */
  readonly shape: Histogram | undefined;
  /** Variance that is not explained. */
  readonly rest: number;

  constructor(
    background: Background,
    own: { place: number; spread: number; shape: Histogram | undefined; rest: number } = {
      place: background.place,
      spread: 0,
      shape: undefined,
      rest: background.variance,
    },
  ) {
    this.background = background;
    this.place = own.place;
    this.spread = own.spread;
    this.shape = own.shape;
    this.rest = own.rest;
  }

  /** Returns the place at a level, among responses that reach the place `from`; `undefined` if none is known to have reached it. */
  at(level: number, from: number): number | undefined {
    const { shape, place, spread, background } = this;
    if (shape === undefined) return background.lengths.quantile(level, from);
    if (shape.total >= leastDeviations) {
      const deviation = shape.quantile(level, (from - place) / spread);
      return deviation === undefined ? undefined : place + deviation * spread;
    }
    // Too few deviations are known: the shape of all lengths, narrowed around the expected place, stands for them.
    const narrow = spread / Math.sqrt(background.variance);
    const at = background.lengths.quantile(level, background.place + (from - place) / narrow);
    return at === undefined ? undefined : place + (at - background.place) * narrow;
  }

  /** Returns the share of responses that end below a place. */
  below(at: number): number {
    const { shape, place, spread, background } = this;
    return shape === undefined || shape.total < leastDeviations
      ? background.lengths.below(at)
      : shape.below((at - place) / spread);
  }
}
