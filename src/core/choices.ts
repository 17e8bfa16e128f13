/** A source of random choices, for generators of likely events. */
export interface Choices {
  /** A whole number from 0 to `n` − 1. */
  below(n: number): number;
}

/** One of the list, or `undefined` if it is empty. */
export function pick<T>(list: readonly T[], choices: Choices): T | undefined {
  return list.length === 0 ? undefined : list[choices.below(list.length)];
}
