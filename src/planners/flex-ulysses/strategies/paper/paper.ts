/**
 * Algorithms 2 and 3 of FlexRL, Appendix A, as printed, with repairs where an algorithm cannot run or contradicts the text. The
 * README of the planner lists the repairs; a comment marks each repair here or in the sub-procedure.
 *
 * Lengths squared are `costs.compute`, SplitCost is `costs.communication`, and the memory limit comes from the input.
 */

import type { Instance } from '../../instance.ts';
import { descending } from '../../instance.ts';
import type { Placed } from '../../strategy.ts';
import { baselineSplitPlace } from './baseline.ts';
import { mergeAt } from './merge.ts';
import { shortItemReorder } from './reorder.ts';
import { newState } from './state.ts';

/** Places a batch as the paper does, in O(sequences · devices) time. */
export function placeByPaper(instance: Instance): Placed {
  const state = newState(instance);
  baselineSplitPlace(state);
  const ascending = descending(instance.lengths).reverse();
  // The printed p_max is the power of two above the number of devices; here it is the largest admissible degree.
  for (let level = instance.levels - 1; level >= 1; level -= 1) mergeAt(state, level, ascending);
  shortItemReorder(state);
  // The paper never assigns 𝒫; here it is the final degree of each item.
  return { placement: state.placement };
}
