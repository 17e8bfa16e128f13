/** Pseudo-random numbers that are the same on every run: the search must give the same plan for the same input. */

/** A xorshift generator of 32 bits. */
export class Sequence {
  #state: number;

  /** @param seed - a whole number; another seed gives other numbers */
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
// In single precision, because logarithms may differ in the last bit between machines.
const depths = Float32Array.from({ length: slots }, (_, slot) => -Math.log((slot + 0.5) / slots));

/**
 * Draws the rise in cost that a step may have at temperature 1: −log of a random number (Metropolis). The rise comes from a
 * table, because a logarithm would take longer than the rest of the step.
 */
export const climb = (random: Sequence): number => depths[random.next() & (slots - 1)]!;
