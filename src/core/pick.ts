/** For the likely next events of a policy. */
import type { Choices } from './definition.ts';

/** One of the list, or `undefined` if it is empty. */
export function pick<T>(list: readonly T[], choices: Choices): T | undefined {
  return list.length === 0 ? undefined : list[choices.below(list.length)];
}
