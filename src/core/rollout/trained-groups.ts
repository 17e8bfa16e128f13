/** Groups in ledgers, for policies that train groups of a round. */
import { groupKey } from '../../schemas/moves.ts';

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
