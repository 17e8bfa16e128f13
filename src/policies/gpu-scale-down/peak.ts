/**
 * Peak KV cache use of an engine: a quantile of the peak, and the chance of a level; and the joint peak of engines.
 *
 * The sum over requests at a time is taken for a normal distribution corrected for skewness (Cornish and Fisher). It is
 * over a level at some time if it is at the worst of them, or comes over it from one time to the next: of those that are
 * over it, z · √(1 − ρ) do, for a Gaussian process, ρ being the correlation of the two times (Rice 1944).
 */
import { probit, upperTail } from '../../core/normal.ts';

// The factor of a Gaussian process is 0.56; it is less here, measured on many distributions, as times are discrete.
const crossing = 0.45;
// The chance to go over at some time is at most this many times the chance of the worst time.
const manyTimes = 64;
// Halvings of the range of the fill: to a 256th.
const halvings = 8;

/** The sum over the requests of an engine at a time, in tokens. */
export interface Sum {
  readonly mean: number;
  readonly variance: number;
  /** The third central moment. */
  readonly third: number;
  /** The sum if all requests are still there. */
  readonly all: number;
  /** Half of the tokens of one of them. */
  readonly half: number;
}

/** The KV cache use of an engine by time: mean, deviation and skewness of the sum over its requests. */
export class Moments {
  readonly #mean: Float64Array;
  /** The mean plus half of the tokens of a request. */
  readonly #middle: Float64Array;
  readonly #deviation: Float64Array;
  /** A sixth of the skewness. */
  readonly #tilt: Float64Array;
  /** The sum if all requests are still there. */
  readonly #all: Float64Array;
  /** `crossing` · √(1 − ρ) by time: times z, the share of the sums over z that come over it since the time before. */
  readonly #apart: Float64Array;
  readonly #common: (time: number) => number;
  /** Times that can be the worst. */
  #worst: Int32Array;

  /** @param common - the covariance of the sum at a time, not the first, with that at the time before */
  constructor(times: number, common: (time: number) => number) {
    this.#common = common;
    this.#mean = new Float64Array(times);
    this.#middle = new Float64Array(times);
    this.#deviation = new Float64Array(times);
    this.#tilt = new Float64Array(times);
    this.#all = new Float64Array(times);
    this.#apart = new Float64Array(times);
    this.#worst = new Int32Array(times);
    for (let time = 0; time < times; time += 1) this.#worst[time] = time;
  }

  /** Sets the sum at a time; a time that is not set has a sum of 0. */
  set(time: number, { mean, variance, third, all, half }: Sum): void {
    const deviation = Math.sqrt(variance);
    this.#mean[time] = mean;
    this.#middle[time] = mean + half;
    this.#deviation[time] = deviation;
    this.#tilt[time] = variance > 0 ? third / (variance * deviation) / 6 : 0;
    this.#all[time] = all;
  }

  /** Returns the peak that is reached at z standard deviations of a normal distribution, z >= 0, in tokens. */
  peak(z: number): number {
    let peak = 0;
    for (let index = 0; index < this.#worst.length; index += 1) {
      peak = Math.max(peak, this.#quantile(this.#worst[index]!, z));
    }
    return peak;
  }

  /** Limits later questions to levels of at least `tokens`, and to z. */
  narrow(tokens: number, z: number): void {
    this.#worst = this.#worst.filter((time) => this.#quantile(time, z) > tokens);
    for (const time of this.#worst) {
      const both = time > 0 ? this.#deviation[time]! * this.#deviation[time - 1]! : 0;
      if (both > 0) this.#apart[time] = crossing * Math.sqrt(Math.max(0, 1 - this.#common(time) / both));
    }
  }

  /** Returns the chance to exceed `tokens` at some time; they are no fewer than a peak at z >= 0. */
  chance(tokens: number): number {
    let most = 0;
    let sum = 0;
    let before = 0;
    for (let index = 0; index < this.#worst.length; index += 1) {
      const time = this.#worst[index]!;
      if (tokens >= this.#all[time]!) continue;
      if (tokens < this.#mean[time]!) return 1;
      const deviation = this.#deviation[time]!;
      const above = tokens - this.#middle[time]!;
      if (deviation === 0) {
        if (above < 0) return 1;
        continue;
      }
      const level = above / deviation;
      // This z solves z + tilt · (z² − 1) = level; there is none where the distribution ends below.
      const tilt = this.#tilt[time]!;
      const root = 1 + 4 * tilt * (level + tilt);
      if (root < 0) continue;
      const z = (2 * (level + tilt)) / (1 + Math.sqrt(root));
      const tail = upperTail(z);
      sum += Math.min(tail, before) * Math.min(1, z * this.#apart[time]!);
      before = tail;
      most = Math.max(most, tail);
    }
    return most + sum;
  }

  #quantile(time: number, z: number): number {
    const tilt = this.#tilt[time]!;
    // Beyond this z the correction would bend down again.
    const bent = tilt < 0 ? Math.min(z, -0.5 / tilt) : z;
    const quantile = this.#middle[time]! + this.#deviation[time]! * (bent + (bent * bent - 1) * tilt);
    return Math.min(this.#all[time]!, Math.max(this.#mean[time]!, quantile));
  }
}

/** The peaks of several engines. */
export interface Filling {
  /** Share of its capacity that each would fill at most, with the chance asked for; all of them together. */
  readonly fill: number;
  /** The peak of each by itself, with that chance, in tokens. */
  readonly peaks: readonly number[];
}

/**
 * Computes the peak fill with a chance of `quantile` that no engine exceeds it: an engine that fills more of its
 * capacity than the others has more of the chance that remains.
 *
 * @param engines - at least one
 * @param capacities - of each, in tokens
 */
export function fillTogether(engines: readonly Moments[], capacities: readonly number[], quantile: number): Filling {
  const chance = 1 - quantile;
  const alone = probit(1 - chance);
  const shared = probit(1 - chance / (engines.length * manyTimes));
  const peaks = engines.map((engine) => engine.peak(alone));
  // At least as full as the fullest one by itself, and at most as if all had the same share of the chance at all times.
  let low = 0;
  let high = 0;
  for (const [index, engine] of engines.entries()) {
    low = Math.max(low, peaks[index]! / capacities[index]!);
    high = Math.max(high, engine.peak(shared) / capacities[index]!);
    engine.narrow(peaks[index]!, shared);
  }
  const over = (fill: number): number => {
    let sum = 0;
    for (let index = 0; index < engines.length; index += 1) sum += engines[index]!.chance(fill * capacities[index]!);
    return sum;
  };
  for (let times = 0; times < halvings && low < high; times += 1) {
    const middle = (low + high) / 2;
    if (over(middle) > chance) low = middle;
    else high = middle;
  }
  return { fill: high, peaks };
}
