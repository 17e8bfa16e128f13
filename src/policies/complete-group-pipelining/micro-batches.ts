/** The feasible batch selector (RolloutPipe §4): an update is cut into micro-batches of whole groups. */
import type { MicroBatch } from '../../schemas/pipelining.ts';
import type { Group } from './state.ts';

/**
 * Cuts groups into micro-batches, each the longest prefix of the remaining groups that fits the budget. A group over the budget is
 * a micro-batch by itself.
 *
 * @param budgetTokens - most tokens of a micro-batch; no bound if absent
 */
export function microBatches(groups: readonly Group[], budgetTokens: number | undefined): MicroBatch[] {
  const budget = budgetTokens ?? Number.POSITIVE_INFINITY;
  const batches: MicroBatch[] = [];
  let last: MicroBatch | undefined;
  for (let index = 0; index < groups.length; index += 1) {
    const { groupId, tokens } = groups[index]!;
    if (last !== undefined && last.tokens + tokens <= budget) {
      last.groups.push(groupId);
      last.tokens += tokens;
      continue;
    }
    last = { groups: [groupId], tokens, dynamic: tokens > budget };
    batches.push(last);
  }
  return batches;
}
