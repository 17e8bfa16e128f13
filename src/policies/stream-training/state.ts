/** The state: rounds with their waiting groups, and replicas with work and gradients. */

import { z } from 'zod';
import { Fifo, fifoOf } from '../../core/collections/fifo.ts';
import { prefixes } from '../../core/ids/minted-ids.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import type { Context, Live } from '../../core/machine/definition.ts';
import { derived, mapBy, setOf } from '../../core/machine/state.ts';
import type { StreamTrainingConfig, StreamTrainingDecision } from '../../generated/settings/stream-training.ts';
import { updateId } from '../../schemas/pipelining.ts';
import { fetchId, gpuId, groupId, replicaId } from '../../schemas/training.ts';
import { count, releaseId, roundId, seconds } from '../../schemas/units.ts';
import { assertExact } from './schema.ts';

const group = z.strictObject({
  groupId,
  samples: count,
  tokens: count,
  /** Position among all groups, by which lists are ordered and ties broken. */
  seq: count,
});
/** A completed group. A group never changes: it only moves from one list to another. */
export interface Group extends Readonly<z.output<typeof group>> {}

const work = z.strictObject({
  fetchId,
  kind: z.enum(['fetch', 'share']),
  groups: z.array(group),
  /** Time at which the replica began this work, in seconds; `null` while other work comes first. */
  startedSeconds: seconds.nullable(),
  /** Tokens of the groups. */
  tokens: derived(() => 0),
});
/** A fetch or a share, in flight. */
export interface Work extends z.output<typeof work> {}

/** Measured work, with less weight for older work: seconds, and tokens of the groups. */
const pace = { paceSeconds: seconds, paceTokens: z.number().nonnegative() };

const replica = z.strictObject({
  id: replicaId,
  gpuIds: z.array(gpuId),
  present: z.boolean(),
  /** Work of the replica, in order. */
  works: z.array(work),
  /** Groups whose gradients the replica holds. */
  consumed: z.array(group),
  /** Samples and tokens behind these gradients, as reported. */
  samples: count,
  tokens: z.number().nonnegative(),
  gradients: z.enum(['none', 'resident', 'offloaded']),
  /** Whether the replica takes part in the step of the head round. */
  joined: z.boolean(),
  ...pace,
  /** Whether all GPUs of the replica are released for the head round. */
  streams: derived(() => false),
});
/** A replica of the trainer. */
export interface Replica extends z.output<typeof replica> {}

const round = z.strictObject({
  roundId,
  /** Groups to train again, which go first. */
  again: fifoOf(group),
  /** Groups that were never fetched. */
  fresh: fifoOf(group),
  released: setOf(gpuId),
  /** Releases whose GPUs have gone back; further reports about such a release are late. */
  endedReleases: setOf(releaseId),
  /** Time when a group was last completed, in seconds. */
  lastSeconds: seconds.nullable(),
  /** Mean seconds between two completions; older ones weigh less. */
  gapSeconds: seconds.nullable(),
  completedSeconds: seconds.nullable(),
  /** Whether the single fetch of `{ once }` has been made. */
  fetchedOnce: z.boolean(),
  /** Number of groups that were fetched before the round was completed. */
  streamed: count,
  phase: z.enum(['streaming', 'finishing', 'stepping']),
  /** The reason to spread the remaining groups; `null` once that is done. */
  finishCode: z
    .enum(['round_completed', 'replica_lost', 'host_restarted', 'partly_consumed', 'step_failed'])
    .nullable(),
  /** All groups of the round by id: waiting, in flight, or in the gradients of a replica. */
  groups: derived(() => new Map<string, Group>()),
  /** Tokens of the groups that wait. */
  waitingTokens: derived(() => 0),
});
/** A round, from its opening to its step. */
export interface Round extends z.output<typeof round> {}

export const streamTrainingState = z
  .strictObject({
    /** Rounds in the order of opening; the first one is trained. */
    rounds: mapBy('roundId', round),
    /** Replicas in the order of the configuration. */
    replicas: z.array(replica),
    recentRounds: recentIds(roundId),
    ...prefixes,
    nextFetch: count,
    /** Number of the next try to step; if the head is stepping, its try has the previous number. */
    nextUpdate: count,
    /** Tries to step that were given up, although the optimizer may have made the steps. */
    withdrawnSteps: recentIds(updateId),
    nextSeq: count,
    /** Mean pace of all replicas, for replicas that were never measured. */
    ...pace,
    head: derived<Round | null>(),
    byId: derived(() => new Map<string, Replica>()),
    byGpu: derived(() => new Map<string, Replica>()),
    /** Work in flight, by id. */
    works: derived(() => new Map<string, { readonly replica: Replica; readonly work: Work }>()),
    /** Replicas that stream, in the order of the configuration. */
    streaming: derived((): Replica[] => []),
    /** Number of streaming replicas that have nothing to do. */
    idle: derived(() => 0),
    /** The replica that has just ended a fetch; after all other decisions it may offload its gradients. */
    consumer: derived<Replica | null>(),
  })
  .refine(
    ({ rounds, replicas }) => rounds.size > 0 || replicas.every((one) => one.works.length + one.consumed.length === 0),
    { message: 'replicas without groups where there is no round', path: ['replicas'] },
  );
export type StreamTrainingState = Live<z.output<typeof streamTrainingState>, StreamTrainingConfig>;
export type SavedStreamTraining = z.input<typeof streamTrainingState>;
/** The context through which handlers emit decisions. */
export type Ctx = Context<StreamTrainingDecision>;

export const begin = ({ replicas, idPrefix }: StreamTrainingConfig): Partial<SavedStreamTraining> => ({
  prefix: idPrefix,
  replicas: replicas.map(({ id, gpuIds }) => ({
    ...{ id, gpuIds, present: true, joined: false, gradients: 'none' },
    ...{ works: [], consumed: [], samples: 0, tokens: 0, paceSeconds: 0, paceTokens: 0 },
  })),
});

/** Returns the state of a round at its opening. */
export function newRound(roundId: string): Round {
  return {
    roundId,
    again: new Fifo(),
    fresh: new Fifo(),
    released: new Set(),
    endedReleases: new Set(),
    lastSeconds: null,
    gapSeconds: null,
    completedSeconds: null,
    fetchedOnce: false,
    streamed: 0,
    phase: 'streaming',
    finishCode: null,
    groups: new Map(),
    waitingTokens: 0,
  };
}

/** Sets the derived fields. Throws `PolicyError` `infeasible` if streaming cannot give the exact gradient. */
export function link(state: StreamTrainingState): void {
  assertExact(state.config);
  state.head = state.rounds.values().next().value ?? null;
  for (const one of state.replicas) {
    state.byId.set(one.id, one);
    for (const gpu of one.gpuIds) state.byGpu.set(gpu, one);
    for (const each of one.works) {
      for (const { tokens } of each.groups) each.tokens += tokens;
      state.works.set(each.fetchId, { replica: one, work: each });
    }
  }
  for (const one of state.rounds.values()) {
    const waits = [...one.again, ...one.fresh];
    for (const { tokens } of waits) one.waitingTokens += tokens;
    // Only the head is trained.
    const holders = one === state.head ? state.replicas : [];
    const held = holders.flatMap(({ consumed, works }) => [...consumed, ...works.flatMap(({ groups }) => groups)]);
    for (const each of [...waits, ...held].sort((a, b) => a.seq - b.seq)) one.groups.set(each.groupId, each);
  }
  refreshStreaming(state);
}

/** Makes the list of streaming replicas anew; called when releases, losses or the head round change. */
export function refreshStreaming(state: StreamTrainingState): void {
  const { head } = state;
  for (const one of state.replicas) {
    one.streams = one.present && head?.phase === 'streaming' && one.gpuIds.every((gpuId) => head.released.has(gpuId));
  }
  state.streaming = state.replicas.filter((one) => one.streams);
  state.idle = state.streaming.filter((one) => one.works.length === 0).length;
}

/** Counts the waiting groups of a round, which no replica has. */
export function waitingCount(round: Round): number {
  return round.again.size + round.fresh.size;
}

/** Removes all waiting groups except those that the test keeps; takes linear time. */
export function keepWaiting(round: Round, keeps: (group: Group) => boolean): void {
  for (const list of [round.again, round.fresh]) {
    const remaining = [...list].filter(keeps);
    list.clear();
    for (const group of remaining) list.push(group);
  }
  round.waitingTokens = 0;
  for (const list of [round.again, round.fresh]) for (const group of list) round.waitingTokens += group.tokens;
}
