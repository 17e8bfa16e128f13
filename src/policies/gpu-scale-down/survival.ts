/**
 * Estimates how long requests run, in bounded memory, by a life table over log-spaced bins of their tokens.
 *
 * Only additions, products and quotients of doubles are used, so that the same history gives the same numbers on every machine.
 */
import { z } from 'zod';

/** Bins per octave: a bin is at most 1/16 as wide as its least number. */
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

const weight = z.number().nonnegative();
const row = z.tuple([z.int().nonnegative(), weight]);

/** Schema of {@link SavedHistory}. */
export const savedHistory = z.strictObject({
  closed: z.array(row).describe('Bins of earlier rounds: bin and weight.'),
  open: z.array(row).describe('The same, of the round that is not over.'),
});
/** A history of lengths as JSON: only bins that are not empty. */
export type SavedHistory = z.output<typeof savedHistory>;

type Rows = [bin: number, weight: number][];

function saveTable(table: Float64Array): Rows {
  const rows: Rows = [];
  for (let bin = 0; bin < table.length; bin += 1) if (table[bin]! > 0) rows.push([bin, table[bin]!]);
  return rows;
}

/** Loads saved bins. A bin beyond the cap is added to the last one, since a typed array would lose it silently. */
function loadTable(table: Float64Array, rows: Rows): void {
  for (const [bin, one] of rows) table[Math.min(bin, table.length - 1)]! += one;
}

/** Weights below a thousandth of a request are dropped, so that old rounds are forgotten in the end and snapshots stay short. */
const roundedDown = (value: number): number => Math.floor(value * 1000 + 1e-6) / 1000;

/** Lengths at which requests ended in one kind of round; the weight of older rounds decays exponentially. */
export class LengthHistory {
  readonly maxTokens: number;
  readonly #closed: Float64Array;
  #open: Float64Array;
  #openCount = 0;

  /** @param maxTokens - the greatest possible length of a response */
  constructor(maxTokens: number) {
    this.maxTokens = maxTokens;
    this.#closed = new Float64Array(binOf(maxTokens) + 1);
    this.#open = new Float64Array(binOf(maxTokens) + 1);
  }

  /** Adds a request of the current round, with its tokens at the end. */
  add(tokens: number): void {
    this.#open[binOf(Math.min(tokens, this.maxTokens))]! += 1;
    this.#openCount += 1;
  }

  /**
   * Closes the round. Its requests count only from now on, because in an open round mostly short requests have ended.
   *
   * @param retention - share of the weight of earlier rounds that remains, 0 to 1
   */
  close(retention: number): void {
    if (this.#openCount === 0) return;
    const closed = this.#closed;
    for (let bin = 0; bin < closed.length; bin += 1)
      closed[bin] = roundedDown(closed[bin]! * retention) + this.#open[bin]!;
    this.#open = new Float64Array(closed.length);
    this.#openCount = 0;
  }

  /** Returns the survival function of the closed rounds. */
  curve(): SurvivalCurve {
    return new SurvivalCurve(this.#closed);
  }

  save(): SavedHistory {
    return { closed: saveTable(this.#closed), open: saveTable(this.#open) };
  }

  load({ closed, open }: SavedHistory): this {
    loadTable(this.#closed, closed);
    loadTable(this.#open, open);
    this.#openCount = open.length;
    return this;
  }
}

/**
 * The share of requests that still run at a length: a life table, linear between the edges of bins. One request that never ends
 * is added to every history. So without history, and beyond the longest request seen, every request is assumed to run to the cap.
 */
export class SurvivalCurve {
  /** Share of requests that reach the floor of each bin. */
  readonly #atFloor: Float64Array;
  /** Estimated variance for the logarithm of that share (Greenwood 1926). */
  readonly #variance: Float64Array;

  /** @param ended - weight of requests that ended, by bin; the last bin contains the cap */
  constructor(ended: Float64Array) {
    this.#atFloor = new Float64Array(ended.length + 1);
    this.#variance = new Float64Array(ended.length + 1);
    let there = 1;
    for (let bin = 0; bin < ended.length; bin += 1) there += ended[bin]!;
    let share = 1;
    let variance = 0;
    for (let bin = 0; bin < ended.length; bin += 1) {
      this.#atFloor[bin] = share;
      this.#variance[bin] = variance;
      if (bin === ended.length - 1) break;
      const left = there - ended[bin]!;
      share *= left / there;
      variance += ended[bin]! / (there * left);
      there = left;
    }
    this.#atFloor[ended.length] = share;
    this.#variance[ended.length] = variance;
  }

  /** Returns the share of requests that reach this length: 1 at 0 tokens, and above 0 at every length. */
  at(tokens: number): number {
    return this.#read(this.#atFloor, tokens);
  }

  /** Returns the variance for the logarithm of that share: the uncertainty from a short history, which grows with the length. */
  variance(tokens: number): number {
    return this.#read(this.#variance, tokens);
  }

  #read(values: Float64Array, tokens: number): number {
    const bin = Math.min(binOf(Math.floor(tokens)), values.length - 2);
    const floor = binFloor(bin);
    const within = Math.min(1, (tokens - floor) / (binFloor(bin + 1) - floor));
    return values[bin]! + (values[bin + 1]! - values[bin]!) * within;
  }
}
