/**
 * The projected peak of an engine's KV cache (RollPacker §4.4, second criterion).
 *
 * All requests of an engine decode in step, so future time is counted in tokens. A request that has reached s tokens is
 * still there t tokens later with probability S(s + t) / S(s), and then holds t more. The sum over requests has the
 * mean, the variance and the skewness that follow; its quantile comes from a normal distribution corrected for the
 * skewness (Cornish and Fisher), and the peak is the largest over t. Requests of about the same length are one group,
 * and all engines share one table of probabilities: the cost is engines × groups × times, however many requests there
 * are.
 */
import type { SurvivalCurve } from '../../core/survival.ts';
import type { Loads } from './load.ts';
import { type Packed, packedAt } from './packed.ts';
import { Moments } from './peak.ts';
import { timesUntil, withFiner } from './times.ts';

/** The future of all requests in flight: one for a decision, of which every engine has its share. */
export class Outlook {
  readonly #maxTokens: number;
  /** Groups that have requests. */
  readonly #groups: readonly number[];
  /** Mean tokens that the requests of each of them can still generate. */
  readonly #left: Float64Array;
  readonly #times: readonly number[];
  /** Chance to be there at a time, by time and group. */
  readonly #chance: Float64Array;
  /** How far that chance can be off for the smallness of the history, as a standard deviation. */
  readonly #doubt: Float64Array;
  /** When all requests together are expected to hold most, as an index. */
  readonly #busiest: number;
  /** At that time, by group: the chance to be there, and the tokens generated until then. */
  readonly chanceThen: Float64Array;
  readonly grownThen: Float64Array;

  /** @param total - all requests in flight */
  constructor(curve: SurvivalCurve, maxTokens: number, total: Loads) {
    this.#maxTokens = maxTokens;
    const groups: number[] = [];
    for (let group = 0; group < total.groups; group += 1) if (total.count(0, group) > 0) groups.push(group);
    this.#groups = groups;
    this.#left = Float64Array.from(groups, (group) =>
      Math.max(0, maxTokens - total.generated(0, group) / total.count(0, group)),
    );
    const coarse = timesUntil(this.#left[0] ?? 0, total);
    const busy = coarse[this.#busiestOf(total, coarse, this.#chances(curve, coarse))]!;
    this.#times = withFiner(coarse, busy);
    const chance = this.#chances(curve, this.#times);
    this.#chance = chance;
    this.#doubt = this.#doubts(curve);
    this.#busiest = this.#busiestOf(total, this.#times, chance);
    const time = this.#times[this.#busiest]!;
    this.chanceThen = new Float64Array(total.groups);
    this.grownThen = new Float64Array(total.groups);
    for (const [at, group] of groups.entries()) {
      this.chanceThen[group] = chance[this.#busiest * groups.length + at]!;
      this.grownThen[group] = Math.min(time, this.#left[at]!);
    }
  }

  /** The expected tokens of a request in the KV cache at the time when all engines together hold most. */
  weight(group: number, kvTokens: number): number {
    return this.chanceThen[group]! * (kvTokens + this.grownThen[group]!);
  }

  /** The expected tokens of what is at a place at that time. */
  mean(loads: Loads, place: number): number {
    let sum = 0;
    for (const group of this.#groups) {
      sum += this.weight(group, 0) * loads.count(place, group) + this.chanceThen[group]! * loads.kv(place, group);
    }
    return sum;
  }

  /** What the engine at a place will hold. */
  moments(loads: Loads, place: number): Moments {
    const packed = packedAt(loads, place, this.#groups);
    const moments = new Moments(this.#times.length, (time) => this.#common(packed, time));
    for (let time = 0; time < this.#times.length; time += 1) this.#fill(moments, packed, time);
    return moments;
  }

  #chances(curve: SurvivalCurve, times: readonly number[]): Float64Array {
    const groups = this.#left.length;
    const chance = new Float64Array(groups * times.length);
    for (let at = 0; at < groups; at += 1) {
      const left = this.#left[at]!;
      const age = this.#maxTokens - left;
      // What runs has at least one more token to go.
      const now = curve.at(Math.min(age + 1, this.#maxTokens));
      for (let time = 0; time < times.length; time += 1) {
        // What reaches the cap between two times is there until the later one.
        if (time > 0 && times[time - 1]! >= left) break;
        const then = age + Math.min(times[time]!, left);
        chance[time * groups + at] = Math.min(1, curve.at(then) / now);
      }
    }
    return chance;
  }

  #doubts(curve: SurvivalCurve): Float64Array {
    const groups = this.#left.length;
    const doubt = new Float64Array(this.#chance.length);
    for (let at = 0; at < groups; at += 1) {
      const left = this.#left[at]!;
      const age = this.#maxTokens - left;
      const known = curve.variance(Math.min(age + 1, this.#maxTokens));
      for (let time = 0; time < this.#times.length; time += 1) {
        const then = age + Math.min(this.#times[time]!, left);
        const deviation = Math.sqrt(Math.max(0, curve.variance(then) - known));
        doubt[time * groups + at] = this.#chance[time * groups + at]! * deviation;
      }
    }
    return doubt;
  }

  #busiestOf(total: Loads, times: readonly number[], chance: Float64Array): number {
    let busiest = 0;
    let most = -1;
    for (let time = 0; time < times.length; time += 1) {
      let sum = 0;
      for (let at = 0; at < this.#groups.length; at += 1) {
        const group = this.#groups[at]!;
        const grown = Math.min(times[time]!, this.#left[at]!);
        sum += chance[time * this.#groups.length + at]! * (total.kv(0, group) + total.count(0, group) * grown);
      }
      if (sum <= most) continue;
      most = sum;
      busiest = time;
    }
    return busiest;
  }

  #fill(moments: Moments, { size, at: mine, count, kv, kvSquared, perCount }: Packed, time: number): void {
    const now = this.#times[time]!;
    const first = time * this.#groups.length;
    const [chances, doubts, lefts] = [this.#chance, this.#doubt, this.#left];
    let mean = 0;
    let variance = 0;
    // The same error of the history stands in all requests: it does not average out.
    let doubt = 0;
    let third = 0;
    let all = 0;
    let requests = 0;
    for (let index = 0; index < size; index += 1) {
      const at = mine[index]!;
      const chance = chances[first + at]!;
      // Groups come by length: those after it have reached the cap too.
      if (chance === 0) break;
      const left = lefts[at]!;
      const grown = now < left ? now : left;
      const n = count[index]!;
      const sum = kv[index]!;
      const whole = sum + n * grown;
      const spread = chance * (1 - chance);
      mean += chance * whole;
      variance += spread * (kvSquared[index]! + grown * (sum + whole));
      doubt += doubts[first + at]! * whole;
      const one = whole * perCount[index]!;
      third += spread * (1 - 2 * chance) * whole * one * one;
      all += whole;
      requests += n;
    }
    // Half a request more: the sum moves in steps of whole requests.
    const half = requests > 0 ? all / requests / 2 : 0;
    moments.set(time, { mean, variance: variance + doubt * doubt, third, all, half });
  }

  /** The covariance of the sum at a time, not the first, with that at the time before. */
  #common({ size, at: mine, count, kv, kvSquared }: Packed, time: number): number {
    const [now, before] = [this.#times[time]!, this.#times[time - 1]!];
    const groups = this.#groups.length;
    let common = 0;
    let doubt = 0;
    let doubtBefore = 0;
    for (let index = 0; index < size; index += 1) {
      const at = mine[index]!;
      const [here, earlier] = [time * groups + at, (time - 1) * groups + at];
      const grown = Math.min(now, this.#left[at]!);
      const grownBefore = Math.min(before, this.#left[at]!);
      const [n, sum] = [count[index]!, kv[index]!];
      const products = kvSquared[index]! + (grown + grownBefore) * sum + n * grown * grownBefore;
      common += this.#chance[here]! * (1 - this.#chance[earlier]!) * products;
      doubt += this.#doubt[here]! * (sum + n * grown);
      doubtBefore += this.#doubt[earlier]! * (sum + n * grownBefore);
    }
    return common + doubt * doubtBefore;
  }
}
