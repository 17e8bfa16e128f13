/**
 * Algorithms 2 and 3 of FlexRL, Appendix A, as printed, and repaired where they cannot run or break what the text
 * defines. The repairs are listed in the README of the planner; each has its comment here or in the sub-procedure.
 *
 * Lengths squared are `costs.compute`, SplitCost is `costs.communication`, the memory limit is that of the input.
 */

import type { Instance } from '../../instance.ts';
import { descending } from '../../instance.ts';
import type { Placed } from '../../strategy.ts';
import { baselineSplitPlace } from './baseline.ts';
import { mergeAt } from './merge.ts';
import { shortItemReorder } from './reorder.ts';
import { newState } from './state.ts';

/** Places a batch as the paper does. Takes O(sequences · devices). */
export function placeByPaper(instance: Instance): Placed {
  const state = newState(instance);
  baselineSplitPlace(state);
  const ascending = descending(instance.lengths).reverse();
  // The printed p_max is the power of two above the number of devices: it is the largest admissible degree here.
  for (let level = instance.levels - 1; level >= 1; level -= 1) mergeAt(state, level, ascending);
  shortItemReorder(state);
  // 𝒫, which is never assigned, is the degree of each item in the end.
  return { placement: state.placement };
}
