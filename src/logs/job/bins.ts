/** Sums over time that stay small however long a job runs: the latest bins at several widths, each four times the one before. */

/** Width of the finest bins in seconds, factor between the widths of two levels, bins per level, and number of levels. */
const [finest, factor, bins, levels] = [0.25, 4, 240, 7];

/** Width of the bins per level, in seconds: 240 bins show from a minute to three days. */
export const binSeconds: readonly number[] = Array.from({ length: levels }, (_, level) => finest * factor ** level);
/** Number of bins per level. */
export const mostBins = bins;

/** Returns the finest level on which so many bins cover the given seconds; the widest level if none does. */
export function finestLevel(seconds: number, count: number): number {
  const level = binSeconds.findIndex((width) => width * count >= seconds);
  return level < 0 ? binSeconds.length - 1 : level;
}

/** Sums of one quantity by time. Times never go back. */
export class Bins {
  /** Rings, made when a value comes; most rows stay empty for long. */
  readonly #rings: (Float64Array | undefined)[] = binSeconds.map(() => undefined);
  /** For each level: the latest bin that was written. */
  readonly #last: number[] = binSeconds.map(() => -1);
  /** Sum of the present bin on the finest level, which is in no ring yet. */
  #sum = 0;
  #bin = -1;

  /** Adds a value at a time. */
  add(at: number, value: number): void {
    const bin = Math.floor(at / finest);
    if (bin !== this.#bin) this.#turn(bin);
    this.#sum += value;
  }

  /** Adds a rate per second over an interval. */
  spread(from: number, to: number, rate: number): void {
    if (rate === 0 || to <= from) return;
    const bin = Math.floor(to / finest);
    if (bin === this.#bin && from >= bin * finest) {
      this.#sum += rate * (to - from);
      return;
    }
    this.#turn(bin);
    for (const [level, width] of binSeconds.entries()) {
      const last = Math.floor(to / width);
      for (let one = Math.max(Math.floor(from / width), last - bins + 1); one <= last; one += 1)
        this.#put(level, one, rate * (Math.min(to, (one + 1) * width) - Math.max(from, one * width)));
    }
  }

  /** Returns the sums of a level's bins, from one to another; those that are no longer kept are 0. */
  read(level: number, from: number, to: number): number[] {
    this.#turn(this.#bin);
    const [ring, last] = [this.#rings[level], this.#last[level]!];
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => {
      const bin = from + index;
      return ring === undefined || bin < 0 || bin > last || bin <= last - bins ? 0 : ring[bin % bins]!;
    });
  }

  /** Begins a bin, and moves the sum of the last one into the rings. */
  #turn(bin: number): void {
    if (this.#sum !== 0) {
      for (let [level, one] = [0, this.#bin]; level < levels; level += 1, one = Math.floor(one / factor))
        this.#put(level, one, this.#sum);
      this.#sum = 0;
    }
    this.#bin = bin;
  }

  #put(level: number, bin: number, value: number): void {
    const ring = (this.#rings[level] ??= new Float64Array(bins));
    const last = this.#last[level]!;
    if (bin > last) {
      for (let one = Math.max(last + 1, bin - bins + 1); one <= bin; one += 1) ring[one % bins] = 0;
      this.#last[level] = bin;
    }
    ring[bin % bins]! += value;
  }
}

/** A number that changes from time to time, with its sum over time. */
export class Gauge {
  readonly bins = new Bins();
  value = 0;
  #since = 0;

  set(at: number, value: number): void {
    this.upTo(at);
    this.value = value;
  }

  /** Counts the time up to now. */
  upTo(at: number): void {
    if (at <= this.#since) return;
    this.bins.spread(this.#since, at, this.value);
    this.#since = at;
  }
}
