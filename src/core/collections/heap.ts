/**
 * Binary heaps with a total order.
 *
 * A comparator must never return 0 for two different items. So its last key is a sequence number or an id, and the order never
 * depends on the history of the heap.
 */

/** Negative if `a` comes before `b`, positive if after. */
export type Compare<T> = (a: T, b: T) => number;

/** A binary heap; the least item by the comparator is on top. Push and pop take O(log n). */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #compare: Compare<T>;

  /**
   * Makes an empty heap.
   *
   * @param compare - the order, in which no two items are equal
   */
  constructor(compare: Compare<T>) {
    this.#compare = compare;
  }

  /** Number of items. */
  get size(): number {
    return this.#items.length;
  }

  /** Returns the least item, or `undefined` if the heap is empty. */
  peek(): T | undefined {
    return this.#items[0];
  }

  /** Adds an item. */
  push(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#compare(item, items[parent]!) >= 0) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  /** Removes and returns the least item; `undefined` if the heap is empty. */
  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let at = 0;
    const half = items.length >> 1;
    while (at < half) {
      let child = 2 * at + 1;
      if (child + 1 < items.length && this.#compare(items[child + 1]!, items[child]!) < 0) child += 1;
      if (this.#compare(last, items[child]!) <= 0) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = last;
    return top;
  }
}

/** A heap whose items can be removed and re-ordered in O(log n): each item stores its own place in `heapIndex`. */
export class IndexedHeap<T extends { heapIndex: number }> {
  readonly #items: T[] = [];
  readonly #compare: Compare<T>;

  constructor(compare: Compare<T>) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  /** Inserts the item, or, if the heap has it already, moves it to its new place. An item outside has `heapIndex` -1. */
  update(item: T): void {
    if (item.heapIndex < 0) item.heapIndex = this.#items.push(item) - 1;
    this.#down(this.#up(item.heapIndex));
  }

  /** Removes the item, if it is in the heap. */
  remove(item: T): void {
    const at = item.heapIndex;
    if (at < 0) return;
    item.heapIndex = -1;
    const last = this.#items.pop()!;
    if (last === item) return;
    this.#items[at] = last;
    last.heapIndex = at;
    this.#down(this.#up(at));
  }

  #up(from: number): number {
    const items = this.#items;
    const item = items[from]!;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#compare(item, items[parent]!) >= 0) break;
      this.#place(items[parent]!, at);
      at = parent;
    }
    this.#place(item, at);
    return at;
  }

  #down(from: number): void {
    const items = this.#items;
    const item = items[from]!;
    let at = from;
    while (2 * at + 1 < items.length) {
      let child = 2 * at + 1;
      if (child + 1 < items.length && this.#compare(items[child + 1]!, items[child]!) < 0) child += 1;
      if (this.#compare(item, items[child]!) <= 0) break;
      this.#place(items[child]!, at);
      at = child;
    }
    this.#place(item, at);
  }

  #place(item: T, at: number): void {
    this.#items[at] = item;
    item.heapIndex = at;
  }
}
