/** Remembers the last ids of an endless sequence, to tell late or repeated ids from wrong ones. */

import type { z } from 'zod';
import { listOf } from '../machine/state.ts';

/** Number of remembered ids, unless the caller gives another. */
export const mostRecent = 64;

/** The last different ids, oldest first. Every operation is O(1). */
export class RecentIds implements Iterable<string> {
  readonly #ids = new Set<string>();
  readonly #most: number;
  #newest: string | undefined;

  /**
   * @param ids - saved ids, oldest first
   * @param most - number of ids that are remembered, a few thousand at most
   */
  constructor(ids: Iterable<string> = [], most = mostRecent) {
    this.#most = most;
    for (const id of ids) this.add(id);
  }

  get size(): number {
    return this.#ids.size;
  }

  /** The id that was added last. */
  get newest(): string | undefined {
    return this.#newest;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Remembers an id, and forgets the oldest id beyond the capacity. */
  add(id: string): void {
    this.#ids.add(id);
    this.#newest = id;
    if (this.#ids.size > this.#most) this.#ids.delete(this.#ids.values().next().value!);
  }

  [Symbol.iterator](): IterableIterator<string> {
    return this.#ids.values();
  }
}

/** Schema of {@link RecentIds} in a state. */
export const recentIds = (id: z.ZodType<string, string>, most?: number) =>
  listOf(id, (ids) => new RecentIds(ids, most));
