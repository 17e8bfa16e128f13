/** Groups in ledgers, for policies that train groups of a round. */
import type * as d from '../../schemas/decisions/index.ts';
import type { Of } from '../../schemas/vocabulary.ts';
import type { AnyDecision } from '../machine/definition.ts';

/** Makes the id of a group in a ledger, with its round: the same prompt may be in several rounds. */
export const groupKey = (roundId: string, groupId: string): string => `${roundId}\n${groupId}`;

interface RoundOf<Group> {
  readonly roundId: string;
  readonly groups: ReadonlyMap<string, Group>;
}

/** Finds a group by its ledger id or by its own id, in the first round that has such a group. */
export function findGroup<Group, Round extends RoundOf<Group>>(
  rounds: Iterable<Round & RoundOf<Group>>,
  id: string,
): { round: Round; group: Group; groupId: string } | undefined {
  for (const round of rounds) {
    for (const groupId of [id, id.slice(round.roundId.length + 1)]) {
      if (groupId !== id && groupKey(round.roundId, groupId) !== id) continue;
      const group = round.groups.get(groupId);
      if (group !== undefined) return { round, group, groupId };
    }
  }
  return undefined;
}

/** Returns the shortest id by which {@link findGroup} finds the group. */
export function shortKey<Group>(rounds: Iterable<RoundOf<Group>>, roundId: string, groupId: string): string {
  const isFirst = findGroup(rounds, groupId)?.round.roundId === roundId;
  return isFirst ? groupId : groupKey(roundId, groupId);
}

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
