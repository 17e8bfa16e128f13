/**
 * Follows the requests of an engine as they reach the cap, one after the other. Groups are disjoint ranges of lengths. So at any
 * time there is one group that may have lost some requests; groups before it are complete, and groups after it are gone.
 */
import type { Columns, Loads } from './columns.ts';

/**
 * The groups (ranges of lengths) that have requests on one engine: `at` has their indices in the given list of groups; `count`,
 * `kv` and `kvSquared` have their sums.
 */
export interface Packed {
  readonly size: number;
  readonly at: Int32Array;
  readonly count: Float64Array;
  readonly kv: Float64Array;
  readonly kvSquared: Float64Array;
}

/** Collects the groups of an engine that have requests. */
export function packedAt(loads: Loads, engineIndex: number, groups: readonly number[]): Packed {
  const most = groups.length;
  const [mine, count, kv] = [new Int32Array(most), new Float64Array(most), new Float64Array(most)];
  const kvSquared = new Float64Array(most);
  let size = 0;
  for (let at = 0; at < most; at += 1) {
    const group = groups[at]!;
    const n = loads.count(engineIndex, group);
    if (n === 0) continue;
    mine[size] = at;
    count[size] = n;
    kv[size] = loads.kv(engineIndex, group);
    kvSquared[size] = loads.kvSquared(engineIndex, group);
    size += 1;
  }
  return { size, at: mine, count, kv, kvSquared };
}

/** A moment between two times that are looked at, and the requests left at this moment. */
export interface Moment {
  /** Index of the later time. */
  readonly step: number;
  /** Tokens from now. */
  readonly time: number;
  /** Position between the earlier and the later time, 0 to 1. */
  readonly share: number;
  /** Number of groups that have requests; later groups have reached the cap. */
  readonly size: number;
  /** Requests left in the last remaining group. */
  readonly count: number;
  readonly kv: number;
  readonly kvSquared: number;
}

/** Requests that reach the cap one after the other. */
export class RequestsToCap {
  readonly #packed: Packed;
  readonly #rows: Int32Array;
  readonly #columns: Columns;
  readonly #maxTokens: number;
  /** Index in the rows: the next request to reach the cap. */
  #next = 0;
  #size: number;
  #count = 0;
  #kv = 0;
  #kvSquared = 0;

  /** @param rows - rows of the requests, in the order in which they reach the cap */
  constructor(packed: Packed, rows: Int32Array, columns: Columns, maxTokens: number) {
    this.#packed = packed;
    this.#rows = rows;
    this.#columns = columns;
    this.#maxTokens = maxTokens;
    this.#size = packed.size;
    this.#fill();
  }

  /**
   * Returns, for each time, the moment since the previous time at which the most tokens are expected. If a step cannot exceed an
   * earlier step, all requests at its beginning are assumed to stay until its end, which saves the search through the requests.
   *
   * @param times - the first is now
   * @param chances - chance that a request still runs, by time and group; linear between two times
   */
  moments(times: readonly number[], groups: number, chances: Float64Array): Moment[] {
    const moments: Moment[] = [this.#at(0, 0, 1)];
    let most = this.#held(0, chances, 0);
    for (let step = 1; step < times.length; step += 1) {
      const [from, to] = [times[step - 1]!, times[step]!];
      this.#dropGroups(from);
      if (this.#end() >= to) {
        most = Math.max(most, this.#held(to, chances, step * groups));
        moments.push(this.#at(step, to, 1));
      } else if (this.#held(to, chances, (step - 1) * groups) <= most) moments.push(this.#at(step, to, 1));
      else {
        while (this.#end() <= from) this.#leave();
        const { worst, held } = this.#worst(step, from, to, groups, chances);
        most = Math.max(most, held);
        moments.push(worst);
      }
    }
    return moments;
  }

  /** Returns the expected tokens of the requests left at a time, given the chances from `row` on. */
  #held(time: number, chances: Float64Array, row: number): number {
    const { at: mine, kv, count } = this.#packed;
    const last = this.#size - 1;
    if (last < 0) return 0;
    let held = chances[row + mine[last]!]! * (this.#kv + time * this.#count);
    for (let index = 0; index < last; index += 1)
      held += chances[row + mine[index]!]! * (kv[index]! + time * count[index]!);
    return held;
  }

  /** Drops the groups whose requests have all reached the cap by this time. */
  #dropGroups(time: number): void {
    while (this.#size > 0) {
      const row = this.#rows[this.#next + this.#count - 1]!;
      if (this.#maxTokens - this.#columns.generated[row]! > time) return;
      this.#next += this.#count;
      this.#size -= 1;
      this.#fill();
    }
  }

  /** Returns the moment with the most expected KV tokens: one at which requests reach the cap, or the end of the step. */
  #worst(step: number, from: number, to: number, groups: number, chances: Float64Array) {
    const { at: mine, kv, count } = this.#packed;
    const [now, then] = [(step - 1) * groups, step * groups];
    // Expected tokens and expected requests: the value at the beginning of the step, and its change until the end.
    let [tokensNow, tokensMore, countNow, countMore] = [0, 0, 0, 0];
    for (let index = 0; index < this.#size; index += 1) {
      const first = chances[now + mine[index]!]!;
      const more = chances[then + mine[index]!]! - first;
      const isLast = index === this.#size - 1;
      const sum = isLast ? this.#kv : kv[index]!;
      const n = isLast ? this.#count : count[index]!;
      tokensNow += first * sum;
      tokensMore += more * sum;
      countNow += first * n;
      countMore += more * n;
    }
    let most = -1;
    let worst: Moment | undefined;
    for (;;) {
      const end = this.#end();
      const time = Math.min(end, to);
      const share = (time - from) / (to - from);
      const held = tokensNow + share * tokensMore + time * (countNow + share * countMore);
      if (held > most) {
        most = held;
        worst = this.#at(step, time, share);
      }
      if (end >= to) return { worst: worst!, held: most };
      while (this.#end() === end) {
        const group = mine[this.#size - 1]!;
        const first = chances[now + group]!;
        const more = chances[then + group]! - first;
        const tokens = this.#tokens();
        tokensNow -= first * tokens;
        tokensMore -= more * tokens;
        countNow -= first;
        countMore -= more;
        this.#leave();
      }
    }
  }

  /** Returns the time at which the next request reaches the cap. */
  #end(): number {
    const row = this.#rows[this.#next];
    return row === undefined ? Number.POSITIVE_INFINITY : this.#maxTokens - this.#columns.generated[row]!;
  }

  #tokens(): number {
    return this.#columns.kvTokens[this.#rows[this.#next]!]!;
  }

  #leave(): void {
    const tokens = this.#tokens();
    this.#next += 1;
    this.#count -= 1;
    this.#kv -= tokens;
    this.#kvSquared -= tokens * tokens;
    if (this.#count > 0) return;
    this.#size -= 1;
    this.#fill();
  }

  #fill(): void {
    const last = this.#size - 1;
    if (last < 0) return;
    this.#count = this.#packed.count[last]!;
    this.#kv = this.#packed.kv[last]!;
    this.#kvSquared = this.#packed.kvSquared[last]!;
  }

  #at(step: number, time: number, share: number): Moment {
    return { step, time, share, size: this.#size, count: this.#count, kv: this.#kv, kvSquared: this.#kvSquared };
  }
}
