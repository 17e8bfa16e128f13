/** Results by hand need what was kept, too. */
import type { KeptCounts } from '../../../src/sim/comparison/result.ts';

/** Everything is kept, in two groups of which one is even. */
export const allKept: KeptCounts = {
  longFixed: 2,
  longKept: 2,
  longTrained: 2,
  redrawnResponses: 0,
  redrawnTokens: 0,
  redrawnFixedTokens: 0,
  rewardedGroups: 2,
  evenGroups: 1,
};
