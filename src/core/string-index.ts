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

/** Strings that are numbered from 0 in the order in which they are given. */
export class StringIndex {
  readonly #texts: readonly string[];
  readonly #hashes: Int32Array;
  /** A row plus 1, or 0 where there is none. */
  readonly #slots: Int32Array;
  readonly #mask: number;
  /** How many differ: those that are given again are left out. */
  readonly size: number;

  /** @param texts - the strings, by row; kept, not copied */
  constructor(texts: readonly string[]) {
    const mask = 2 ** (33 - Math.clz32(texts.length)) - 1;
    const hashes = new Int32Array(texts.length);
    const slots = new Int32Array(mask + 1);
    this.#texts = texts;
    this.#hashes = hashes;
    this.#slots = slots;
    this.#mask = mask;
    let size = 0;
    for (let row = 0; row < texts.length; row += 1) {
      const text = texts[row]!;
      const hash = hashOf(text);
      hashes[row] = hash;
      let slot = hash & mask;
      let known = slots[slot]!;
      while (known !== 0 && (hashes[known - 1] !== hash || texts[known - 1] !== text)) {
        slot = (slot + 1) & mask;
        known = slots[slot]!;
      }
      if (known !== 0) continue;
      slots[slot] = row + 1;
      size += 1;
    }
    this.size = size;
  }

  /** The row of a string, the first one if it was given again; −1 if there is none. */
  row(text: string): number {
    const hash = hashOf(text);
    let slot = hash & this.#mask;
    for (let known = this.#slots[slot]!; known !== 0; known = this.#slots[slot]!) {
      if (this.#hashes[known - 1] === hash && this.#texts[known - 1] === text) return known - 1;
      slot = (slot + 1) & this.#mask;
    }
    return -1;
  }
}
