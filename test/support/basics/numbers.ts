/** Numbers for tests that look random and never change. */

/** Numbers from 0 to 1, the same for the same seed (xorshift32). */
export function generator(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** 0, 1, … */
export const range = (count: number): number[] => Array.from({ length: count }, (_, one) => one);
