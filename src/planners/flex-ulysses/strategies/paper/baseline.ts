/** BASELINESPLITPLACE (FlexRL, Algorithm 3, lines 1 to 15). */
import { descending } from '../../instance.ts';
import { bestGroup, type PaperState, put } from './state.ts';

/**
 * Implements GETSPSIZE, which is not defined: the smallest degree at which the item alone gives no device more than the
 * mean compute. Memory has its own loop (lines 6 and 7).
 */
function splitLevel({ instance }: PaperState, item: number, meanWork: number): number {
  let level = 0;
  while (level < instance.levels - 1 && instance.work[item]! / 2 ** level > meanWork) level += 1;
  return level;
}

/** Places the longest first, each on the group of its degree with most memory left; at a higher degree if it does not fit. */
export function baselineSplitPlace(state: PaperState): void {
  const { instance, memory } = state;
  const { lengths, work, devices, levels, memoryCap } = instance;
  const meanWork = work.reduce((sum, one) => sum + one, 0) / devices;
  for (const item of descending(lengths)) {
    let level = splitLevel(state, item, meanWork);
    let group = -1;
    // The printed loop runs on to 2 · p_max: it ends at p_max here.
    const last = lengths[item] === 0 ? 0 : levels - 1;
    for (; level <= last; level += 1) {
      group = bestGroup(state, level, lengths[item]! / 2 ** level, memoryCap, memory);
      if (group >= 0) break;
    }
    // The printed arg max is over nothing where no group has room: over all groups then, which breaks the memory rule.
    if (group < 0) {
      level = last;
      group = bestGroup(state, level, 0, Number.POSITIVE_INFINITY, memory);
    }
    put(state, item, level, group);
  }
}
