/** Turns counts of kept responses into shares, and decides which responses are long. */
import type { FixedPrompt } from '../bounds/lower-bound.ts';
import type { Workload } from '../workload/workload.ts';
import { ratioOf } from './metrics.ts';
import type { KeptCounts, SchedulerResult } from './result.ts';

/** Share of the responses that count as the longest. */
const longestShare = 0.01;

/** Returns the prompts with the R0 responses that a baseline trains on. */
export function fixedPrompts(workload: Workload, count: number, responses: number): FixedPrompt[] {
  return Array.from({ length: count }, (_, index) => {
    const prompt = workload.prompt(index);
    const responseTokens = Array.from({ length: responses }, (_unused, k) => prompt.sample(k).tokens);
    return { promptTokens: prompt.promptTokens, responseTokens };
  });
}

/** Returns the length of the shortest response among the longest 1 % (at least one response). */
export function longestOf(fixed: readonly FixedPrompt[]): number {
  const ascending = Float64Array.from(fixed.flatMap(({ responseTokens }) => responseTokens)).sort();
  return ascending[ascending.length - Math.ceil(longestShare * ascending.length)]!;
}

/** Returns the shares of kept responses over all runs. */
export function keptShares(
  kept: readonly KeptCounts[],
): Pick<SchedulerResult, 'longestKeptShare' | 'longestTrainedRatio' | 'evenGroupShare'> {
  return {
    longestKeptShare: ratioOf(kept, 'longKept', 'longFixed'),
    longestTrainedRatio: ratioOf(kept, 'longTrained', 'longFixed'),
    evenGroupShare: ratioOf(kept, 'evenGroups', 'rewardedGroups'),
  };
}
