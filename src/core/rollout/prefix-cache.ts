/**
 * The believed content of an engine's prefix cache: tokens of programs and of prompts, least recently used first. Engines evict
 * in this order, so if an entry is known to be gone, all entries used before it are gone, too.
 */
import { z } from 'zod';
import { count, tokenSum } from '../../schemas/units.ts';
import type { Linked } from '../collections/linked-list.ts';
import { LinkedList } from '../collections/linked-list.ts';
import { byHand } from '../machine/state.ts';

/** Most entries of a cache: the model must not grow with very short contexts. */
const mostEntries = 1024;

interface Entry extends Linked<Entry> {
  readonly key: string;
  tokens: number;
  /** Number in the order of use. */
  used: number;
}

const saved = z.array(z.tuple([z.string(), tokenSum, count])).describe('Key, tokens, number in the order of use.');

/** A model of the prefix cache of an engine. All operations are O(1 + evicted entries). */
export class PrefixCache {
  readonly #entries = new Map<string, Entry>();
  readonly #order = new LinkedList<Entry>();
  #tokens = 0;

  constructor(all: z.output<typeof saved> = []) {
    for (const [key, size, used] of all) this.put(key, size, used);
  }

  /** Sum of the tokens of all entries. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Returns the cached tokens of a key; 0 if there are none. */
  of(key: string): number {
    return this.#entries.get(key)?.tokens ?? 0;
  }

  /** Puts an entry in as the most recently used one, and replaces an entry with the same key. */
  put(key: string, size: number, used: number): void {
    this.take(key);
    if (size <= 0) return;
    const entry: Entry = { key, tokens: size, used, previous: null, next: null };
    this.#entries.set(key, entry);
    this.#order.push(entry);
    this.#tokens += size;
    if (this.#entries.size > mostEntries) this.#remove(this.#order.peek()!);
  }

  /** Takes an entry out, and returns its number in the order of use; -1 without such an entry. */
  take(key: string): number {
    const entry = this.#entries.get(key);
    if (entry === undefined) return -1;
    this.#remove(entry);
    return entry.used;
  }

  /** Evicts entries, the least recently used first, until the rest fits. */
  shrink(mostTokens: number): void {
    while (this.#tokens > mostTokens && this.#order.size > 0) this.#remove(this.#order.peek()!);
  }

  /** Evicts all entries that were used up to a number in the order of use. */
  forgetUntil(used: number): void {
    for (let oldest = this.#order.peek(); oldest !== undefined; oldest = this.#order.peek()) {
      if (oldest.used > used) return;
      this.#remove(oldest);
    }
  }

  save(): z.output<typeof saved> {
    const all: z.output<typeof saved> = [];
    for (let one = this.#order.peek() ?? null; one !== null; one = one.next) all.push([one.key, one.tokens, one.used]);
    return all;
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.key);
    this.#order.remove(entry);
    this.#tokens -= entry.tokens;
  }
}

/** Schema of {@link PrefixCache} in a state. */
export const prefixCache = byHand(saved, {
  decode: (all) => new PrefixCache(all),
  encode: (cache) => cache.save(),
});
