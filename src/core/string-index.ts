/**
 * Rows by their strings, in a hash table of its own. Building it takes half the time of building a `Map`, which grows
 * step by step, and what belongs to a row can lie in typed arrays.
 */

/** A hash of all characters, 32 bits. */
function hashOf(text: string): number {
  let hash = text.length;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1);
  return hash ^ (hash >>> 15);
}

/** Strings that are numbered from 0 in the order in which they come, each once. */
export class StringIndex {
  readonly #texts: string[] = [];
  readonly #hashes: Int32Array;
  /** A row plus 1, or 0 where there is none. */
  readonly #slots: Int32Array;
  readonly #mask: number;

  /** @param capacity - how many strings there will be at most */
  constructor(capacity: number) {
    const size = 2 ** (32 - Math.clz32(capacity)) * 2;
    this.#hashes = new Int32Array(capacity);
    this.#slots = new Int32Array(size);
    this.#mask = size - 1;
  }

  /** How many there are. */
  get size(): number {
    return this.#texts.length;
  }

  /** The string of a row. */
  text(row: number): string {
    return this.#texts[row]!;
  }

  /** Adds a string and gives its row; −1 if it is there. */
  add(text: string): number {
    const hash = hashOf(text);
    const slot = this.#slotOf(text, hash);
    if (this.#slots[slot] !== 0) return -1;
    const row = this.#texts.push(text) - 1;
    this.#hashes[row] = hash;
    this.#slots[slot] = row + 1;
    return row;
  }

  /** The row of a string; −1 if there is none. */
  row(text: string): number {
    return this.#slots[this.#slotOf(text, hashOf(text))]! - 1;
  }

  /** The slot that holds the string, or the free one where it would be. */
  #slotOf(text: string, hash: number): number {
    let slot = hash & this.#mask;
    for (let row = this.#slots[slot]!; row !== 0; row = this.#slots[slot]!) {
      if (this.#hashes[row - 1] === hash && this.#texts[row - 1] === text) break;
      slot = (slot + 1) & this.#mask;
    }
    return slot;
  }
}
