/** Remembers the last ids of an endless sequence, to tell late or repeated ids from wrong ones. */

import type { z } from 'zod';
import { listOf } from './state.ts';

/** Number of ids that are remembered. */
export const mostRecent = 64;

/** The last {@link mostRecent} different ids, oldest first. Every operation is O(1). */
export class RecentIds implements Iterable<string> {
  readonly #ids = new Set<string>();
  #newest: string | undefined;

  /** @param ids - saved ids, oldest first */
  constructor(ids: Iterable<string> = []) {
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

  /** Remembers an id, and forgets the oldest one if there are more than {@link mostRecent}. */
  add(id: string): void {
    this.#ids.add(id);
    this.#newest = id;
    if (this.#ids.size > mostRecent) this.#ids.delete(this.#ids.values().next().value!);
  }

  [Symbol.iterator](): IterableIterator<string> {
    return this.#ids.values();
  }
}

/** Schema of {@link RecentIds} in a state. */
export const recentIds = (id: z.ZodType<string, string>) => listOf(id, (ids) => new RecentIds(ids));
