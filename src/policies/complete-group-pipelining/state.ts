/** The state: rounds with their trainable groups, first in line and then in updates. */
import { Fifo } from '../../core/fifo.ts';
import { mintedId, wasMinted } from '../../core/minted-ids.ts';
import { RecentIds } from '../../core/recent-ids.ts';
import type { PipeliningConfig } from './schema.ts';

/** A trainable group. Never changed: it only moves from the line to an update. */
export interface Group {
  readonly groupId: string;
  readonly samples: number;
  readonly tokens: number;
}

/** One logical update, from its dispatch to the end of its round: a trainer that falls back needs it again. */
export interface Update {
  readonly index: number;
  readonly groups: readonly Group[];
  /** Id of the last try. */
  updateId: string;
  attempts: number;
  /** Groups whose gradients the trainer has reported, of the last try; `null` for none. */
  consumed: Set<string> | null;
  /** What the trainer has reported for them, in seconds. */
  consumedSeconds: number;
}

/** Times of a round, in seconds on the clock of the session. */
export interface RoundTimes {
  readonly openedSeconds: number;
  /** When the groups of the first update were trainable. */
  firstBatchSeconds: number | null;
  firstDispatchSeconds: number | null;
  /** When it was rewarded, or failed: no group comes any more. */
  closedSeconds: number | null;
  /** When the optimizer last stepped. */
  lastStepSeconds: number | null;
  /** Since when the trainer has nothing to do for the round; `null` while it has, or another round's. */
  idleSinceSeconds: number | null;
  waitSeconds: number;
  computeSeconds: number;
}

/** A round, from its opening to its publication. */
export interface Round {
  readonly roundId: string;
  readonly weightVersion: number;
  /** Every group that was ever reported, so that none comes twice. */
  readonly known: Set<string>;
  /** Trainable groups that are in no update yet. */
  readonly waiting: Fifo<Group>;
  /** In the order of training. */
  readonly updates: Update[];
  /** How many updates the optimizer has stepped on: the first ones. */
  stepped: number;
  /** Whether the optimizer is stepping on the next one. */
  isStepping: boolean;
  /** How many groups became trainable. */
  trainable: number;
  /** How many groups were left out by name. */
  dropped: number;
  /** Updates dispatched, those that were tried again included. */
  dispatches: number;
  isFailed: boolean;
  /** The publication of its weights that is under way; `null` while there is none. */
  publicationId: string | null;
  readonly times: RoundTimes;
}

/** The whole state. */
export interface PipeliningState {
  readonly config: PipeliningConfig;
  /** U. */
  readonly groupsPerUpdate: number;
  /** In the order in which they were opened; the first is the one that is trained. */
  readonly rounds: Map<string, Round>;
  head: Round | null;
  /** Updates of the first round on which the optimizer has not stepped, by the id of their last try. */
  readonly live: Map<string, Update>;
  recentRounds: RecentIds;
  /** Of the round that was opened last. */
  weightVersion: number;
  prefix: string;
  readonly oldPrefixes: string[];
  nextUpdate: number;
  nextPublication: number;
  /** Updates whose step was given up: the optimizer may have made it all the same. */
  withdrawnSteps: RecentIds;
}

/** The state at the beginning. */
export function newState(config: PipeliningConfig): PipeliningState {
  return {
    config,
    groupsPerUpdate: config.globalBatchSamples / config.responsesPerPrompt,
    rounds: new Map(),
    head: null,
    live: new Map(),
    recentRounds: new RecentIds(),
    weightVersion: 0,
    prefix: config.idPrefix,
    oldPrefixes: [],
    nextUpdate: 0,
    nextPublication: 0,
    withdrawnSteps: new RecentIds(),
  };
}

/** A round at its opening. */
export function newRound(roundId: string, weightVersion: number, openedSeconds: number): Round {
  return {
    roundId,
    weightVersion,
    known: new Set(),
    waiting: new Fifo(),
    updates: [],
    stepped: 0,
    isStepping: false,
    trainable: 0,
    dropped: 0,
    dispatches: 0,
    isFailed: false,
    publicationId: null,
    times: {
      openedSeconds,
      firstBatchSeconds: null,
      firstDispatchSeconds: null,
      closedSeconds: null,
      lastStepSeconds: null,
      idleSinceSeconds: null,
      waitSeconds: 0,
      computeSeconds: 0,
    },
  };
}

/** The update that the trainer works on, or that the optimizer steps on. */
export function currentUpdate(round: Round): Update | undefined {
  return round.updates[round.stepped];
}

/** How many groups and updates are in the weights. */
export function trained(round: Round): { groups: number; updates: number } {
  let groups = 0;
  for (let index = 0; index < round.stepped; index += 1) groups += round.updates[index]!.groups.length;
  return { groups, updates: round.stepped };
}

const update = 'update#';
const publication = 'publication#';

/** The id of a try of an update. */
export const updateIdOf = (prefix: string, number: number): string => mintedId(prefix, update, number);
/** The id of a try to publish weights. */
export const publicationIdOf = (prefix: string, number: number): string => mintedId(prefix, publication, number);

/** Whether an update id that is not live can have been minted earlier. */
export const wasUpdate = (state: PipeliningState, id: string): boolean =>
  wasMinted(state, id, state.nextUpdate, update);
/** Whether the id of a publication that is not under way can have been minted earlier. */
export const wasPublication = (state: PipeliningState, id: string): boolean =>
  wasMinted(state, id, state.nextPublication, publication);
