/**
 * Shows what staleness-pacing can reach at most, against which the policy is held: prompts come in the order of an oracle that knows
 * their lengths. In each window of batches, those with the longest responses come first, so that the trainer waits for several
 * of them at once. All else is the policy's, so that no group is too old, and none is discarded.
 */
import type { Workload } from '../../../src/sim/workload/workload.ts';

/** Batches of a window, as in the oracle of the simulator. */
const windowBatches = 8;
/** Shares of a window that come first, longest first, while the others keep their order: the best counts. */
export const longShares = [0, 0.125, 0.25, 0.5];

/**
 * Returns the same prompts in that order.
 *
 * @param workload - with predictions, which may be true ones
 * @param batches - the prompts of so many batches are ordered
 */
export function longestFirst(
  workload: Workload,
  { groupsPerBatch, share, batches }: { groupsPerBatch: number; share: number; batches: number },
): Workload {
  const size = windowBatches * groupsPerBatch;
  const order = Array.from({ length: Math.ceil(batches / windowBatches) }, (_, window) => {
    const indices = Array.from({ length: size }, (_one, index) => window * size + index);
    const expected = indices.map((index) => ({ index, tokens: workload.prompt(index).expectedTokens! }));
    const sorted = expected.sort((a, b) => b.tokens - a.tokens);
    const long = new Set(sorted.slice(0, Math.round(share * size)).map(({ index }) => index));
    return [...long, ...indices.filter((index) => !long.has(index))];
  }).flat();
  return { ...workload, prompt: (index) => workload.prompt(order[index] ?? index) };
}
