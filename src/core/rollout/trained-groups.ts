/** Groups in ledgers, and reports that come too late, for policies that train groups of a round. */
import type { Message } from '../../schemas/messages.ts';
import { groupKey } from '../../schemas/moves.ts';
import type { Context } from '../machine/definition.ts';

type Late = Message<'training.late'>;

/** Says that a report of the trainer, or about a round, changes nothing. */
export function lateTraining(
  about: Omit<Late, 'type' | 'at' | 'reason'>,
  code: Late['reason']['code'],
  ctx: Context<Late>,
): void {
  ctx.emit({ type: 'training.late', at: ctx.at, ...about, reason: { code } });
}

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
