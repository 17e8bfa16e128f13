/** What is in flight on each engine, grouped by the length reached: enough for the projection. */
import { binOf } from '../../core/survival.ts';
import type { RunningRequest } from '../../schemas/gpus.ts';
import type { Columns } from './columns.ts';

// Requests are put together where their lengths differ by an eighth at most: two bins are a group.

/** A place and a group as one number: `(place << groupBits) + group`; there are no 256 groups. */
export const groupBits = 8;

/** The group of a request that has generated so many tokens. */
export function groupOf(tokens: number, maxTokens: number): number {
  return binOf(tokens < maxTokens ? tokens : maxTokens) >> 1;
}

/** How many groups there are. */
export function groupCount(maxTokens: number): number {
  return groupOf(maxTokens, maxTokens) + 1;
}

/** Requests by place and group. The numbers of a group lie side by side: they are read and written together. */
export class Loads {
  readonly groups: number;
  readonly #places: number;
  /** Numbers from one place to the next. */
  readonly #stride: number;
  readonly #table: Float64Array;

  constructor(places: number, groups: number) {
    this.groups = groups;
    this.#places = places;
    // An odd number of cache lines: else the same group of all places would fall into one set of the cache.
    this.#stride = 8 * (((groups + 1) >> 1) | 1);
    this.#table = new Float64Array(places * this.#stride);
  }

  /** Adds a request that has generated so many tokens and holds so many, prompt and response, in the KV cache. */
  add(place: number, group: number, tokens: number, kvTokens: number): void {
    const at = place * this.#stride + 4 * group;
    const table = this.#table;
    table[at]! += 1;
    table[at + 1]! += kvTokens;
    table[at + 2]! += kvTokens * kvTokens;
    table[at + 3]! += tokens;
  }

  /** Adds one that comes from another place; what it has generated is read before any does. */
  take(place: number, group: number, kvTokens: number): void {
    const at = place * this.#stride + 4 * group;
    const table = this.#table;
    table[at]! += 1;
    table[at + 1]! += kvTokens;
    table[at + 2]! += kvTokens * kvTokens;
  }

  /** The same again, to be changed by itself. */
  copy(): Loads {
    const copy = new Loads(this.#places, this.groups);
    copy.#table.set(this.#table);
    return copy;
  }

  /** How many requests. */
  count(place: number, group: number): number {
    return this.#table[place * this.#stride + 4 * group]!;
  }

  /** Sum of their tokens in the KV cache, prompt and response. */
  kv(place: number, group: number): number {
    return this.#table[place * this.#stride + 4 * group + 1]!;
  }

  /** Sum of the squares of these. */
  kvSquared(place: number, group: number): number {
    return this.#table[place * this.#stride + 4 * group + 2]!;
  }

  /** Sum of the tokens that they have generated. */
  generated(place: number, group: number): number {
    return this.#table[place * this.#stride + 4 * group + 3]!;
  }

  /** All places together, as one. */
  together(): Loads {
    const sum = new Loads(1, this.groups);
    const table = this.#table;
    for (let from = 0; from < this.#places; from += 1) {
      const offset = from * this.#stride;
      for (let at = 0; at < sum.#table.length; at += 1) sum.#table[at]! += table[offset + at]!;
    }
    return sum;
  }

  /** Tokens in the KV cache of a place now. */
  kvTokens(place: number): number {
    let sum = 0;
    for (let group = 0; group < this.groups; group += 1) sum += this.kv(place, group);
    return sum;
  }
}

/** A report as it was read. */
export interface Report {
  readonly requests: readonly RunningRequest[];
  /** The first request whose engine is not known, or −1. */
  readonly unknown: number;
  readonly columns: Columns;
  readonly loads: Loads;
}
