/** Numbers for tests that look random and never change. */

import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Numbers from 0 to 1, the same for the same seed, however small that is. */
export function seeded(seed: number): () => number {
  const source = xoroshiro128plus(seed);
  return () => uniformFloat64(source);
}

/**
 * Numbers from 0 to 1 as the fixtures were drawn with (xorshift32): the first ones of a small seed are small.
 * {@link seeded} is for new tests.
 */
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

/** The sum; 0 of none. */
export const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((all, one) => all + one, 0);

/** The mean of one or more. */
export const mean = (values: readonly number[]): number => sum(values) / values.length;

/** Whether two sums of the same numbers, added up in different orders, can be equal. */
export const close = (one: number, other: number): boolean =>
  Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(one), Math.abs(other));
