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
import { binFloor, binOf, type SurvivalCurve } from '../../core/survival.ts';
import type { Loads } from './load.ts';

// A time is an eighth from the next at most, and a sixteenth around the busiest one.
const binsPerTime = 2;
/** How many times are looked at before the first of them. */
const early = 8;

/** The future of all requests in flight: one for a decision, of which every engine has its share. */
export class Outlook {
  readonly #maxTokens: number;
  readonly #z: number;
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
  readonly #chanceThen: Float64Array;
  readonly #grownThen: Float64Array;

  /**
   * @param total - all requests in flight
   * @param z - the quantile, in standard deviations of a normal distribution
   */
  constructor(curve: SurvivalCurve, maxTokens: number, total: Loads, z: number) {
    this.#maxTokens = maxTokens;
    this.#z = z;
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
    this.#chanceThen = new Float64Array(total.groups);
    this.#grownThen = new Float64Array(total.groups);
    for (const [at, group] of groups.entries()) {
      this.#chanceThen[group] = chance[this.#busiest * groups.length + at]!;
      this.#grownThen[group] = Math.min(time, this.#left[at]!);
    }
  }

  /** The expected tokens of a request in the KV cache at the time when all engines together hold most. */
  weight(group: number, kvTokens: number): number {
    return this.#chanceThen[group]! * (kvTokens + this.#grownThen[group]!);
  }

  /** The expected tokens of what is at a place at that time. */
  mean(loads: Loads, place: number): number {
    let sum = 0;
    for (const group of this.#groups) {
      sum += this.weight(group, 0) * loads.count(place, group) + this.#chanceThen[group]! * loads.kv(place, group);
    }
    return sum;
  }

  /** The projected peak of the engine at a place, in tokens; its quantile is that of the outlook. */
  peak(loads: Loads, place: number): number {
    const packed = this.#packed(loads, place);
    let peak = 0;
    for (let time = 0; time < this.#times.length; time += 1) peak = Math.max(peak, this.#quantile(packed, time));
    return Math.ceil(peak);
  }

  #chances(curve: SurvivalCurve, times: readonly number[]): Float64Array {
    const groups = this.#left.length;
    const chance = new Float64Array(groups * times.length);
    for (let at = 0; at < groups; at += 1) {
      const left = this.#left[at]!;
      const age = this.#maxTokens - left;
      const now = curve.at(age);
      for (let time = 0; time < times.length; time += 1) {
        // What reaches the cap between two times is there until the later one.
        if (time > 0 && times[time - 1]! >= left) break;
        const then = age + Math.min(times[time]!, left);
        chance[time * groups + at] = curve.at(then) / now;
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
      const known = curve.variance(age);
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

  #quantile({ at: mine, count, kv, kvSquared, perCount }: Packed, time: number): number {
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
    for (let index = 0; index < mine.length; index += 1) {
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
    if (requests === 0) return 0;
    const square = variance + doubt * doubt;
    const deviation = Math.sqrt(square);
    const skewness = square > 0 ? third / (square * deviation) : 0;
    const z = this.#z;
    // Half a request more: the sum moves in steps of whole requests.
    const quantile = mean + deviation * (z + ((z * z - 1) * skewness) / 6) + all / requests / 2;
    return Math.min(all, Math.max(mean, quantile));
  }

  /** What is at a place, without groups that have none. */
  #packed(loads: Loads, place: number): Packed {
    const mine: number[] = [];
    for (let at = 0; at < this.#groups.length; at += 1) if (loads.count(place, this.#groups[at]!) > 0) mine.push(at);
    const count = new Float64Array(mine.length);
    const kv = new Float64Array(mine.length);
    const kvSquared = new Float64Array(mine.length);
    const perCount = new Float64Array(mine.length);
    for (let index = 0; index < mine.length; index += 1) {
      const group = this.#groups[mine[index]!]!;
      count[index] = loads.count(place, group);
      kv[index] = loads.kv(place, group);
      kvSquared[index] = loads.kvSquared(place, group);
      perCount[index] = 1 / count[index]!;
    }
    return { at: mine, count, kv, kvSquared, perCount };
  }
}

/** The groups of a place that have requests, as indices, and what is in them. */
interface Packed {
  readonly at: readonly number[];
  readonly count: Float64Array;
  readonly kv: Float64Array;
  readonly kvSquared: Float64Array;
  readonly perCount: Float64Array;
}

/** Times to look at, ascending, from now until the last request has reached the cap. */
function timesUntil(longest: number, total: Loads): number[] {
  let requests = 0;
  for (let group = 0; group < total.groups; group += 1) requests += total.count(0, group);
  // Before that, the cache cannot grow by more than a 32nd.
  const first = Math.max(1, Math.floor(total.kvTokens(0) / Math.max(1, requests) / 32));
  const times = [0];
  for (let bin = binOf(first); binFloor(bin) < longest; bin += bin < 32 ? 1 : binsPerTime) times.push(binFloor(bin));
  times.push(longest);
  return times;
}

/** The times, and finer ones from half to twice the busiest. */
function withFiner(times: readonly number[], busiest: number): number[] {
  const all = new Set(times);
  const last = times[times.length - 1]!;
  const first = times[1] ?? 0;
  for (let bin = binOf(Math.floor(busiest / 2)); binFloor(bin) < Math.min(last, 2 * busiest); bin += 1) {
    if (binFloor(bin) > first) all.add(binFloor(bin));
  }
  if (busiest <= first) for (let part = 1; part < early; part += 1) all.add((first * part) / early);
  return [...all].sort((a, b) => a - b);
}
