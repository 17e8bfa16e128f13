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
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined as T;
    this.#head += 1;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** The items from first to last; the queue stays as it is. */
  [Symbol.iterator](): Iterator<T> {
    return this.#items.slice(this.#head)[Symbol.iterator]();
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }
}
