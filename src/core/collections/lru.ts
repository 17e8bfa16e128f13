/**
 * A bounded map that evicts the least recently used entry. Every operation is O(1).
 *
 * A linked list keeps the order. The order of a `Map` would do, but taking its first key repeatedly walks over the holes that
 * deleted keys leave.
 */
interface Node<K, V> {
  readonly key: K;
  value: V;
  older: Node<K, V> | undefined;
  newer: Node<K, V> | undefined;
}

/** A map of at most `capacity` entries. */
export class LruMap<K, V> {
  #capacity: number;
  readonly #nodes = new Map<K, Node<K, V>>();
  #oldest: Node<K, V> | undefined;
  #newest: Node<K, V> | undefined;

  /** @param capacity - the most entries that the map holds, a whole number >= 1 */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get capacity(): number {
    return this.#capacity;
  }

  get size(): number {
    return this.#nodes.size;
  }

  has(key: K): boolean {
    return this.#nodes.has(key);
  }

  /** Returns the value, and marks the entry as used. */
  get(key: K): V | undefined {
    const node = this.#nodes.get(key);
    if (node === undefined) return undefined;
    if (node !== this.#newest) {
      this.#unlink(node);
      this.#append(node);
    }
    return node.value;
  }

  /** Returns the value without marking the entry as used. */
  peek(key: K): V | undefined {
    return this.#nodes.get(key)?.value;
  }

  /** Sets a value, and marks the entry as used. Returns the key that was evicted to make room, if any. */
  set(key: K, value: V): K | undefined {
    const known = this.#nodes.get(key);
    if (known !== undefined) {
      known.value = value;
      this.#unlink(known);
      this.#append(known);
      return undefined;
    }
    const node: Node<K, V> = { key, value, older: undefined, newer: undefined };
    this.#nodes.set(key, node);
    this.#append(node);
    return this.#nodes.size > this.#capacity ? this.#deleteOldest() : undefined;
  }

  /** Sets the capacity, and evicts the entries beyond it, the least recently used first. */
  limit(capacity: number): void {
    this.#capacity = capacity;
    while (this.#nodes.size > capacity) this.#deleteOldest();
  }

  delete(key: K): boolean {
    const node = this.#nodes.get(key);
    if (node === undefined) return false;
    this.#unlink(node);
    return this.#nodes.delete(key);
  }

  /** Iterates from the least to the most recently used entry; a map filled in this order equals this one. */
  *[Symbol.iterator](): Iterator<[K, V]> {
    for (let node = this.#oldest; node !== undefined; node = node.newer) yield [node.key, node.value];
  }

  #deleteOldest(): K {
    const { key } = this.#oldest!;
    this.delete(key);
    return key;
  }

  #unlink(node: Node<K, V>): void {
    if (node.older === undefined) this.#oldest = node.newer;
    else node.older.newer = node.newer;
    if (node.newer === undefined) this.#newest = node.older;
    else node.newer.older = node.older;
  }

  #append(node: Node<K, V>): void {
    node.older = this.#newest;
    node.newer = undefined;
    if (this.#newest === undefined) this.#oldest = node;
    else this.#newest.newer = node;
    this.#newest = node;
  }
}
