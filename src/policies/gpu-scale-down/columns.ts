/** A report of all requests in flight as columns: a row for each request, and sums by engine and length. */
import { IndexRoom } from '../../core/ids/string-index.ts';
import type { RunningRequest } from '../../schemas/gpus.ts';
import { binOf } from './survival.ts';

/**
 * The columns into which a report is read. The next report reuses them, because making them anew takes as long as filling them.
 * After the decision, only `ids`, `room`, `from`, `to` and `tokens` are needed, while requests move; no report is read in that
 * time, because none is requested until the release is over. Columns are not saved.
 */
export class Columns {
  /** For each request: the index of its engine and its group; −1 if the request has ended or its engine is lost. */
  cells = new Int32Array(0);
  /** For each request: its tokens in the KV cache, prompt and response. */
  kvTokens = new Float64Array(0);
  /** For each request: its generated tokens, up to the cap. */
  generated = new Int32Array(0);
  /** For each request: the index of its engine after the migration. */
  engineIndices = new Int32Array(0);
  /** Rows in the order in which the requests reach the cap. */
  order = new Int32Array(0);
  /** Working space of the sort; afterwards `order`, sorted by engine. */
  spare = new Int32Array(0);
  /** Rows of the requests that leave their engine, in the order of the report. */
  rows = new Int32Array(0);
  /** For each request in `rows`: its weight bin. */
  bins = new Uint16Array(0);
  /** For each moving request, in the order of dealing: its target. */
  targets = new Int32Array(0);
  /** For each moving request: the index of the engine that it leaves. */
  from = new Int32Array(0);
  /** For each moving request: the index of the target engine. */
  to = new Int32Array(0);
  /** For each moving request: `from` and `to` as one number. */
  pairs = new Int32Array(0);
  /** Ids of the requests that move. */
  ids: string[] = [];
  /** Hashes of the ids. */
  hashes = new Int32Array(0);
  /** Generated tokens of the requests in `ids`. */
  tokens = new Float64Array(0);
  /** Index of the ids. */
  readonly room = new IndexRoom();

  /** Makes room for so many requests. */
  reserve(requests: number): this {
    if (requests <= this.cells.length) return this;
    const size = requests + (requests >> 2);
    this.cells = new Int32Array(size);
    this.kvTokens = new Float64Array(size);
    this.generated = new Int32Array(size);
    this.engineIndices = new Int32Array(size);
    this.order = new Int32Array(size);
    this.spare = new Int32Array(size);
    this.rows = new Int32Array(size);
    this.bins = new Uint16Array(size);
    this.pairs = new Int32Array(size);
    this.targets = new Int32Array(size);
    this.ids = new Array(size).fill('');
    this.hashes = new Int32Array(size);
    this.from = new Int32Array(size);
    this.to = new Int32Array(size);
    this.tokens = new Float64Array(size);
    return this;
  }
}

// Two digits hold every length up to the longest that can be configured.
const digitBits = 13;
const digits = 1 << digitBits;

/**
 * Writes the rows that have an engine into `columns.order`, sorted by the latest time at which their requests reach the cap;
 * returns the number of rows. At these times, engines may hold the most tokens.
 */
export function orderByEnd(columns: Columns, rows: number): number {
  const { cells, generated, order, spare } = columns;
  let size = 0;
  for (let row = 0; row < rows; row += 1) if (cells[row]! >= 0) order[size++] = row;
  sortByDigit(order, spare, generated, size, 0);
  sortByDigit(spare, order, generated, size, digitBits);
  return size;
}

/** Sorts by one digit of the keys, descending and stable: one pass of a radix sort. */
function sortByDigit(from: Int32Array, to: Int32Array, keys: Int32Array, size: number, shift: number): void {
  const starts = new Int32Array(digits + 1);
  for (let at = 0; at < size; at += 1) starts[digits - ((keys[from[at]!]! >> shift) & (digits - 1))]! += 1;
  for (let digit = 1; digit <= digits; digit += 1) starts[digit]! += starts[digit - 1]!;
  for (let at = 0; at < size; at += 1) {
    const digit = digits - 1 - ((keys[from[at]!]! >> shift) & (digits - 1));
    to[starts[digit]!++] = from[at]!;
  }
}

/** Sorts the same order by engine into `columns.spare`. Returns the index at which each engine begins, and after these the end. */
export function orderByEngine(columns: Columns, size: number, count: number): Int32Array {
  const { order, spare, engineIndices } = columns;
  const starts = new Int32Array(count + 2);
  for (let at = 0; at < size; at += 1) starts[engineIndices[order[at]!]! + 2]! += 1;
  for (let engineIndex = 2; engineIndex < starts.length; engineIndex += 1)
    starts[engineIndex]! += starts[engineIndex - 1]!;
  for (let at = 0; at < size; at += 1) spare[starts[engineIndices[order[at]!]! + 1]!++] = order[at]!;
  return starts;
}

// Requests whose lengths differ by at most an eighth form a group. A group is two bins wide.

/** The index of an engine and a group as one number: `(engineIndex << groupBits) + group`; there are fewer than 256 groups. */
export const groupBits = 8;

/** Returns the group of a request by its generated tokens. */
export function groupOf(tokens: number, maxTokens: number): number {
  return binOf(tokens < maxTokens ? tokens : maxTokens) >> 1;
}

export function groupCount(maxTokens: number): number {
  return groupOf(maxTokens, maxTokens) + 1;
}

/** Sums over requests, by engine and group. The numbers of a group are adjacent, because they are read and written together. */
export class Loads {
  readonly groups: number;
  readonly #engineCount: number;
  /** Distance from one engine to the next. */
  readonly #stride: number;
  readonly #table: Float64Array;

  constructor(engineCount: number, groups: number) {
    this.groups = groups;
    this.#engineCount = engineCount;
    // The stride is an odd number of cache lines; otherwise the same group of all engines would use one set of the cache.
    this.#stride = 8 * (((groups + 1) >> 1) | 1);
    this.#table = new Float64Array(engineCount * this.#stride);
  }

  /** Adds a request, with its generated tokens and its tokens in the KV cache (prompt and response). */
  add(engineIndex: number, group: number, tokens: number, kvTokens: number): void {
    const at = engineIndex * this.#stride + 4 * group;
    const table = this.#table;
    table[at]! += 1;
    table[at + 1]! += kvTokens;
    table[at + 2]! += kvTokens * kvTokens;
    table[at + 3]! += tokens;
  }

  /**
   * Adds a request that comes from another engine. Does not update the generated tokens, which are read only before the first move.
   */
  take(engineIndex: number, group: number, kvTokens: number): void {
    const at = engineIndex * this.#stride + 4 * group;
    const table = this.#table;
    table[at]! += 1;
    table[at + 1]! += kvTokens;
    table[at + 2]! += kvTokens * kvTokens;
  }

  copy(): Loads {
    const copy = new Loads(this.#engineCount, this.groups);
    copy.#table.set(this.#table);
    return copy;
  }

  /** Returns the number of requests in a group on an engine. */
  count(engineIndex: number, group: number): number {
    return this.#table[engineIndex * this.#stride + 4 * group]!;
  }

  /** Returns the tokens of a group in the KV cache of an engine (prompt and response). */
  kv(engineIndex: number, group: number): number {
    return this.#table[engineIndex * this.#stride + 4 * group + 1]!;
  }

  /** Returns the sum of squared KV tokens over the requests in a group on an engine. */
  kvSquared(engineIndex: number, group: number): number {
    return this.#table[engineIndex * this.#stride + 4 * group + 2]!;
  }

  /** Returns the tokens that the requests of a group on an engine have generated. */
  generated(engineIndex: number, group: number): number {
    return this.#table[engineIndex * this.#stride + 4 * group + 3]!;
  }

  /** Returns the sums over all engines, as loads with one engine. */
  together(): Loads {
    const sum = new Loads(1, this.groups);
    const table = this.#table;
    for (let from = 0; from < this.#engineCount; from += 1) {
      const offset = from * this.#stride;
      for (let at = 0; at < sum.#table.length; at += 1) sum.#table[at]! += table[offset + at]!;
    }
    return sum;
  }

  /** Returns the tokens in the KV cache of an engine now. */
  kvTokens(engineIndex: number): number {
    let sum = 0;
    for (let group = 0; group < this.groups; group += 1) sum += this.kv(engineIndex, group);
    return sum;
  }
}

/** A report that was read into columns. */
export interface Report {
  readonly requests: readonly RunningRequest[];
  readonly columns: Columns;
  readonly loads: Loads;
}
