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

  constructor(seed: number) {
    this.#first = seed | 0;
    this.#second = ~seed;
  }

  push(value: number): this {
    this.#first = mix(this.#first, value);
    this.#second = mix(this.#second, value + 0x5bd1e995);
    this.#length += 1;
    return this;
  }

  pushText(text: string): this {
    for (let at = 0; at < text.length; at += 1) this.push(text.charCodeAt(at));
    return this;
  }

  /** The name as a number from 0 to 2³² − 1. */
  get number(): number {
    return this.#first >>> 0;
  }

  toString(): string {
    return `${this.#length}:${this.#first >>> 0}:${this.#second >>> 0}`;
  }
}

/** Returns a number from 0 to n − 1, fixed by the seed and the place. */
export function numberAt(seed: number, place: number, n: number): number {
  return (mix(mix(seed, place), 0x27d4eb2f) >>> 0) % n;
}
