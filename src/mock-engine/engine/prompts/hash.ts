/** Hashes of sequences of numbers, and numbers derived from other numbers. They are not meant for secrets. */

function mix(hash: number, value: number): number {
  let h = Math.imul(hash ^ value, 0x9e3779b1);
  h ^= h >>> 15;
  h = Math.imul(h, 0x85ebca77);
  return h ^ (h >>> 13);
}

/** A name for a growing sequence: equal sequences have equal names, and different sequences different names. */
export class SequenceName {
  #first: number;
  #second: number;
  #length = 0;
  readonly #blockLength: number;
  #blocks: number[] = [];

  /** @param blockLength - values per block, if blocks are to have names */
  constructor(seed: number, blockLength = Number.POSITIVE_INFINITY) {
    this.#first = seed | 0;
    this.#second = ~seed;
    this.#blockLength = blockLength;
  }

  /** For each whole block: the name of the sequence up to its end, as a number. */
  get blocks(): readonly number[] {
    return this.#blocks;
  }

  copy(): SequenceName {
    const copy = new SequenceName(0, this.#blockLength);
    copy.#first = this.#first;
    copy.#second = this.#second;
    copy.#length = this.#length;
    copy.#blocks = [...this.#blocks];
    return copy;
  }

  push(value: number): this {
    this.#first = mix(this.#first, value);
    this.#second = mix(this.#second, value + 0x5bd1e995);
    this.#length += 1;
    if (this.#length === (this.#blocks.length + 1) * this.#blockLength) this.#endBlock();
    return this;
  }

  pushText(text: string): this {
    let [first, second] = [this.#first, this.#second];
    for (let at = 0; at < text.length; ) {
      const end = Math.min(text.length, at + (this.#blocks.length + 1) * this.#blockLength - this.#length);
      this.#length += end - at;
      for (; at < end; at += 1) {
        const value = text.charCodeAt(at);
        first = mix(first, value);
        second = mix(second, value + 0x5bd1e995);
      }
      this.#first = first;
      this.#second = second;
      if (this.#length === (this.#blocks.length + 1) * this.#blockLength) this.#endBlock();
    }
    return this;
  }

  #endBlock(): void {
    this.#blocks.push((this.#first >>> 0) * 2 ** 21 + (this.#second >>> 11));
  }

  /** The name as a number from 0 to 2³² − 1. */
  get number(): number {
    return this.#first >>> 0;
  }

  /** Returns the number of the sequence extended by one value. */
  numberWith(value: number): number {
    return mix(this.#first, value) >>> 0;
  }

  toString(): string {
    return `${this.#length}:${this.#first >>> 0}:${this.#second >>> 0}`;
  }
}

/** Returns a number from 0 to n − 1, fixed by the seed and the position. */
export function numberAt(seed: number, position: number, n: number): number {
  return (mix(mix(seed, position), 0x27d4eb2f) >>> 0) % n;
}
