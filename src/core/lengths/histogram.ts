/** A histogram with bins of equal width, for quantiles of what was seen lately. The weight of old values fades. */
import { z } from 'zod';

/** Schema of a {@link Histogram} as JSON: bin and weight of each bin that is not empty. */
export const savedHistogram = z.array(z.tuple([z.int().nonnegative(), z.number().positive()]));
type Saved = z.output<typeof savedHistogram>;

/** Range and memory of a histogram. */
export interface HistogramShape {
  /** Least value that is told from lesser ones. */
  readonly low: number;
  /** Width of a bin. */
  readonly width: number;
  readonly bins: number;
  /** Weight at which all weights are halved. */
  readonly limit: number;
}

/** Weights are multiples of this, so that sums of them are exact, and short as JSON. */
const grain = 1 / 64;

/** Counts values by bins. A value beyond the range counts in the nearest bin. */
export class Histogram {
  readonly #shape: HistogramShape;
  readonly #weights: Float64Array;
  #total = 0;

  constructor(shape: HistogramShape, saved: Saved = []) {
    this.#shape = shape;
    this.#weights = new Float64Array(shape.bins);
    for (const [bin, weight] of saved) {
      this.#weights[Math.min(bin, shape.bins - 1)]! += weight;
      this.#total += weight;
    }
  }

  /** The weight of all values. */
  get total(): number {
    return this.#total;
  }

  /** @param weight - a multiple of 1/64 */
  add(value: number, weight = 1): void {
    this.#weights[this.#bin(value)]! += weight;
    this.#total += weight;
    if (this.#total >= this.#shape.limit) this.#halve();
  }

  /** Returns the share of the values below a value, 0 to 1; 0 if there are none. */
  below(value: number): number {
    const bin = this.#bin(value);
    let sum = 0;
    for (let at = 0; at < bin; at += 1) sum += this.#weights[at]!;
    return this.#total === 0 ? 0 : sum / this.#total;
  }

  /**
   * Returns the value below which a share of the values lies, interpolated in its bin. `undefined` if there are none.
   *
   * @param from - only values from this one on count
   */
  quantile(level: number, from = Number.NEGATIVE_INFINITY): number | undefined {
    const { low, width, bins } = this.#shape;
    const weights = this.#weights;
    const first = this.#bin(from);
    // Share of the first bin that lies below `from`.
    const cut = Math.min(1, Math.max(0, (from - low) / width - first));
    let sum = weights[first]! * (1 - cut);
    if (first === 0) sum += this.#total - weights[0]!;
    else for (let bin = first + 1; bin < bins; bin += 1) sum += weights[bin]!;
    if (sum <= 0) return undefined;
    let left = level * sum;
    let end = low;
    for (let bin = first; bin < bins; bin += 1) {
      const start = bin === first ? cut : 0;
      const weight = weights[bin]! * (1 - start);
      if (weight === 0) continue;
      if (left <= weight) return low + (bin + start + (left / weight) * (1 - start)) * width;
      left -= weight;
      end = low + (bin + 1) * width;
    }
    return end;
  }

  save(): Saved {
    const rows: Saved = [];
    this.#weights.forEach((weight, bin) => {
      if (weight > 0) rows.push([bin, weight]);
    });
    return rows;
  }

  #bin(value: number): number {
    const { low, width, bins } = this.#shape;
    return Math.min(bins - 1, Math.max(0, Math.floor((value - low) / width)));
  }

  #halve(): void {
    let total = 0;
    this.#weights.forEach((weight, bin) => {
      const half = Math.floor(weight / 2 / grain) * grain;
      this.#weights[bin] = half;
      total += half;
    });
    this.#total = total;
  }
}
