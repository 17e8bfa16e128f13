/** Groups in ledgers, for policies that train groups of a round. */
import type * as d from '../schemas/decisions/index.ts';
import type { Of } from '../schemas/vocabulary.ts';
import type { AnyDecision } from './definition.ts';

/** Makes the id of a group in a ledger, with its round: the same prompt may be in several rounds. */
export const groupKey = (roundId: string, groupId: string): string => `${roundId}\n${groupId}`;

type Leaving = Of<typeof d.groupLate | typeof d.roundTrained | typeof d.groupsDropped>;

/** Returns the groups that leave a trainer with a decision: groups trained with their round, late groups, and dropped groups. */
export function groupsLeft(decision: AnyDecision): readonly string[] {
  const leaving = decision as Leaving;
  switch (leaving.type) {
    case 'group.late':
      return [groupKey(leaving.roundId, leaving.groupId)];
    case 'round.trained':
    case 'groups.dropped':
      return leaving.groups.map((groupId) => groupKey(leaving.roundId, groupId));
    default:
      return [];
  }
}
