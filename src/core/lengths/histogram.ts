/** A histogram with bins of equal width, for quantiles of what was seen lately. The weight of old values fades. */
import { z } from 'zod';

/** Schema of a {@link Histogram} as JSON: bin and weight of each bin that is not empty. */
export const savedHistogram = z.array(z.tuple([z.int().nonnegative(), z.number().positive()]));
type Saved = z.output<typeof savedHistogram>;

/** Range and memory of a histogram. */
export interface HistogramShape {
  /** Lower end of the first bin: smaller values fall into this bin too. */
  readonly low: number;
  /** Width of a bin. */
  readonly width: number;
  readonly bins: number;
  /** When the total weight exceeds this limit, all weights are halved. */
  readonly limit: number;
}

/** Bins per block. The weight of a block is known as a sum, so that a quantile need not look at each bin. */
const block = 32;
/** Weights are multiples of this grain, so that their sums are exact, and short as JSON. */
const grain = 1 / 64;

/** Counts values by bins. A value beyond the range counts in the nearest bin. */
export class Histogram {
  readonly #shape: HistogramShape;
  readonly #weights: Float64Array;
  readonly #blocks: Float64Array;
  #total = 0;

  constructor(shape: HistogramShape, saved: Saved = []) {
    this.#shape = shape;
    this.#weights = new Float64Array(shape.bins);
    this.#blocks = new Float64Array(Math.ceil(shape.bins / block));
    for (const [bin, weight] of saved) this.#put(Math.min(bin, shape.bins - 1), weight);
  }

  /** Weight of all values together. */
  get total(): number {
    return this.#total;
  }

  /** @param weight - a multiple of 1/64 */
  add(value: number, weight = 1): void {
    this.#put(this.#bin(value), weight);
    if (this.#total >= this.#shape.limit) this.#halve();
  }

  /** Returns the share of values in lower bins than the given value, 0 to 1; 0 without values. */
  below(value: number): number {
    return this.#total === 0 ? 0 : this.#before(this.#bin(value)) / this.#total;
  }

  /**
   * Returns the value below which a share of the values lies, interpolated in its bin. `undefined` if there are none.
   *
   * @param from - only values from this one on count
   */
  quantile(level: number, from = Number.NEGATIVE_INFINITY): number | undefined {
    const { low, width, bins } = this.#shape;
    const first = this.#bin(from);
    const share = Math.min(1, Math.max(0, (from - low) / width - first));
    const below = this.#before(first) + this.#weights[first]! * share;
    const total = this.#total;
    if (below >= total) return undefined;
    const target = Math.min(total, below + level * (total - below));
    let sum = 0;
    let at = 0;
    for (; sum + this.#blocks[at]! < target; at += 1) sum += this.#blocks[at]!;
    for (let bin = at * block; bin < bins; bin += 1) {
      const weight = this.#weights[bin]!;
      if (weight > 0 && sum + weight >= target) return Math.max(from, low + (bin + (target - sum) / weight) * width);
      sum += weight;
    }
    return low + bins * width;
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

  /** Returns the weight of all bins before the given bin. Sums are exact, so that their order does not matter. */
  #before(bin: number): number {
    let sum = 0;
    const blocks = Math.floor(bin / block);
    for (let at = 0; at < blocks; at += 1) sum += this.#blocks[at]!;
    for (let at = blocks * block; at < bin; at += 1) sum += this.#weights[at]!;
    return sum;
  }

  #put(bin: number, weight: number): void {
    this.#weights[bin]! += weight;
    this.#blocks[Math.floor(bin / block)]! += weight;
    this.#total += weight;
  }

  #halve(): void {
    const weights = this.#weights.slice();
    this.#weights.fill(0);
    this.#blocks.fill(0);
    this.#total = 0;
    weights.forEach((weight, bin) => {
      this.#put(bin, Math.floor(weight / 2 / grain) * grain);
    });
  }
}
