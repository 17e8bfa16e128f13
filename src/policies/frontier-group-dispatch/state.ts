/** The state of frontier-group-dispatch: rounds, groups, and a request for each place of a group. */

import { z } from 'zod';
import { IndexedHeap } from '../../core/collections/heap.ts';
import { prefixes } from '../../core/ids/minted-ids.ts';
import { mostRecent, recentIds } from '../../core/ids/recent-ids.ts';
import type { Context, Live } from '../../core/machine/definition.ts';
import { derived, mapBy } from '../../core/machine/state.ts';
import type {
  FrontierGroupDispatchConfig,
  FrontierGroupDispatchDecision,
} from '../../generated/settings/frontier-group-dispatch.ts';
import { count, positiveCount, promptId, ref, requestId, roundId, seconds } from '../../schemas/units.ts';
import { beginRound, mark, newPace, noMark, paceSchema } from './pace.ts';

/**
 * `waiting`: waits for admission; `admitted`: runs; `aborting`: runs, but must stop; `completed`; `open`: has ended, and a retry is
 * awaited; `gone`: has ended for good.
 */
const requestStatus = z.enum(['waiting', 'admitted', 'aborting', 'completed', 'open', 'gone']);
export type RequestStatus = z.output<typeof requestStatus>;

const request = z.strictObject({
  requestId,
  index: count,
  status: requestStatus,
  /** Whether the request is held: no decision has named its end yet. */
  isHeld: z.boolean(),
  /** Tokens of the response, once completed. */
  tokens: count,
  /** Readings of the clock at the admission. */
  mark,
  group: derived<Group>(),
});
export interface Request extends z.output<typeof request> {}

const group = z.strictObject({
  promptId,
  roundId,
  order: count,
  seq: count,
  /** The reference that the host has attached to the prompt. */
  ref: ref.optional(),
  /** Time at which the group came into service, in seconds; `null` while it is deferred. */
  since: seconds.nullable(),
  /** Whether no more requests come, so that the group leaves when none of its requests waits or runs. */
  isClosing: z.boolean(),
  /** The latest request for each index, in the order of first requests. */
  places: z.array(request),
  round: derived<Round>(),
  /** Requests that wait or run. */
  unfinished: derived(() => 0),
  completed: derived(() => 0),
  gone: derived(() => 0),
  /** The group's part of `FrontierState.owed`. */
  owed: derived(() => 0),
  heapIndex: derived(() => -1),
});
export interface Group extends z.output<typeof group> {}

const round = z.strictObject({
  roundId,
  /** Number in the order of beginning; rounds are served in this order. */
  ordinal: count,
  /** Order for the next group whose requests give no order. */
  nextOrder: count,
  groups: derived(() => new Set<Group>()),
  /** Position among the rounds without groups. */
  heapIndex: derived(() => -1),
});
export interface Round extends z.output<typeof round> {}

const byBeginning = (a: Round, b: Round): number => a.ordinal - b.ordinal;
export const byOrder = (a: Group, b: Group): number =>
  a.round.ordinal - b.round.ordinal || a.order - b.order || a.seq - b.seq;

export const frontierState = z.strictObject({
  rounds: mapBy('roundId', round),
  groups: mapBy('promptId', group),
  endedRounds: recentIds(roundId),
  /** The last groups that have left, by round and prompt. Not used with `awaitRetries`, which lets them come again. */
  left: recentIds(z.string()),
  pace: paceSchema,
  ...prefixes,
  width: positiveCount,
  /** The round that began last. */
  newest: roundId.nullable(),
  seq: count,
  roundSeq: count,
  /** Held requests by id: requests that are not dropped and whose group has not left. */
  requests: derived(() => new Map<string, Request>()),
  /** Unfinished rounds without groups; the oldest is forgotten first. */
  empty: derived(() => new IndexedHeap<Round>(byBeginning)),
  /** Groups with requests that wait for a slot, lowest order first. */
  deferred: derived(() => new IndexedHeap<Group>(byOrder)),
  /** Groups in service without running requests, which wait for retries. Other groups may take their slots. */
  idle: derived(() => new Set<Group>()),
  /** Number of requests, of groups in service, that run or are still to come. */
  owed: derived(() => 0),
  inService: derived(() => 0),
});
export type FrontierState = Live<z.output<typeof frontierState>, FrontierGroupDispatchConfig>;
export type SavedFrontier = z.input<typeof frontierState>;
/** The context through which handlers emit decisions. */
export type Ctx = Context<FrontierGroupDispatchDecision>;

/** Returns the number of groups that `auto` begins with. */
export function startWidth({ startRequests, responsesPerPrompt }: FrontierGroupDispatchConfig): number {
  return Math.max(1, Math.floor(startRequests / responsesPerPrompt));
}

export function begin(config: FrontierGroupDispatchConfig): Partial<SavedFrontier> {
  const start = startWidth(config);
  return { prefix: config.idPrefix, pace: newPace(start), width: config.width === 'auto' ? start : config.width };
}

export function link(state: FrontierState): void {
  for (const one of state.groups.values()) linkGroup(state, one);
  for (const one of state.rounds.values()) if (one.groups.size === 0) state.empty.update(one);
}

function linkGroup(state: FrontierState, one: Group): void {
  one.round = state.rounds.get(one.roundId)!;
  one.round.groups.add(one);
  for (const each of one.places) {
    each.group = one;
    if (each.isHeld) state.requests.set(each.requestId, each);
    if (isUnfinished(each)) one.unfinished += 1;
    else if (each.status === 'completed') one.completed += 1;
    else if (each.status === 'gone') one.gone += 1;
  }
  if (one.since !== null) state.inService += 1;
  update(state, one);
}

function newGroup(promptId: string, round: Round, order: number, seq: number): Group {
  return {
    promptId,
    roundId: round.roundId,
    order,
    seq,
    since: null,
    isClosing: false,
    places: [],
    round,
    unfinished: 0,
    completed: 0,
    gone: 0,
    owed: 0,
    heapIndex: -1,
  };
}

function newRound(roundId: string, ordinal: number): Round {
  return { roundId, ordinal, nextOrder: 0, groups: new Set(), heapIndex: -1 };
}

export function newRequest(requestId: string, group: Group, index: number): Request {
  return { requestId, index, status: 'waiting', isHeld: true, tokens: 0, mark: noMark, group };
}

/** Returns the position of an index in `places`, or −1. Requests mostly come in order, so the index itself is tried first. */
export function indexOf({ places }: Group, index: number): number {
  return places[index]?.index === index ? index : places.findIndex((one) => one.index === index);
}

/** Whether an engine runs the request. */
export const isRunning = ({ status }: Request): boolean => status === 'admitted' || status === 'aborting';

/** Whether the request waits or runs. */
export const isUnfinished = (request: Request): boolean => request.status === 'waiting' || isRunning(request);

/**
 * Updates the fields that follow from a changed group: whether it is deferred, or only waits for retries, and how many of its requests
 * run or are still to come.
 */
export function update(state: FrontierState, group: Group): void {
  const { since, unfinished, isClosing, completed, gone } = group;
  if (since === null && unfinished > 0) state.deferred.update(group);
  else state.deferred.remove(group);
  const isIdle = state.config.awaitRetries && since !== null && unfinished === 0;
  if (isIdle && group.places.some(({ status }) => status === 'open')) state.idle.add(group);
  else state.idle.delete(group);
  const toCome = isClosing ? 0 : state.config.responsesPerPrompt - completed - gone;
  const owed = since === null ? 0 : Math.max(unfinished, toCome);
  state.owed += owed - group.owed;
  group.owed = owed;
}

/** Returns the round with this id; a new round is served after all rounds that are present. */
function roundOf(state: FrontierState, roundId: string): Round {
  const known = state.rounds.get(roundId);
  if (known !== undefined) return known;
  const before = state.newest === null ? undefined : state.rounds.get(state.newest);
  const round = newRound(roundId, state.roundSeq++);
  state.rounds.set(roundId, round);
  state.newest = roundId;
  beginRound(state.pace);
  if (before !== undefined) forgetIfOver(state, before);
  return round;
}

/**
 * Forgets a round without groups if it has ended and another round has begun. Otherwise the round keeps its place, because more of
 * its requests may come. Hosts need not report the end of a round, so the number of rounds without groups is limited.
 */
export function forgetIfOver(state: FrontierState, round: Round): void {
  if (round.groups.size > 0) return;
  if (round.roundId !== state.newest && state.endedRounds.has(round.roundId)) return forget(state, round);
  state.empty.update(round);
  if (state.empty.size > mostRecent) forget(state, state.empty.peek()!);
}

function forget(state: FrontierState, round: Round): void {
  state.empty.remove(round);
  state.rounds.delete(round.roundId);
}

/** Ends a round: it takes no more requests. */
export function endRound(state: FrontierState, roundId: string): void {
  state.endedRounds.add(roundId);
  const round = state.rounds.get(roundId);
  if (round !== undefined) forgetIfOver(state, round);
}

/** Returns the group of a prompt, or a new one. */
export function groupOf(state: FrontierState, promptId: string, roundId: string, order: number | undefined): Group {
  const known = state.groups.get(promptId);
  if (known !== undefined) return known;
  const round = roundOf(state, roundId);
  const groupOrder = order ?? round.nextOrder;
  round.nextOrder = Math.max(round.nextOrder, groupOrder + 1);
  const group = newGroup(promptId, round, groupOrder, state.seq++);
  state.groups.set(promptId, group);
  round.groups.add(group);
  state.empty.remove(round);
  if (round.roundId === state.newest) state.pace.round.groups += 1;
  return group;
}
