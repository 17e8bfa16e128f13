/** The state as JSON, and back. Groups stand where they are: waiting, in flight, or in the gradients of a replica. */

import { z } from 'zod';
import { RecentIds } from '../../core/recent-ids.ts';
import { updateId } from '../../schemas/pipelining.ts';
import { fetchId, gpuId, groupId, replicaId } from '../../schemas/training.ts';
import { count, idPrefix, releaseId, roundId, seconds, tokens } from '../../schemas/units.ts';
import { refreshStreaming } from './head.ts';
import type { StreamTrainingConfig } from './schema.ts';
import { type Group, newRound, newState, type Replica, type Round, type StreamTrainingState } from './state.ts';

const group = z.strictObject({ groupId, samples: count, tokens, seq: count });
const work = z.strictObject({
  fetchId,
  kind: z.enum(['fetch', 'share']),
  groups: z.array(group),
  startedSeconds: seconds.nullable(),
});
const replica = z.strictObject({
  id: replicaId,
  present: z.boolean(),
  works: z.array(work),
  consumed: z.array(group),
  samples: count,
  tokens,
  gradients: z.enum(['none', 'resident', 'offloaded']),
  joined: z.boolean(),
  paceSeconds: seconds,
  paceTokens: z.number().nonnegative(),
});
const round = z.strictObject({
  roundId,
  again: z.array(group),
  fresh: z.array(group),
  released: z.array(gpuId),
  endedReleases: z.array(releaseId).optional(),
  lastSeconds: seconds.nullable(),
  gapSeconds: seconds.nullable(),
  completedSeconds: seconds.nullable(),
  fetchedOnce: z.boolean(),
  streamed: count,
  phase: z.enum(['streaming', 'finishing', 'stepping']),
  finishCode: z
    .enum(['round_completed', 'replica_lost', 'host_restarted', 'partly_consumed', 'step_failed'])
    .nullable(),
});

const savedState = z.strictObject({
  rounds: z.array(round),
  replicas: z.array(replica),
  recentRounds: z.array(roundId),
  prefix: idPrefix,
  oldPrefixes: z.array(idPrefix),
  nextFetch: count,
  nextUpdate: count,
  withdrawnSteps: z.array(updateId),
  nextSeq: count,
  paceSeconds: seconds,
  paceTokens: z.number().nonnegative(),
});

/**
 * Version 1 gave steps no id. A step that was under way gets one that no host has been told: until `host.restarted`
 * nothing confirms it.
 */
export function migrateFromOne(given: unknown): unknown {
  const saved = given as { rounds: { phase: string }[] };
  const nextUpdate = saved.rounds[0]?.phase === 'stepping' ? 1 : 0;
  return { ...saved, nextUpdate, withdrawnSteps: [] };
}

/** Schema of the saved state. */
export const streamTrainingSnapshot = savedState.refine(
  ({ rounds, replicas }) => rounds.length > 0 || replicas.every((one) => one.works.length + one.consumed.length === 0),
  { message: 'replicas without groups where there is no round', path: ['replicas'] },
);
/** The saved state. */
export type SavedStreamTraining = z.output<typeof streamTrainingSnapshot>;
type SavedRound = SavedStreamTraining['rounds'][number];
type SavedReplica = SavedStreamTraining['replicas'][number];

const copyGroups = (groups: Iterable<Group>): Group[] => Array.from(groups, (one) => ({ ...one }));

/** The whole state as JSON. */
export function save(state: StreamTrainingState): SavedStreamTraining {
  const { recentRounds, prefix, oldPrefixes, withdrawnSteps } = state;
  const { nextFetch, nextUpdate, nextSeq, paceSeconds, paceTokens } = state;
  return {
    rounds: Array.from(state.rounds.values(), saveRound),
    replicas: state.replicas.map(saveReplica),
    recentRounds: [...recentRounds],
    prefix,
    oldPrefixes: [...oldPrefixes],
    nextFetch,
    nextUpdate,
    withdrawnSteps: [...withdrawnSteps],
    nextSeq,
    paceSeconds,
    paceTokens,
  };
}

function saveRound({
  groups: _,
  waitingTokens: __,
  again,
  fresh,
  released,
  endedReleases,
  ...rest
}: Round): SavedRound {
  const saved = { ...rest, again: copyGroups(again), fresh: copyGroups(fresh), released: [...released].sort() };
  return endedReleases.size === 0 ? saved : { ...saved, endedReleases: [...endedReleases] };
}

function saveReplica({ gpuIds: _, streams: __, works, consumed, ...rest }: Replica): SavedReplica {
  return {
    ...rest,
    works: works.map(({ fetchId, kind, groups, startedSeconds }) => {
      return { fetchId, kind, groups: copyGroups(groups), startedSeconds };
    }),
    consumed: copyGroups(consumed),
  };
}

/** The state that was saved. */
export function load(saved: SavedStreamTraining, config: StreamTrainingConfig): StreamTrainingState {
  const { rounds, replicas, recentRounds, oldPrefixes, withdrawnSteps, ...rest } = saved;
  const state: StreamTrainingState = { ...newState(config), ...rest };
  state.recentRounds = new RecentIds(recentRounds);
  state.withdrawnSteps = new RecentIds(withdrawnSteps);
  state.oldPrefixes.push(...oldPrefixes);
  for (const one of rounds) state.rounds.set(one.roundId, loadRound(one));
  state.head = state.rounds.values().next().value ?? null;
  for (const one of replicas) loadReplica(state, one);
  for (const one of state.rounds.values()) index(state, one);
  refreshStreaming(state);
  return state;
}

function loadRound({ roundId, again, fresh, released, endedReleases = [], ...rest }: SavedRound): Round {
  const loaded: Round = { ...newRound(roundId), ...rest };
  for (const one of copyGroups(again)) loaded.again.push(one);
  for (const one of copyGroups(fresh)) loaded.fresh.push(one);
  for (const gpu of released) loaded.released.add(gpu);
  for (const one of endedReleases) loaded.endedReleases.add(one);
  return loaded;
}

function loadReplica(state: StreamTrainingState, { id, works, consumed, ...rest }: SavedReplica): void {
  const one = state.byId.get(id);
  // A replica that is not in the configuration cannot be in a snapshot that this policy has written.
  if (one === undefined) return;
  Object.assign(one, rest);
  one.consumed = copyGroups(consumed);
  one.works = works.map((each) => {
    const groups = copyGroups(each.groups);
    return { ...each, groups, tokens: groups.reduce((sum, { tokens }) => sum + tokens, 0) };
  });
  for (const each of one.works) state.works.set(each.fetchId, { replica: one, work: each });
}

/** Fills in what follows from where the groups are. */
function index(state: StreamTrainingState, round: Round): void {
  const waits = [...round.again, ...round.fresh];
  for (const one of waits) round.waitingTokens += one.tokens;
  const held = round === state.head ? state.replicas : [];
  const taken = held.flatMap((one) => [...one.consumed, ...one.works.flatMap(({ groups }) => groups)]);
  for (const one of [...waits, ...taken].sort((a, b) => a.seq - b.seq)) round.groups.set(one.groupId, one);
}
