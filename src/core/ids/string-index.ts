/**
 * An index of strings in a hash table. Building it takes a fifth of the time of a `Map`: it reads only characters in which the
 * strings differ, no array grows step by step, and the data of a row can be in typed arrays.
 */

// Strings sampled to find where they differ.
const samples = 64;
// So many rows in one slot are not chance: then the hash uses all characters.
const deepest = 24;

const mixed = (hash: number): number => {
  const half = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return half ^ (half >>> 13);
};

/**
 * A hash of strings that differ in a few characters, such as the end of a prompt's id. The hash reads the six places, counted
 * from the end, in which sampled strings differ most.
 */
export class StringHash {
  /** Least length of a string that has all six places. */
  readonly #least: number;
  // Six fields are faster than a list, and they are read for each of a hundred thousand strings.
  readonly #a: number;
  readonly #b: number;
  readonly #c: number;
  readonly #d: number;
  readonly #e: number;
  readonly #f: number;

  /** @param textAt - the string of a row, 0 to `count` − 1 */
  constructor(count: number, textAt: (row: number) => string) {
    // The sampled rows are spread over all rows at unequal distances: at equal distances, all samples could be alike, for
    // example if every eighth string is.
    const texts = Array.from({ length: Math.min(samples, count) }, (_, at) =>
      textAt(count <= samples ? at : (Math.imul(at, 0x9e3779b1) >>> 0) % count),
    );
    const longest = texts.reduce((most, text) => Math.max(most, text.length), 0);
    const kinds: [offset: number, kinds: number][] = [];
    for (let offset = 1; offset <= longest; offset += 1) {
      kinds.push([offset, new Set(texts.map((text) => text.charCodeAt(text.length - offset))).size]);
    }
    kinds.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const offsets = kinds.slice(0, 6).map(([offset]) => offset);
    const [a = 1, b = 1, c = 1, d = 1, e = 1, f = 1] = offsets;
    [this.#a, this.#b, this.#c, this.#d, this.#e, this.#f] = [a, b, c, d, e, f];
    this.#least = Math.max(1, ...offsets);
  }

  /** Returns the hash of a text, 32 bits. */
  of(text: string): number {
    const end = text.length;
    if (end < this.#least) return hashOf(text);
    return mixed(
      end ^
        Math.imul(text.charCodeAt(end - this.#a), 0x9e3779b1) ^
        Math.imul(text.charCodeAt(end - this.#b), 0x85ebca6b) ^
        Math.imul(text.charCodeAt(end - this.#c), 0xc2b2ae35) ^
        Math.imul(text.charCodeAt(end - this.#d), 0x27d4eb2f) ^
        Math.imul(text.charCodeAt(end - this.#e), 0x165667b1) ^
        Math.imul(text.charCodeAt(end - this.#f), 0xd3a2646d),
    );
  }
}

/** Returns a hash of all characters, 32 bits. */
export function hashOf(text: string): number {
  let hash = text.length;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1);
  return hash ^ (hash >>> 15);
}

/** Arrays of an index, reused by the next index, since making the arrays costs as much as filling them. */
export class IndexRoom {
  heads = new Int32Array(0);
  next = new Int32Array(0);
  depth = new Uint8Array(0);

  /** Makes room for this number of rows. */
  reserve(count: number): this {
    const slots = 2 ** (32 - Math.clz32(count | 1));
    if (this.heads.length !== slots) {
      this.heads = new Int32Array(slots);
      this.depth = new Uint8Array(slots);
    }
    if (this.next.length < count) this.next = new Int32Array(count);
    return this;
  }
}

/** An index of strings, numbered from 0 in the given order. */
export class StringIndex {
  readonly #texts: readonly string[];
  #hash: (text: string) => number;
  /** For each slot: its first row plus 1, or 0 in an empty slot. */
  readonly #heads: Int32Array;
  /** For each row: the next row in its slot plus 1, or 0 at the end. */
  readonly #next: Int32Array;

  /**
   * @param texts - the strings, by row; kept, not copied
   * @param count - number of strings
   * @param hash - the hash function that made `hashes`
   * @param hashes - hash of each string; overwritten
   * @param room - memory of the index; no other index may use it at the same time
   */
  constructor(
    texts: readonly string[],
    count: number,
    hash: StringHash,
    hashes: Int32Array,
    room: IndexRoom = new IndexRoom(),
  ) {
    const { heads, next, depth } = room.reserve(count);
    this.#texts = texts;
    this.#hash = (text) => hash.of(text);
    this.#heads = heads;
    this.#next = next;
    if (this.#link(hashes, count, depth) <= deepest) return;
    for (let row = 0; row < count; row += 1) hashes[row] = hashOf(texts[row]!);
    this.#hash = hashOf;
    this.#link(hashes, count, depth);
  }

  /** Makes the index of strings. */
  static of(texts: readonly string[]): StringIndex {
    const hash = new StringHash(texts.length, (row) => texts[row]!);
    return new StringIndex(
      texts,
      texts.length,
      hash,
      Int32Array.from(texts, (text) => hash.of(text)),
    );
  }

  /** Puts every row into its slot, and returns the number of rows in the fullest slot. */
  #link(hashes: Int32Array, count: number, depth: Uint8Array): number {
    const heads = this.#heads.fill(0);
    const next = this.#next;
    const mask = heads.length - 1;
    depth.fill(0);
    let most = 0;
    // The rows are linked in reverse, so that the search finds the first row of a repeated string.
    for (let row = count - 1; row >= 0; row -= 1) {
      const slot = hashes[row]! & mask;
      next[row] = heads[slot]!;
      heads[slot] = row + 1;
      const there = Math.min(255, depth[slot]! + 1);
      depth[slot] = there;
      if (there > most) most = there;
    }
    return most;
  }

  /** Returns the first row of a string; −1 if there is none. */
  row(text: string): number {
    const slot = this.#hash(text) & (this.#heads.length - 1);
    for (let known = this.#heads[slot]!; known !== 0; known = this.#next[known - 1]!) {
      if (this.#texts[known - 1] === text) return known - 1;
    }
    return -1;
  }
}
