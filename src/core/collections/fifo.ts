import type { z } from 'zod';
import { listOf } from '../machine/state.ts';

/** A first-in, first-out queue: push and shift in O(1), amortised. */
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const items = this.#items;
    const head = this.#head;
    if (head === items.length) return undefined;
    const item = items[head];
    items[head] = undefined as T;
    this.#head = head + 1;
    if (head >= 1024 && (head + 1) * 2 > items.length) {
      this.#items = items.slice(head + 1);
      this.#head = 0;
    }
    return item;
  }

  /** Iterates from first to last, without removing items. */
  [Symbol.iterator](): Iterator<T> {
    return this.#items.slice(this.#head)[Symbol.iterator]();
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }
}

/** Schema of a {@link Fifo} in a state. */
export const fifoOf = <S extends z.ZodType>(item: S) =>
  listOf(item, (items) => {
    const fifo = new Fifo<z.output<S>>();
    for (const one of items) fifo.push(one);
    return fifo;
  });
