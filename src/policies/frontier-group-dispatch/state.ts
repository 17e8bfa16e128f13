/** What the admission holds: rounds, groups, and a request for each place of a group. */
import { IndexedHeap } from '../../core/heap.ts';
import { RecentIds } from '../../core/recent-ids.ts';
import { type Mark, noMark } from './clock.ts';
import { newPace, type Pace } from './pace.ts';
import type { FrontierConfig } from './schema.ts';

/**
 * `waiting` for admission; `admitted`, so that it runs; `aborting`: it runs, and was told to stop; `completed`; `open`: it
 * has ended and another is awaited; `gone`: it has ended for good.
 */
export type RequestStatus = 'waiting' | 'admitted' | 'aborting' | 'completed' | 'open' | 'gone';

export interface Request {
  readonly requestId: string;
  readonly group: Group;
  readonly index: number;
  status: RequestStatus;
  /** Whether no decision has named its end yet. */
  isHeld: boolean;
  /** Tokens of the response, once it is completed. */
  tokens: number;
  /** Of its admission. */
  mark: Mark;
}

export interface Round {
  readonly roundId: string;
  /** Rounds are served in the order in which they began. */
  readonly ordinal: number;
  readonly groups: Set<Group>;
  /** Order of the next group that brings none. */
  nextOrder: number;
  /** Among rounds without groups. */
  heapIndex: number;
}

export interface Group {
  readonly promptId: string;
  round: Round;
  readonly order: number;
  readonly seq: number;
  /** One for each index, in the order in which the first of each came; a later one stands in its stead. */
  readonly places: Request[];
  /** What the host has attached to its prompt. */
  ref?: string;
  /** When it came into service, in seconds; `null` while it is deferred. */
  since: number | null;
  /** Nothing more comes: it leaves as soon as nothing of it waits or runs. */
  isClosing: boolean;
  /** Requests that wait or run. */
  unfinished: number;
  completed: number;
  gone: number;
  /** What it adds to `FrontierState.owed`. */
  owed: number;
  heapIndex: number;
}

export interface FrontierState {
  readonly config: FrontierConfig;
  readonly requests: Map<string, Request>;
  readonly groups: Map<string, Group>;
  readonly rounds: Map<string, Round>;
  readonly endedRounds: RecentIds;
  /** Rounds without groups that have not ended: the first one to begin is the first to be forgotten. */
  readonly empty: IndexedHeap<Round>;
  /** Groups that have left last, by round and prompt; without `awaitRetries`, which lets them come again. */
  readonly left: RecentIds;
  /** Groups with requests that wait for a slot, lowest order first. */
  readonly deferred: IndexedHeap<Group>;
  /** Requests of groups in service that run or are still to come. */
  owed: number;
  readonly pace: Pace;
  readonly oldPrefixes: string[];
  prefix: string;
  width: number;
  inService: number;
  /** Round that began last. */
  newest: Round | null;
  seq: number;
  roundSeq: number;
}

const byBeginning = (a: Round, b: Round): number => a.ordinal - b.ordinal;
const byOrder = (a: Group, b: Group): number => a.round.ordinal - b.round.ordinal || a.order - b.order || a.seq - b.seq;

/** Groups that `auto` begins with. */
export function startWidth({ startRequests, responsesPerPrompt }: FrontierConfig): number {
  return Math.max(1, Math.floor(startRequests / responsesPerPrompt));
}

export function newState(config: FrontierConfig): FrontierState {
  const start = startWidth(config);
  return {
    config,
    requests: new Map(),
    groups: new Map(),
    rounds: new Map(),
    endedRounds: new RecentIds(),
    empty: new IndexedHeap(byBeginning),
    left: new RecentIds(),
    deferred: new IndexedHeap(byOrder),
    owed: 0,
    pace: newPace(start),
    oldPrefixes: [],
    prefix: config.idPrefix,
    width: config.width === 'auto' ? start : config.width,
    inService: 0,
    newest: null,
    seq: 0,
    roundSeq: 0,
  };
}

export function newGroup(promptId: string, round: Round, order: number, seq: number): Group {
  return {
    promptId,
    round,
    order,
    seq,
    places: [],
    since: null,
    isClosing: false,
    unfinished: 0,
    completed: 0,
    gone: 0,
    owed: 0,
    heapIndex: -1,
  };
}

export function newRound(roundId: string, ordinal: number): Round {
  return { roundId, ordinal, groups: new Set(), nextOrder: 0, heapIndex: -1 };
}

/** Where the request of an index stands; −1 if there is none. They mostly come in order. */
export function placeOf({ places }: Group, index: number): number {
  return places[index]?.index === index ? index : places.findIndex((one) => one.index === index);
}

export function newRequest(requestId: string, group: Group, index: number): Request {
  return { requestId, group, index, status: 'waiting', isHeld: true, tokens: 0, mark: noMark };
}

/** Whether an engine has it. */
export const isRunning = ({ status }: Request): boolean => status === 'admitted' || status === 'aborting';

/** Whether it waits or runs. */
export const isUnfinished = (request: Request): boolean => request.status === 'waiting' || isRunning(request);

/** Brings up to date what follows from a group that has changed: whether it stands in line, and what is owed of it. */
export function update(state: FrontierState, group: Group): void {
  const { since, unfinished, isClosing, completed, gone } = group;
  if (since === null && unfinished > 0) state.deferred.update(group);
  else state.deferred.remove(group);
  const toCome = isClosing ? 0 : state.config.responsesPerPrompt - completed - gone;
  const owed = since === null ? 0 : Math.max(unfinished, toCome);
  state.owed += owed - group.owed;
  group.owed = owed;
}
