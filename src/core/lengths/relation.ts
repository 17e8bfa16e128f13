/** How well one quantity has predicted another until now, from pairs of their deviations. The weight of old pairs fades. */
import { z } from 'zod';

const sum = z.number();
/** Schema of a {@link Relation} as JSON: number of pairs, and sums of a², a·b and b². */
export const savedRelation = z.tuple([z.number().nonnegative(), sum, sum, sum]);
type Saved = z.output<typeof savedRelation>;

/** Beyond this number of pairs, all weights are halved. */
const limit = 2 ** 14;

/**
 * Returns the share of an effect that is believed: nothing below 2 standard errors, the whole effect from 4 on. So an effect that
 * does not exist almost always counts as exactly 0.
 */
export const believed = (errors: number): number => Math.min(1, Math.max(0, (errors - 2) / 2));

/** Pairs of a prediction and the value that came. */
export class Relation {
  readonly #sums: Saved;

  constructor(saved: Saved = [0, 0, 0, 0]) {
    this.#sums = [...saved];
  }

  /** Number of pairs; old pairs count with their weight. */
  get pairs(): number {
    return this.#sums[0];
  }

  add(a: number, b: number): void {
    const sums = this.#sums;
    sums[0] += 1;
    sums[1] += a * a;
    sums[2] += a * b;
    sums[3] += b * b;
    if (sums[0] >= limit) for (let at = 0; at < 4; at += 1) sums[at]! /= 2;
  }

  /**
   * Returns the covariance as a share of the variance of the predicted values, as far as the covariance is positive and above
   * what chance gives unrelated quantities. A share depends less than a covariance on how varied the first pairs happen to be.
   */
  explained(): number {
    const [count, aa, ab, bb] = this.#sums;
    if (ab <= 0) return 0;
    return (ab / bb) * believed((ab / Math.sqrt(aa * bb)) * Math.sqrt(count));
  }

  save(): Saved {
    return [...this.#sums];
  }
}
