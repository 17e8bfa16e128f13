/** How long waits last: counts in bins of a quarter octave, in which older waits weigh less. */
import { z } from 'zod';

/** The shortest time that is distinguished from 0, in seconds. */
const least = 0.001;
/** A quarter octave: the bounds of a bin differ by 19 percent. */
const ratio = 1.189207115002721;
const lastBin = 200;
/**
 * Upper bounds of the bins, in seconds. The bounds are products, and bins are found by comparison: logarithms and powers differ
 * between JavaScript engines, and so would decisions that rest on them.
 */
const bounds: readonly number[] = Array.from({ length: lastBin }).reduce<number[]>(
  (all) => {
    all.push(all[all.length - 1]! * ratio);
    return all;
  },
  [least],
);

/** Above this weight, all counts are halved, so that the histogram adapts to longer waits. */
const mostWeight = 4096;

/** Schema of {@link WaitingTimes} in a state: bin and weight of each bin that is not empty. */
export const savedTimes = z.array(z.tuple([z.int().min(0).max(lastBin), z.number().positive()]));
export type SavedTimes = z.output<typeof savedTimes>;

/** Returns the first bin whose bound is at least the given time, or the last bin. */
function binOf(seconds: number): number {
  let [low, high] = [0, lastBin];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (seconds <= bounds[middle]!) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Durations of waits of one kind. */
export class WaitingTimes {
  readonly #bins = new Float64Array(lastBin + 1);
  #weight = 0;

  constructor(saved: SavedTimes = []) {
    for (const [bin, weight] of saved) {
      this.#bins[bin] = weight;
      this.#weight += weight;
    }
  }

  /** Weight of the counted waits: their number, until older waits weigh less. */
  get weight(): number {
    return this.#weight;
  }

  add(seconds: number): void {
    this.#bins[binOf(seconds)]! += 1;
    this.#weight += 1;
    if (this.#weight > mostWeight) this.#halve();
  }

  /** Returns a time in seconds that at least this share of the waits did not exceed, at most 19 percent too long; 0 if there are none. */
  quantile(share: number): number {
    const wanted = share * this.#weight;
    let sum = 0;
    let last = 0;
    // By index: this runs for each question what is late.
    for (let bin = 0; bin <= lastBin && (sum < wanted || sum === 0); bin += 1) {
      const weight = this.#bins[bin]!;
      if (weight === 0) continue;
      sum += weight;
      last = bounds[bin]!;
    }
    return last;
  }

  /** Iterates over the bins that are not empty, the shortest times first: upper bound in seconds, and weight. */
  *bins(): Iterable<[bound: number, weight: number]> {
    for (const [bin, weight] of this.save()) yield [bounds[bin]!, weight];
  }

  save(): SavedTimes {
    const saved: SavedTimes = [];
    for (let bin = 0; bin <= lastBin; bin += 1) if (this.#bins[bin]! > 0) saved.push([bin, this.#bins[bin]!]);
    return saved;
  }

  #halve(): void {
    this.#weight = 0;
    for (const [bin, weight] of this.#bins.entries()) {
      const half = weight < 0.1 ? 0 : weight / 2;
      this.#bins[bin] = half;
      this.#weight += half;
    }
  }
}
