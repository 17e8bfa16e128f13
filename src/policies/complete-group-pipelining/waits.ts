/** What blocks what in complete-group-pipelining: groups wait for updates, updates for the trainer, and rounds for each other. */
import type { AwaitedEvent, HeldThing, Standing, Waits } from '../../core/why/waits.ts';
import { groupKey } from '../../schemas/moves.ts';
import { currentUpdate, type PipeliningState, type Round, type Update } from './state.ts';

const roundThing = ({ roundId: id }: Round): HeldThing => ({ what: 'rounds', id });
const updateThing = ({ updateId: id }: Update): HeldThing => ({ what: 'updates', id });

/** What an open round waits for: more groups, or a report that no more groups come. */
const moreGroups = ({ roundId, times }: Round): readonly AwaitedEvent[] => [
  { event: { type: 'group.rewarded', roundId }, since: times.idleSinceSeconds ?? undefined },
  { event: { type: 'round.rewarded', roundId }, since: times.openedSeconds },
];

function roundStanding(state: PipeliningState, round: Round): Standing {
  const { roundId, publicationId, times, updates, stepped } = round;
  const { openedSeconds, closedSeconds, publicationSeconds: since } = times;
  const isCompleted = closedSeconds !== null;
  if (round !== state.head) {
    const stands = 'waits for an earlier round to be trained';
    return { stands, since: openedSeconds, for: [roundThing(state.head!)], isCompleted };
  }
  if (publicationId !== null) {
    return {
      isCompleted,
      stands: 'is trained, and its weights are being published',
      for: [{ event: { type: 'weights.published', roundId, publicationId }, since }],
    };
  }
  const current = currentUpdate(round);
  return {
    isCompleted,
    stands: isCompleted
      ? `has ${stepped} of ${updates.length} updates trained`
      : `has ${stepped} updates trained so far`,
    since: openedSeconds,
    for: [...(current === undefined ? [] : [updateThing(current)]), ...(isCompleted ? [] : moreGroups(round))],
  };
}

function updateStanding(round: Round, update: Update): Standing {
  const { updateId, groups, consumed } = update;
  const current = currentUpdate(round)!;
  if (update !== current) return { stands: 'is dispatched after another update', for: [updateThing(current)] };
  if (round.isStepping) {
    const { roundId } = round;
    return { stands: 'is stepped on', for: [{ event: { type: 'optimizer.stepped', roundId, updateId } }] };
  }
  const left = groups.flatMap(({ groupId }) => (consumed?.has(groupId) ? [] : [groupId]));
  return {
    stands: `is being trained, with ${consumed?.size ?? 0} of ${groups.length} groups consumed`,
    for: [{ event: { type: 'update.consumed', updateId, groups: left } }],
  };
}

/** Returns the update of a group, or `undefined` if the round does not hold the group. */
function updateOf(round: Round, groupId: string): { readonly update: Update | undefined } | undefined {
  if (!round.known.has(groupId)) return undefined;
  const isIt = (group: { readonly groupId: string }): boolean => group.groupId === groupId;
  const update = round.updates.find(({ groups }) => groups.some(isIt));
  return update !== undefined || [...round.waiting].some(isIt) ? { update } : undefined;
}

function groupStanding(state: PipeliningState, round: Round, update: Update | undefined): Standing {
  if (update !== undefined) {
    const isTrained = update.index < round.stepped;
    return isTrained
      ? { stands: 'is trained, and its round is not over', for: [roundThing(round)] }
      : { stands: `is in update ${update.index} of its round`, for: [updateThing(update)] };
  }
  const { groupsPerUpdate, config, head } = state;
  const isOpen = round === head && config.pipelining;
  return {
    stands: `is ready to train: ${round.waiting.size} of ${groupsPerUpdate} groups for an update`,
    for: isOpen ? moreGroups(round) : [roundThing(round)],
  };
}

function* groupIds({ rounds }: PipeliningState): Iterable<readonly [roundId: string, groupId: string]> {
  for (const { roundId, waiting, updates } of rounds.values()) {
    for (const { groupId } of waiting) yield [roundId, groupId];
    for (const { groups } of updates) for (const { groupId } of groups) yield [roundId, groupId];
  }
}

/** A group is also found by the id of its prompt. */
export const waits: Waits<PipeliningState> = {
  rounds: {
    ids: ({ rounds }) => rounds.keys(),
    of: (state, id) => {
      const found = state.rounds.get(id);
      return found && roundStanding(state, found);
    },
  },
  prompts: {
    ids: (state) => new Set([...groupIds(state)].map(([, groupId]) => groupId)),
    of: (state, id) => {
      for (const round of state.rounds.values()) {
        const found = updateOf(round, id);
        if (found !== undefined) return groupStanding(state, round, found.update);
      }
      return undefined;
    },
  },
  groups: {
    ids: (state) => [...groupIds(state)].map(([roundId, groupId]) => groupKey(roundId, groupId)),
    of: (state, key) => {
      for (const round of state.rounds.values()) {
        const groupId = key.slice(round.roundId.length + 1);
        if (groupKey(round.roundId, groupId) !== key) continue;
        const found = updateOf(round, groupId);
        if (found !== undefined) return groupStanding(state, round, found.update);
      }
      return undefined;
    },
  },
  updates: {
    ids: ({ live }) => live.keys(),
    of: ({ live, head }, id) => {
      const found = live.get(id);
      return found && updateStanding(head!, found);
    },
  },
};
