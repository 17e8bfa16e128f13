/**
 * The projected peak of an engine's KV cache (RollPacker §4.4, second criterion), from the lengths of earlier rounds.
 *
 * All requests of an engine decode in step, so future time is counted in tokens. A request that has reached s tokens still runs t
 * tokens later with probability S(s + t) / S(s + 1), since it generates at least one more token; it then holds t more tokens, up to
 * the cap. The peak is the largest quantile over t of the sum over requests, which is taken as normal. Only additions, products,
 * quotients and square roots are used, so that the same history gives the same numbers on every machine.
 */
import { z } from 'zod';

/** Bins per octave: a bin is at most 1/16 as wide as its least number. Bins four times as wide change little (see README.md). */
const perOctave = 16;

/** Returns the bin of a whole number from 0 to 2³⁰; each number below 32 has its own bin. */
export function binOf(value: number): number {
  if (value < 2 * perOctave) return value;
  const shift = 27 - Math.clz32(value);
  return shift * perOctave + (value >>> shift);
}

/** Returns the least number in a bin. */
export function binFloor(bin: number): number {
  if (bin < 2 * perOctave) return bin;
  const shift = (bin >> 4) - 1;
  return (bin - shift * perOctave) * (1 << shift);
}

const row = z.tuple([z.int().nonnegative(), z.number().nonnegative()]);

/** Schema of a {@link LengthHistory} as JSON: only bins that are not empty. */
export const savedHistory = z.strictObject({
  closed: z.array(row).describe('Bins of earlier rounds: bin and weight.'),
  open: z.array(row).describe('The same, of the round that is not over.'),
});
type SavedHistory = z.output<typeof savedHistory>;

function rowsOf(table: Float64Array): SavedHistory['open'] {
  const rows: SavedHistory['open'] = [];
  for (const [bin, weight] of table.entries()) if (weight > 0) rows.push([bin, weight]);
  return rows;
}

/** Weights below a thousandth of a request are dropped, so that old rounds are forgotten in the end and snapshots stay short. */
const roundedDown = (value: number): number => Math.floor(value * 1000 + 1e-6) / 1000;

/** Lengths at which requests ended in one kind of round; the weight of older rounds decays exponentially. */
export class LengthHistory {
  readonly maxTokens: number;
  readonly #closed: Float64Array;
  readonly #open: Float64Array;

  /** @param maxTokens - the greatest possible length of a response */
  constructor(maxTokens: number, saved: SavedHistory = { closed: [], open: [] }) {
    this.maxTokens = maxTokens;
    const last = binOf(maxTokens);
    this.#closed = new Float64Array(last + 1);
    this.#open = new Float64Array(last + 1);
    for (const [bin, weight] of saved.closed) this.#closed[Math.min(bin, last)]! += weight;
    for (const [bin, weight] of saved.open) this.#open[Math.min(bin, last)]! += weight;
  }

  /** Adds a request of the current round, with its tokens at the end. */
  add(tokens: number): void {
    this.#open[binOf(Math.min(tokens, this.maxTokens))]! += 1;
  }

  /**
   * Closes the round. Its requests count only from now on, because in an open round mostly short requests have ended.
   *
   * @param retention - share of the weight of earlier rounds that remains, 0 to 1
   */
  close(retention: number): void {
    if (!this.#open.some((weight) => weight > 0)) return;
    for (const [bin, weight] of this.#closed.entries())
      this.#closed[bin] = roundedDown(weight * retention) + this.#open[bin]!;
    this.#open.fill(0);
  }

  /** Returns the survival function of the closed rounds; `undefined` if there are none. */
  curve(): SurvivalCurve | undefined {
    return this.#closed.some((weight) => weight > 0) ? new SurvivalCurve(this.#closed) : undefined;
  }

  save(): SavedHistory {
    return { closed: rowsOf(this.#closed), open: rowsOf(this.#open) };
  }
}

/**
 * The share of requests that still run at a length: a life table, linear between the edges of bins. One request that never ends
 * is added to every history, so that beyond the longest request seen, every request is assumed to run to the cap.
 */
export class SurvivalCurve {
  /** Share of requests that reach the floor of each bin. */
  readonly #atFloor: Float64Array;

  /** @param ended - weight of requests that ended, by bin; the last bin contains the cap */
  constructor(ended: Float64Array) {
    this.#atFloor = new Float64Array(ended.length + 1).fill(1);
    let there = ended.reduce((sum, weight) => sum + weight, 1);
    for (let bin = 0; bin < ended.length; bin += 1) {
      // What ends in the last bin has run to the cap.
      const left = bin === ended.length - 1 ? there : there - ended[bin]!;
      this.#atFloor[bin + 1] = this.#atFloor[bin]! * (left / there);
      there = left;
    }
  }

  /** Returns the share of requests that reach this length: 1 at 0 tokens, and above 0 at every length. */
  at(tokens: number): number {
    const values = this.#atFloor;
    const bin = Math.min(binOf(Math.floor(tokens)), values.length - 2);
    const floor = binFloor(bin);
    const within = Math.min(1, (tokens - floor) / (binFloor(bin + 1) - floor));
    return values[bin]! + (values[bin + 1]! - values[bin]!) * within;
  }
}

/** A request in flight. */
export interface InFlight {
  readonly requestId: string;
  readonly engineIndex: number;
  /** Generated tokens, as reported: above the cap means the cap. */
  readonly tokens: number;
  /** Tokens in the KV cache, prompt and response. */
  readonly kvTokens: number;
}

/** Returns the most tokens that requests can hold together: all run to the cap, and the peak is when one of them reaches it. */
export function mostTokens(requests: readonly InFlight[], maxTokens: number): number {
  // The time that is left and the row as one number, since typed arrays are sorted fastest.
  const rows = 2 ** 28;
  const byEnd = Float64Array.from(requests, ({ tokens }, row) => Math.max(0, maxTokens - tokens) * rows + row).sort();
  let [kv, peak] = [0, 0];
  for (let at = byEnd.length - 1; at >= 0; at -= 1) {
    const left = Math.floor(byEnd[at]! / rows);
    kv += requests[byEnd[at]! - left * rows]!.kvTokens;
    peak = Math.max(peak, kv + (byEnd.length - at) * left);
  }
  return peak;
}

type Row = Float64Array;

/** By group of about the same length: the number of requests, their tokens in the KV cache, and the sum of the squares of these. */
interface Load {
  readonly count: Row;
  readonly kv: Row;
  readonly squared: Row;
}

/** The sum over requests at a time: its mean and standard deviation, and what it is if all requests stay until then or the cap. */
interface Sum {
  readonly mean: number;
  readonly deviation: number;
  readonly all: number;
}

/** The expected future of all requests in flight. One projection serves a whole decision. */
export class Projection {
  readonly #maxTokens: number;
  /** Whether anything is known of lengths. */
  readonly #knows: boolean;
  /** By bin of tokens: the group of a request. */
  readonly #groupOf: Int32Array;
  readonly #groups: number;
  /** Tokens from now at which the sum is taken. */
  readonly #times: readonly number[];
  /** Chance that a request still runs, by time and group; 0 beyond the cap. */
  readonly #chance: Float64Array;

  /**
   * @param curve - absent if nothing is known of lengths: then every request may run to the cap
   * @param requests - all requests in flight
   */
  constructor(curve: SurvivalCurve | undefined, maxTokens: number, requests: readonly InFlight[]) {
    this.#maxTokens = maxTokens;
    this.#knows = curve !== undefined;
    this.#groupOf = new Int32Array(binOf(maxTokens) + 1).fill(-1);
    const counts: number[] = [];
    const totals: number[] = [];
    for (const request of requests) {
      const tokens = Math.min(request.tokens, maxTokens);
      const bin = binOf(tokens);
      if (this.#groupOf[bin] === -1) this.#groupOf[bin] = counts.push(0) - 1;
      const group = this.#groupOf[bin]!;
      counts[group]! += 1;
      totals[group] = (totals[group] ?? 0) + tokens;
    }
    const ages = totals.map((total, group) => total / counts[group]!);
    this.#groups = ages.length;
    this.#times = timesUntil(maxTokens, ages);
    this.#chance = new Float64Array(this.#times.length * ages.length);
    if (curve !== undefined) this.#fill(curve, ages);
  }

  /** Returns the most tokens that these requests are expected to hold at any time. */
  expected(requests: readonly InFlight[]): number {
    return this.peak(requests, 0);
  }

  /**
   * Returns the largest sum over these requests at any time, in tokens, at a quantile.
   *
   * @param deviations - the quantile in standard deviations of a normal distribution
   */
  peak(requests: readonly InFlight[], deviations: number): number {
    if (!this.#knows) return mostTokens(requests, this.#maxTokens);
    let peak = 0;
    for (const { mean, deviation, all } of this.#sums(this.#loadOf(requests)))
      peak = Math.max(peak, Math.min(all, mean + deviations * deviation));
    return peak;
  }

  #fill(curve: SurvivalCurve, ages: readonly number[]): void {
    for (const [group, age] of ages.entries()) {
      const now = curve.at(Math.min(age + 1, this.#maxTokens));
      for (const [time, ahead] of this.#times.entries()) {
        if (ahead > this.#maxTokens - age) break;
        this.#chance[time * ages.length + group] = Math.min(1, curve.at(age + ahead) / now);
      }
    }
  }

  #loadOf(requests: readonly InFlight[]): Load {
    const [count, kv, squared] = [0, 0, 0].map(() => new Float64Array(this.#groups)) as [Row, Row, Row];
    for (const { tokens, kvTokens } of requests) {
      const group = this.#groupOf[binOf(Math.min(tokens, this.#maxTokens))]!;
      count[group]! += 1;
      kv[group]! += kvTokens;
      squared[group]! += kvTokens * kvTokens;
    }
    return { count, kv, squared };
  }

  #sums({ count, kv, squared }: Load): Sum[] {
    return this.#times.map((ahead, time) => {
      let [mean, variance, all] = [0, 0, 0];
      for (let group = 0; group < this.#groups; group += 1) {
        const chance = this.#chance[time * this.#groups + group]!;
        if (chance === 0) continue;
        const whole = kv[group]! + ahead * count[group]!;
        mean += chance * whole;
        variance += chance * (1 - chance) * (squared[group]! + ahead * (kv[group]! + whole));
        all += whole;
      }
      return { mean, deviation: Math.sqrt(variance), all };
    });
  }
}

/** Returns the times to look at, ascending: every second bin, until the last request has reached the cap. */
function timesUntil(maxTokens: number, ages: readonly number[]): number[] {
  const longest = ages.reduce((most, age) => Math.max(most, maxTokens - age), 0);
  const times = [0];
  for (let bin = 1; binFloor(bin) < longest; bin += 2) times.push(binFloor(bin));
  return [...times, longest];
}

/**
 * Returns the quantile of the standard normal distribution, to 0.00045 (Abramowitz and Stegun 26.2.23); rounded, so that machines
 * whose logarithms differ in the last bit give the same result.
 *
 * @param above - the chance to exceed it, above 0 to 0.5
 */
export function deviationsOf(above: number): number {
  const t = Math.sqrt(-2 * Math.log(above));
  const share = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return Math.round((t - share) * 1e6) / 1e6;
}
