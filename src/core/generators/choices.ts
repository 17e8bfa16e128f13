/** A source of random choices, for generators of likely events. */
export interface Choices {
  /** Chooses a whole number from 0 to `n` − 1. */
  below(n: number): number;
}

/** Chooses an item of the list; `undefined` if it is empty. */
export function pick<T>(list: readonly T[], choices: Choices): T | undefined {
  return list.length === 0 ? undefined : list[choices.below(list.length)];
}
