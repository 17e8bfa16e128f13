/** The state: rounds with the groups that wait, and replicas with what they compute and hold. */

import { Fifo } from '../../core/fifo.ts';
import { mintedId, wasMinted } from '../../core/minted-ids.ts';
import { RecentIds } from '../../core/recent-ids.ts';
import { assertExact, type StreamTrainingConfig } from './schema.ts';
import type { FinishCode } from './words.ts';

/** A completed group. Never changed: it only moves from one list to another. */
export interface Group {
  readonly groupId: string;
  readonly samples: number;
  readonly tokens: number;
  /** Its place among all groups: ties and lists follow it. */
  readonly seq: number;
}

/** A fetch or a share, in flight. */
export interface Work {
  readonly fetchId: string;
  readonly kind: 'fetch' | 'share';
  readonly groups: readonly Group[];
  readonly tokens: number;
  /** When the replica began with it, in seconds; `null` while others are before it. */
  startedSeconds: number | null;
}

/** A replica of the trainer. */
export interface Replica {
  readonly id: string;
  readonly gpuIds: readonly string[];
  present: boolean;
  /** Whether all its GPUs are released for the head round: derived. */
  streams: boolean;
  /** What it computes, first to last. */
  works: Work[];
  /** Groups whose gradients it holds. */
  consumed: Group[];
  /** Samples and tokens in these gradients, as reported. */
  samples: number;
  tokens: number;
  gradients: 'none' | 'resident' | 'offloaded';
  /** Whether it takes part in the step of the head round. */
  joined: boolean;
  /** Measured work, older one counting less: seconds, and tokens of the groups. */
  paceSeconds: number;
  paceTokens: number;
}

/** A round, from its opening to its step. */
export interface Round {
  readonly roundId: string;
  /** Every group that is here, by id. */
  readonly groups: Map<string, Group>;
  /** Groups to be trained again; they go first. */
  readonly again: Fifo<Group>;
  /** Groups that were never fetched. */
  readonly fresh: Fifo<Group>;
  /** Tokens of the groups in both. */
  waitingTokens: number;
  readonly released: Set<string>;
  /** Releases whose GPUs have gone back: what is said of them again is late. */
  readonly endedReleases: Set<string>;
  /** When a group was last completed, in seconds. */
  lastSeconds: number | null;
  /** Seconds between two completions, older ones counting less. */
  gapSeconds: number | null;
  completedSeconds: number | null;
  /** Whether the one fetch of `{ once }` has been made. */
  fetchedOnce: boolean;
  /** Groups that were fetched before the round was completed. */
  streamed: number;
  phase: 'streaming' | 'finishing' | 'stepping';
  /** Why what remains is to be spread; `null` when that has been done. */
  finishCode: FinishCode | null;
}

/** The whole state. */
export interface StreamTrainingState {
  readonly config: StreamTrainingConfig;
  /** In the order in which they were opened; the first is the one that is trained. */
  readonly rounds: Map<string, Round>;
  head: Round | null;
  /** In the order of the configuration. */
  readonly replicas: readonly Replica[];
  readonly byId: ReadonlyMap<string, Replica>;
  readonly byGpu: ReadonlyMap<string, Replica>;
  /** What is in flight, by id. */
  readonly works: Map<string, { readonly replica: Replica; readonly work: Work }>;
  /** Replicas that stream: derived, in the order of the configuration. */
  streaming: Replica[];
  /** How many of them have nothing to do: derived. */
  idle: number;
  recentRounds: RecentIds;
  prefix: string;
  readonly oldPrefixes: string[];
  nextFetch: number;
  /** Number of the next try to step; the try of a head that is stepping is the one before. */
  nextUpdate: number;
  /** Tries to step that were given up: the optimizer may have made them all the same. */
  withdrawnSteps: RecentIds;
  nextSeq: number;
  /** Measured work of all replicas: the pace of one that was never measured. */
  paceSeconds: number;
  paceTokens: number;
}

/** The state at the beginning. Throws `PolicyError` `infeasible` for what streaming cannot keep exact. */
export function newState(config: StreamTrainingConfig): StreamTrainingState {
  assertExact(config);
  const replicas = config.replicas.map(({ id, gpuIds }): Replica => {
    return {
      id,
      gpuIds,
      present: true,
      streams: false,
      works: [],
      consumed: [],
      samples: 0,
      tokens: 0,
      gradients: 'none',
      joined: false,
      paceSeconds: 0,
      paceTokens: 0,
    };
  });
  return {
    config,
    rounds: new Map(),
    head: null,
    replicas,
    byId: new Map(replicas.map((one) => [one.id, one])),
    byGpu: new Map(replicas.flatMap((one) => one.gpuIds.map((gpu) => [gpu, one] as const))),
    works: new Map(),
    streaming: [],
    idle: 0,
    recentRounds: new RecentIds(),
    prefix: config.idPrefix,
    oldPrefixes: [],
    nextFetch: 0,
    nextUpdate: 0,
    withdrawnSteps: new RecentIds(),
    nextSeq: 0,
    paceSeconds: 0,
    paceTokens: 0,
  };
}

/** A round at its opening. */
export function newRound(roundId: string): Round {
  return {
    roundId,
    groups: new Map(),
    again: new Fifo(),
    fresh: new Fifo(),
    waitingTokens: 0,
    released: new Set(),
    endedReleases: new Set(),
    lastSeconds: null,
    gapSeconds: null,
    completedSeconds: null,
    fetchedOnce: false,
    streamed: 0,
    phase: 'streaming',
    finishCode: null,
  };
}

/** Groups of a round that no replica has. */
export function waitingCount(round: Round): number {
  return round.again.size + round.fresh.size;
}

/** Takes out of what waits all groups but those that the test keeps; linear. */
export function keepWaiting(round: Round, keeps: (group: Group) => boolean): void {
  for (const list of [round.again, round.fresh]) {
    const kept = [...list].filter(keeps);
    list.clear();
    for (const group of kept) list.push(group);
  }
  round.waitingTokens = 0;
  for (const list of [round.again, round.fresh]) for (const group of list) round.waitingTokens += group.tokens;
}

const update = 'update#';

/** The id of a try to step. */
export function updateIdOf({ prefix }: StreamTrainingState, number: number): string {
  return mintedId(prefix, update, number);
}

/** The id of a fetch or share of a replica. */
export function fetchIdOf({ prefix }: StreamTrainingState, replica: string, number: number): string {
  return mintedId(prefix, `${replica}#`, number);
}

/** The try to step that is under way, by its id: no prefix changes before it is over. */
export function currentStep(state: StreamTrainingState): string | undefined {
  return state.head?.phase === 'stepping' ? updateIdOf(state, state.nextUpdate - 1) : undefined;
}

/** Gives up the step that is under way, if there is one. */
export function withdrawStep(state: StreamTrainingState): void {
  const updateId = currentStep(state);
  if (updateId === undefined) return;
  state.withdrawnSteps.add(updateId);
  state.head!.phase = 'finishing';
}

/** Whether a fetch id that is not in flight can have been minted earlier. */
export function wasFetch(state: StreamTrainingState, fetchId: string): boolean {
  return wasMinted(state, fetchId, state.nextFetch, (kind) => kind.endsWith('#') && state.byId.has(kind.slice(0, -1)));
}

/** Whether an update id that is not the current one can have been minted earlier. */
export function wasUpdate(state: StreamTrainingState, updateId: string): boolean {
  return wasMinted(state, updateId, state.nextUpdate, update);
}
