/** BASELINESPLITPLACE (FlexRL, Algorithm 3, lines 1 to 15). */
import { descending } from '../../instance.ts';
import { bestGroup, type PaperState, put } from './state.ts';

/**
 * Implements GETSPSIZE, which the paper does not define: it returns the level of the smallest degree at which the item alone gives
 * no device more than the mean compute. Memory has its own loop (lines 6 and 7).
 */
function splitLevel({ instance }: PaperState, item: number, meanWork: number): number {
  let level = 0;
  while (level < instance.levels - 1 && instance.work[item]! / 2 ** level > meanWork) level += 1;
  return level;
}

/**
 * Places items, longest first, each on the group of its degree with most memory left; an item that does not fit gets a higher
 * degree.
 */
export function baselineSplitPlace(state: PaperState): void {
  const { instance, memory } = state;
  const { lengths, work, devices, levels, memoryCap } = instance;
  const meanWork = work.reduce((sum, one) => sum + one, 0) / devices;
  for (const item of descending(lengths)) {
    let level = splitLevel(state, item, meanWork);
    let group = -1;
    // The printed loop continues to 2 · p_max; here it ends at p_max.
    const last = lengths[item] === 0 ? 0 : levels - 1;
    for (; level <= last; level += 1) {
      group = bestGroup(state, level, lengths[item]! / 2 ** level, memoryCap, memory);
      if (group >= 0) break;
    }
    // If no group has room, the printed arg max is over an empty set. Here it is then over all groups, which breaks the memory
    // rule.
    if (group < 0) {
      level = last;
      group = bestGroup(state, level, 0, Number.POSITIVE_INFINITY, memory);
    }
    put(state, item, level, group);
  }
}
