/** How well one quantity has predicted another until now, from pairs of their deviations. The weight of old pairs fades. */
import { z } from 'zod';

const sum = z.number();
/** Schema of a {@link Relation} as JSON: number of pairs, and sums of a², a·b and b². */
export const savedRelation = z.tuple([z.number().nonnegative(), sum, sum, sum]);
type Saved = z.output<typeof savedRelation>;

/** Number of pairs at which the weight of all is halved. */
const limit = 2 ** 14;

/**
 * Returns the share of an effect that is believed: nothing below 2 standard errors, all of it from 4. So what is not there counts
 * as exactly 0 almost always.
 */
export const believed = (errors: number): number => Math.min(1, Math.max(0, (errors - 2) / 2));

/** A predictor and what it predicted. */
export class Relation {
  readonly #sums: Saved;

  constructor(saved: Saved = [0, 0, 0, 0]) {
    this.#sums = [...saved];
  }

  /** Number of pairs; of old ones, their weight. */
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
   * Returns the covariance as a share of the variance of what was predicted, as far as it is positive and more than chance would
   * give to unrelated quantities. A share depends less than a covariance on how varied the first pairs happen to be.
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
