/** Numbers that look random and are the same on every run: the search must give the same plan for the same input. */

/** A xorshift generator of 32 bits. */
export class Sequence {
  #state: number;

  /** @param seed - a whole number; another one gives other numbers */
  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) | 1;
  }

  /** Returns the next whole number, 0 to 2 ** 32 − 1. */
  next(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state;
    return state >>> 0;
  }

  /** Returns a whole number from 0 to n − 1. */
  below(n: number): number {
    return Math.floor((this.next() * n) / 4294967296);
  }
}

const slots = 8192;
// Single precision: a logarithm that differs in its last bit, as it does between machines, changes nothing.
const depths = Float32Array.from({ length: slots }, (_, slot) => -Math.log((slot + 0.5) / slots));

/**
 * Draws the rise in cost that a step may have at temperature 1: −log of a random number (Metropolis), from a table, as
 * a logarithm for each step would take longer than the step.
 */
export const climb = (random: Sequence): number => depths[random.next() & (slots - 1)]!;
