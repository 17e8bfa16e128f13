/** How long waits last: counts in bins of a quarter octave, in which older waits weigh less. */
import { z } from 'zod';

/** Bins per octave: the bounds of a bin differ by 19 percent. */
const perOctave = 4;
/** The shortest time that is told from none, in seconds. */
const least = 0.001;
/** Above this weight, all counts are halved, so that what lasts longer now is soon usual. */
const mostWeight = 4096;

/** Schema of {@link WaitingTimes} in a state: bin and weight of each bin that is not empty. */
export const savedTimes = z.array(z.tuple([z.int().min(0).max(200), z.number().positive()]));
export type SavedTimes = z.output<typeof savedTimes>;

const binOf = (seconds: number): number =>
  seconds < least ? 0 : Math.min(200, 1 + Math.floor(perOctave * Math.log2(seconds / least)));
const upperBound = (bin: number): number => least * 2 ** (bin / perOctave);

/** Times that waits of one kind have lasted. */
export class WaitingTimes {
  readonly #bins: Map<number, number>;
  #weight: number;

  constructor(saved: SavedTimes = []) {
    this.#bins = new Map(saved);
    this.#weight = saved.reduce((sum, [, weight]) => sum + weight, 0);
  }

  /** Weight of the waits that are counted: their number, until older ones weigh less. */
  get weight(): number {
    return this.#weight;
  }

  add(seconds: number): void {
    const bin = binOf(seconds);
    this.#bins.set(bin, (this.#bins.get(bin) ?? 0) + 1);
    this.#weight += 1;
    if (this.#weight > mostWeight) this.#halve();
  }

  /** Returns a time in seconds that at least this part of the waits did not exceed, at most 19 percent too long; 0 if there are none. */
  quantile(part: number): number {
    const wanted = part * this.#weight;
    let sum = 0;
    let bound = 0;
    for (const [bin, weight] of this.save()) {
      sum += weight;
      bound = upperBound(bin);
      if (sum >= wanted) break;
    }
    return bound;
  }

  save(): SavedTimes {
    return [...this.#bins].sort(([a], [b]) => a - b);
  }

  #halve(): void {
    this.#weight = 0;
    for (const [bin, weight] of this.#bins) {
      if (weight < 0.1) this.#bins.delete(bin);
      else {
        this.#bins.set(bin, weight / 2);
        this.#weight += weight / 2;
      }
    }
  }
}
