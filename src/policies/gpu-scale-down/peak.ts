/**
 * Peak KV cache use of an engine (a quantile of the peak, and the chance of a level), and the joint peak of several engines.
 *
 * The sum over requests at a time is modelled as a normal distribution, corrected for skewness (Cornish and Fisher). The sum
 * exceeds a level at some time if it does so at the worst time, or if it crosses the level between two times. For a Gaussian
 * process, among the sums above the level, the share z · √(1 − ρ) has crossed it since the time before, where ρ is the
 * correlation between the two times (Rice 1944).
 */
import { probit, upperTail } from './normal.ts';

// For a Gaussian process the factor is 0.56. The smaller value was measured on many distributions: here times are discrete.
const crossing = 0.45;
// Limit on the chance to exceed a level at any time, as a multiple of the chance at the worst time.
const manyTimes = 64;
// The range of the fill is halved so many times: to a 256th.
const halvings = 8;

/** The sum over the requests of an engine at a time, in tokens. */
export interface Sum {
  readonly mean: number;
  readonly variance: number;
  /** The third central moment. */
  readonly third: number;
  /** The sum if all requests stay until then. */
  readonly all: number;
  /** Half of a request's mean tokens. */
  readonly half: number;
}

/** The KV cache use of an engine by time: mean, deviation and skewness of the sum over its requests. */
export class Moments {
  readonly #mean: Float64Array;
  /**
   * The mean of the sum plus half of a request's mean tokens (`mean` + `half` of {@link Sum}): a continuity correction, since the
   * sum moves in steps of whole requests.
   */
  readonly #middle: Float64Array;
  readonly #deviation: Float64Array;
  /** A sixth of the skewness. */
  readonly #tilt: Float64Array;
  /** The sum if all requests stay until then. */
  readonly #all: Float64Array;
  /**
   * `crossing` · √(1 − ρ) by time. Multiplied by z, this is the share, among the sums above z, that has crossed z since the time
   * before.
   */
  readonly #apart: Float64Array;
  readonly #common: (time: number) => number;
  /** Candidates for the worst time. */
  #worst: Int32Array;

  /** @param common - returns the covariance of the sums at a time (not the first) and at the time before */
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

  /** Restricts later calls to levels of at least `tokens`, and to z. */
  narrow(tokens: number, z: number): void {
    this.#worst = this.#worst.filter((time) => this.#quantile(time, z) > tokens);
    for (const time of this.#worst) {
      const both = time > 0 ? this.#deviation[time]! * this.#deviation[time - 1]! : 0;
      if (both > 0) this.#apart[time] = crossing * Math.sqrt(Math.max(0, 1 - this.#common(time) / both));
    }
  }

  /** Returns the chance to exceed `tokens` at some time; `tokens` must be at least a peak at some z >= 0. */
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
      // This z solves z + tilt · (z² − 1) = level; there is no z if the distribution ends below the level.
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
  /** Largest share of its capacity that any engine fills, with the requested chance for all engines together. */
  readonly fill: number;
  /** The peak of each engine alone, with that chance, in tokens. */
  readonly peaks: readonly number[];
}

/**
 * Computes the share of capacity that no engine exceeds, with a chance of `quantile`. The remaining chance, 1 − `quantile`, is
 * not divided equally: an engine that fills more of its capacity takes a larger part.
 *
 * @param engines - at least one
 * @param capacities - capacity of each engine, in tokens
 */
export function fillTogether(engines: readonly Moments[], capacities: readonly number[], quantile: number): Filling {
  const chance = 1 - quantile;
  const alone = probit(1 - chance);
  const shared = probit(1 - chance / (engines.length * manyTimes));
  const peaks = engines.map((engine) => engine.peak(alone));
  // Lower limit: the fullest engine by itself. Upper limit: the fill if all engines had equal shares of the chance at all times.
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
