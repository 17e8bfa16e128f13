/** Counts values by upper bounds, as a histogram of Prometheus does. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  /** Number of values. */
  count = 0;
  /** Sum of the values. */
  sum = 0;

  /** @param bounds - ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  /** Counts a value. */
  add(value: number): void {
    this.count += 1;
    this.sum += value;
    const at = this.#bounds.findIndex((bound) => value <= bound);
    if (at >= 0) this.#counts[at]! += 1;
  }

  /** Returns each bound with the number of values up to it; the last bound is infinite. */
  buckets(): [bound: string, count: number][] {
    let sum = 0;
    const finite = this.#bounds.map((bound, at): [string, number] => {
      sum += this.#counts[at]!;
      return [`${bound}`, sum];
    });
    return [...finite, ['+Inf', this.count]];
  }
}

/** Bounds for tokens: 1, 2, 5, 10, … */
export const tokenBounds: readonly number[] = [0, 1, 2, 3, 4, 5].flatMap((power) =>
  [1, 2, 5].map((one) => one * 10 ** power),
);
/** Bounds for seconds of whole requests. */
export const secondsBounds: readonly number[] = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
];
