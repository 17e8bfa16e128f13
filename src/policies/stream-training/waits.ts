/** What blocks what in stream-training. */
import { findGroup } from '../../core/rollout/trained-groups.ts';
import type { AwaitedEvent, HeldThing, Standing, Waits } from '../../core/why/waits.ts';
import { groupKey } from '../../schemas/moves.ts';
import { updateIds } from './rounds.ts';
import { type Group, type Replica, type Round, type StreamTrainingState, type Work, waitingCount } from './state.ts';

type For = readonly (HeldThing | AwaitedEvent)[];

const roundThing = ({ roundId }: Round): HeldThing => ({ what: 'rounds', id: roundId });
const fetchThing = ({ fetchId }: Work): HeldThing => ({ what: 'fetches', id: fetchId });

/** The works that replicas have begun. */
const begun = (replicas: readonly Replica[]): HeldThing[] =>
  replicas.flatMap(({ works }) => works.slice(0, 1).map(fetchThing));

/** What has to come before any group can be trained, if all replicas are lost. */
function aReplica({ replicas }: StreamTrainingState): readonly AwaitedEvent[] {
  if (replicas.some(({ present }) => present)) return [];
  return replicas.map(({ id }) => ({ event: { type: 'replica.added', replica: id } }));
}

/** What a group waits for if no replica has it. */
function waitingGroup(state: StreamTrainingState, round: Round): Standing {
  if (round !== state.head)
    return { stands: `waits until round ${state.head!.roundId} is trained`, for: [roundThing(state.head!)] };
  const { fetch, groupsPerRound, minFetchGroups } = state.config;
  const { streaming, idle } = state;
  const end = roundThing(round);
  // The single fetch of `{ once }` is made as soon as a group and a replica are there.
  const isOver = round.groups.size >= groupsPerRound || fetch !== 'stream';
  if (round.phase !== 'streaming' || streaming.length === 0 || isOver)
    return { stands: 'is for the end of its round', for: [end] };
  if (idle > 0) {
    const { roundId } = round;
    const stands = `is one of ${waitingCount(round)} that wait, of ${minFetchGroups} for a fetch`;
    return { stands, for: [{ event: { type: 'group.completed', roundId } }, end] };
  }
  return { stands: 'waits for a replica', for: [...begun(streaming), end] };
}

function groupStanding(state: StreamTrainingState, round: Round, { groupId }: Group): Standing {
  const isIt = (one: Group): boolean => one.groupId === groupId;
  for (const replica of round === state.head ? state.replicas : []) {
    const work = replica.works.find(({ groups }) => groups.some(isIt));
    if (work !== undefined) return fetchStanding(replica, work);
    if (!replica.consumed.some(isIt)) continue;
    return { stands: `is in the gradients of replica ${replica.id}`, for: [roundThing(round)] };
  }
  return waitingGroup(state, round);
}

function fetchStanding({ works, id: replica }: Replica, work: Work): Standing {
  const { fetchId, kind, startedSeconds } = work;
  const before = works[works.indexOf(work) - 1];
  if (before !== undefined) return { stands: `is next on replica ${replica}`, for: [fetchThing(before)] };
  const since = startedSeconds ?? undefined;
  const type = kind === 'fetch' ? 'train.consumed' : 'train.finished';
  return {
    stands: `is trained by replica ${replica}`,
    since,
    for: [{ event: { type, fetchId, replica }, since, by: replica }],
  };
}

function roundStanding(state: StreamTrainingState, round: Round): Standing {
  return { ...phaseStanding(state, round), isCompleted: round.completedSeconds !== null };
}

function phaseStanding(state: StreamTrainingState, round: Round): Standing {
  const { roundId, groups, phase, completedSeconds } = round;
  const { head, config, replicas } = state;
  const since = completedSeconds ?? undefined;
  const end: For = completedSeconds === null ? [{ event: { type: 'round.completed', roundId } }] : [];
  if (round !== head)
    return { stands: `waits until round ${head!.roundId} is trained`, since, for: [roundThing(head!), ...end] };
  switch (phase) {
    case 'streaming':
      return { stands: `has ${groups.size} of ${config.groupsPerRound} groups`, for: end };
    case 'finishing':
      return {
        stands: 'is complete, and its last groups are trained',
        since,
        for: [...begun(replicas), ...aReplica(state)],
      };
    default:
      return {
        stands: 'is trained, and the optimizer steps',
        since,
        for: [{ event: { type: 'optimizer.stepped', roundId, updateId: updateIds.of(state, state.nextUpdate - 1) } }],
      };
  }
}

/** Whether the GPUs of a replica are lent to the rollout now. */
function isInRollout({ head }: StreamTrainingState, { streams }: Replica): boolean {
  return head?.phase === 'streaming' && !streams;
}

function replicaStanding(state: StreamTrainingState, one: Replica): Standing {
  const { head } = state;
  const { present, works } = one;
  if (!present) return { stands: 'is lost', for: aReplica(state) };
  if (works.length > 0) return { stands: 'trains', for: works.slice(0, 1).map(fetchThing) };
  if (head === null) return { stands: 'is idle: no round is open', for: [] };
  return { stands: isInRollout(state, one) ? 'is in the rollout' : 'is idle', for: [roundThing(head)] };
}

/** What blocks what: groups wait for replicas or for the end of their round, and rounds for groups and replicas. */
export const waits: Waits<StreamTrainingState> = {
  groups: {
    ids: ({ rounds }) =>
      [...rounds.values()].flatMap(({ roundId, groups }) => [...groups.keys()].map((id) => groupKey(roundId, id))),
    of: (state, id) => {
      const found = findGroup(state.rounds.values(), id);
      return found && groupStanding(state, found.round, found.group);
    },
  },
  fetches: {
    ids: ({ works }) => works.keys(),
    of: ({ works }, id) => {
      const found = works.get(id);
      return found && fetchStanding(found.replica, found.work);
    },
  },
  rounds: {
    ids: ({ rounds }) => rounds.keys(),
    of: (state, id) => {
      const found = state.rounds.get(id);
      return found && roundStanding(state, found);
    },
  },
  replicas: {
    ids: ({ byId }) => byId.keys(),
    of: (state, id) => {
      const found = state.byId.get(id);
      return found && replicaStanding(state, found);
    },
  },
  gpus: {
    ids: ({ byGpu }) => byGpu.keys(),
    of: (state, id) => {
      const found = state.byGpu.get(id);
      if (found === undefined) return undefined;
      const stands = `belongs to replica ${found.id}`;
      return { stands, for: isInRollout(state, found) ? [] : [{ what: 'replicas', id: found.id }] };
    },
  },
};
