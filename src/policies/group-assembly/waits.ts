/** What blocks what in group-assembly. */
import { findGroup, shortKey } from '../../core/rollout/trained-groups.ts';
import type { AwaitedEvent, HeldThing, Standing, Waits } from '../../core/why/waits.ts';
import { groupKey } from '../../schemas/moves.ts';
import { type AssemblyState, allGroups, type Group, type Member, type Round } from './state.ts';

const awaited = ({ members }: Group): Member[] => [...members.values()].filter(({ reward }) => reward === undefined);
const response = ({ requestId }: Member): HeldThing => ({ what: 'responses', id: requestId });
const roundOf = ({ roundId }: Round): HeldThing => ({ what: 'rounds', id: roundId });

function groupOf({ rounds }: AssemblyState, { round, promptId }: Group): HeldThing {
  return { what: 'groups', id: shortKey(rounds.values(), round!.roundId, promptId) };
}

function groupStanding(one: Group): Standing {
  const { members, round, since } = one;
  const missing = awaited(one);
  if (missing.length === 0) return { stands: 'has its rewards', since, for: [roundOf(round!)] };
  const stands = `has ${members.size - missing.length} of ${members.size} rewards`;
  return { stands, since, for: missing.map(response) };
}

function promptStanding(state: AssemblyState, promptId: string): Standing | undefined {
  const open = state.open.get(promptId);
  if (open !== undefined) {
    return {
      stands: 'does not count yet',
      for: [{ event: { type: 'prompt.counted', promptId } }],
    };
  }
  const counts = [...state.rounds.values()].find(({ groups }) => groups.has(promptId));
  const group = counts?.groups.get(promptId);
  return group && { stands: `counts for round ${counts!.roundId}`, since: group.since, for: [groupOf(state, group)] };
}

function responseStanding(state: AssemblyState, { requestId, reward, owner }: Member): Standing {
  if (reward === undefined) return { stands: 'has no reward', for: [{ event: { type: 'reward.ready', requestId } }] };
  const group = owner.round === null ? { what: 'prompts', id: owner.promptId } : groupOf(state, owner);
  return { stands: reward === null ? 'gets no reward' : 'has its reward', for: [group] };
}

function roundStanding(state: AssemblyState, round: Round): Standing {
  const { roundId, groups, completed } = round;
  const missing = [...groups.values()].filter((one) => awaited(one).length > 0);
  const end: readonly AwaitedEvent[] = completed === null ? [{ event: { type: 'round.completed', roundId } }] : [];
  return {
    stands: `has the rewards of ${groups.size - missing.length} of ${groups.size} groups`,
    since: completed?.at,
    for: [...missing.map((one) => groupOf(state, one)), ...end],
    ...(completed !== null && { kind: completed.kind, isCompleted: true }),
  };
}

/** What blocks what: rounds wait for groups, and groups for the rewards of their responses. */
export const waits: Waits<AssemblyState> = {
  prompts: {
    ids: (state) => new Set(allGroups(state).map(({ promptId }) => promptId)),
    of: promptStanding,
  },
  groups: {
    ids: ({ rounds }) =>
      [...rounds.values()].flatMap(({ roundId, groups }) => [...groups.keys()].map((id) => groupKey(roundId, id))),
    of: ({ rounds }, id) => {
      const found = findGroup(rounds.values(), id);
      return found && groupStanding(found.group);
    },
  },
  responses: {
    ids: ({ byRequest }) => byRequest.keys(),
    of: (state, id) => {
      const found = state.byRequest.get(id);
      return found && responseStanding(state, found);
    },
  },
  rounds: {
    ids: ({ rounds }) => rounds.keys(),
    of: (state, id) => {
      const found = state.rounds.get(id);
      return found && roundStanding(state, found);
    },
  },
};
