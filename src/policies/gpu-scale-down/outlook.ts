/**
 * The projected peak of an engine's KV cache (RollPacker §4.4, second criterion).
 *
 * All requests of an engine decode in step, so future time is counted in tokens. A request that has reached s tokens still runs t
 * tokens later with probability S(s + t) / S(s + 1), since it generates at least one more token; the request then holds t more
 * tokens, up to the cap. These chances give the mean, the variance and the skewness of the sum over requests. The quantile of the
 * sum comes from a normal distribution corrected for skewness (Cornish and Fisher), and the peak is the largest quantile over t.
 * Chances are computed at a few times, for groups of requests of about the same length, and interpolated linearly between the
 * times. The requests that are left are counted exactly; if requests reach the cap between two times, the sum is also taken at
 * such a moment. The cost is requests + engines × groups × times.
 */

import type { Columns, Loads } from './columns.ts';
import { Moments } from './peak.ts';
import { type Moment, type Packed, packedAt, RequestsToCap } from './requests-to-cap.ts';
import { binFloor, binOf, type SurvivalCurve } from './survival.ts';

/**
 * The expected future of all requests in flight. One outlook serves a whole decision; each engine reads the part for its own
 * requests.
 */
export class Outlook {
  /** Number of requests. */
  readonly requests: number;
  readonly #maxTokens: number;
  readonly #columns: Columns;
  /** Groups that have requests, and the mean number of generated tokens in each group. */
  readonly #groups: readonly number[];
  readonly #ages: Float64Array;
  readonly #times: readonly number[];
  /** Chance that a request still runs, by time and group, ignoring the cap. */
  readonly #chance: Float64Array;
  /** Standard deviation of that chance, as far as the small history causes it. */
  readonly #doubt: Float64Array;
  /** The largest expected token sum over all requests. */
  readonly expectedTokens: number;
  /** At the time of that sum, by group: the chance that a request still runs, and the tokens generated until then. */
  readonly chanceThen: Float64Array;
  readonly grownThen: Float64Array;

  /**
   * @param total - all requests in flight
   * @param rows - rows of these requests, ordered by the time at which they reach the cap
   */
  constructor(curve: SurvivalCurve, maxTokens: number, total: Loads, rows: Int32Array, columns: Columns) {
    this.requests = rows.length;
    this.#maxTokens = maxTokens;
    this.#columns = columns;
    const groups: number[] = [];
    for (let group = 0; group < total.groups; group += 1) if (total.count(0, group) > 0) groups.push(group);
    this.#groups = groups;
    this.#ages = Float64Array.from(groups, (group) =>
      Math.min(maxTokens, total.generated(0, group) / total.count(0, group)),
    );
    const last = rows[rows.length - 1];
    const coarse = timesUntil(last === undefined ? 0 : maxTokens - columns.generated[last]!, total);
    const packed = packedAt(total, 0, groups);
    const rough = this.#busiest(packed, rows, coarse, this.#chances(curve, coarse));
    this.#times = withFiner(coarse, rough.moment.time);
    this.#chance = this.#chances(curve, this.#times);
    this.#doubt = this.#doubts(curve);
    const { moment, held } = this.#busiest(packed, rows, this.#times, this.#chance);
    this.expectedTokens = held;
    this.chanceThen = new Float64Array(total.groups);
    this.grownThen = new Float64Array(total.groups).fill(moment.time);
    for (let at = 0; at < moment.size; at += 1) {
      const isLast = at === moment.size - 1;
      const there = isLast ? moment.count / packed.count[at]! : 1;
      this.chanceThen[groups[at]!] = there * this.#read(this.#chance, moment, at);
    }
  }

  /** Returns the expected tokens of an engine at the time when all engines together hold most. */
  mean(loads: Loads, engineIndex: number): number {
    let sum = 0;
    for (const group of this.#groups) {
      const tokens = loads.kv(engineIndex, group) + this.grownThen[group]! * loads.count(engineIndex, group);
      sum += this.chanceThen[group]! * tokens;
    }
    return sum;
  }

  /**
   * Computes the moments of the KV cache use on an engine.
   *
   * @param rows - rows of its requests, in the order in which they reach the cap
   */
  moments(loads: Loads, engineIndex: number, rows: Int32Array): Moments {
    const packed = packedAt(loads, engineIndex, this.#groups);
    const list = this.#list(packed, rows, this.#times, this.#chance);
    const moments = new Moments(list.length, (time) => this.#common(packed, list[time]!, list[time - 1]!));
    for (let time = 0; time < list.length; time += 1) this.#fill(moments, packed, list[time]!);
    return moments;
  }

  #list(packed: Packed, rows: Int32Array, times: readonly number[], chance: Float64Array): Moment[] {
    return new RequestsToCap(packed, rows, this.#columns, this.#maxTokens).moments(times, this.#groups.length, chance);
  }

  #busiest(packed: Packed, rows: Int32Array, times: readonly number[], chance: Float64Array) {
    let busiest: Moment | undefined;
    let most = -1;
    for (const moment of this.#list(packed, rows, times, chance)) {
      let held = 0;
      for (let index = 0; index < moment.size; index += 1) {
        const isLast = index === moment.size - 1;
        const [n, kv] = isLast ? [moment.count, moment.kv] : [packed.count[index]!, packed.kv[index]!];
        held += this.#read(chance, moment, packed.at[index]!) * (kv + n * moment.time);
      }
      if (held <= most) continue;
      most = held;
      busiest = moment;
    }
    return { moment: busiest!, held: most };
  }

  /** Returns the value of a table for a group at a moment, interpolated between two times. */
  #read(table: Float64Array, { step, share }: Moment, group: number): number {
    const groups = this.#groups.length;
    const then = table[step * groups + group]!;
    if (share === 1) return then;
    const before = table[(step - 1) * groups + group]!;
    return before + share * (then - before);
  }

  #chances(curve: SurvivalCurve, times: readonly number[]): Float64Array {
    const groups = this.#ages.length;
    const chance = new Float64Array(groups * times.length);
    for (let at = 0; at < groups; at += 1) {
      const age = this.#ages[at]!;
      // A running request generates at least one more token.
      const now = curve.at(Math.min(age + 1, this.#maxTokens));
      for (let time = 0; time < times.length; time += 1) {
        const then = Math.min(this.#maxTokens, age + times[time]!);
        chance[time * groups + at] = Math.min(1, curve.at(then) / now);
      }
    }
    return chance;
  }

  #doubts(curve: SurvivalCurve): Float64Array {
    const groups = this.#ages.length;
    const doubt = new Float64Array(this.#chance.length);
    for (let at = 0; at < groups; at += 1) {
      const age = this.#ages[at]!;
      const known = curve.variance(Math.min(age + 1, this.#maxTokens));
      for (let time = 0; time < this.#times.length; time += 1) {
        const then = Math.min(this.#maxTokens, age + this.#times[time]!);
        const deviation = Math.sqrt(Math.max(0, curve.variance(then) - known));
        doubt[time * groups + at] = this.#chance[time * groups + at]! * deviation;
      }
    }
    return doubt;
  }

  #fill(moments: Moments, packed: Packed, moment: Moment): void {
    const { step, time: now, size } = moment;
    let mean = 0;
    let variance = 0;
    // All requests share the error of the history, so the error does not average out.
    let doubt = 0;
    let third = 0;
    let all = 0;
    let requests = 0;
    for (let index = 0; index < size; index += 1) {
      const at = packed.at[index]!;
      const chance = this.#read(this.#chance, moment, at);
      const isLast = index === size - 1;
      const n = isLast ? moment.count : packed.count[index]!;
      const sum = isLast ? moment.kv : packed.kv[index]!;
      const squared = isLast ? moment.kvSquared : packed.kvSquared[index]!;
      const whole = sum + n * now;
      const spread = chance * (1 - chance);
      mean += chance * whole;
      variance += spread * (squared + now * (sum + whole));
      doubt += this.#read(this.#doubt, moment, at) * whole;
      const one = whole / n;
      third += spread * (1 - 2 * chance) * whole * one * one;
      all += whole;
      requests += n;
    }
    // A continuity correction by half a request: the sum moves in steps of whole requests.
    const half = requests > 0 ? all / requests / 2 : 0;
    moments.set(step, { mean, variance: variance + doubt * doubt, third, all, half });
  }

  /** Returns the covariance of the sums at two moments: a request that runs at the later moment also ran at the earlier one. */
  #common(packed: Packed, later: Moment, earlier: Moment): number {
    let common = 0;
    for (let index = 0; index < later.size; index += 1) {
      const at = packed.at[index]!;
      const isLast = index === later.size - 1;
      const n = isLast ? later.count : packed.count[index]!;
      const sum = isLast ? later.kv : packed.kv[index]!;
      const squared = isLast ? later.kvSquared : packed.kvSquared[index]!;
      const products = squared + (later.time + earlier.time) * sum + n * later.time * earlier.time;
      common += this.#read(this.#chance, later, at) * (1 - this.#read(this.#chance, earlier, at)) * products;
    }
    return common + this.#doubtOf(packed, later) * this.#doubtOf(packed, earlier);
  }

  #doubtOf(packed: Packed, moment: Moment): number {
    let doubt = 0;
    for (let index = 0; index < moment.size; index += 1) {
      const isLast = index === moment.size - 1;
      const [n, sum] = isLast ? [moment.count, moment.kv] : [packed.count[index]!, packed.kv[index]!];
      doubt += this.#read(this.#doubt, moment, packed.at[index]!) * (sum + n * moment.time);
    }
    return doubt;
  }
}

// The distance between two times is at most an eighth, and a sixteenth around the busiest one.
const binsPerTime = 2;
/** Factor between the earlier times, which are needed if the cache is fullest early. */
const early = 2;

/** Returns the times to look at, ascending, from now until the last request has reached the cap. */
export function timesUntil(longest: number, total: Loads): number[] {
  let requests = 0;
  for (let group = 0; group < total.groups; group += 1) requests += total.count(0, group);
  // Before this time, the cache cannot grow by more than a 32nd.
  const first = Math.max(1, Math.floor(total.kvTokens(0) / Math.max(1, requests) / 32));
  const times = [0];
  for (let bin = binOf(first); binFloor(bin) < longest; bin += bin < 32 ? 1 : binsPerTime) times.push(binFloor(bin));
  times.push(longest);
  return times;
}

/** Adds finer times from half to twice the busiest. */
export function withFiner(times: readonly number[], busiest: number): number[] {
  const all = new Set(times);
  const last = times[times.length - 1]!;
  const first = times[1] ?? 0;
  for (let bin = binOf(Math.floor(busiest / 2)); binFloor(bin) < Math.min(last, 2 * busiest); bin += 1) {
    if (binFloor(bin) > first) all.add(binFloor(bin));
  }
  if (busiest <= first) for (let at = 1; at < first; at = Math.max(at + 1, Math.floor(at * early))) all.add(at);
  return [...all].sort((a, b) => a - b);
}
