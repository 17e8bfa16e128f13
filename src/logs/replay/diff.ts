/** Compares one session in two logs: the first event or decision that differs, and what followed in each log. */

import type { AnyDecision } from '../../core/machine/definition.ts';
import type { LooseEvent } from '../../core/machine/start.ts';
import type { LogLineOf, ReadLine } from '../format/decision-log.ts';
import { type DecisionDifference, differencesOf, type FieldPair, fieldPairs } from './differences.ts';
import { type FollowedPair, Following } from './followed.ts';
import { type LoggedEvent, SessionEvents } from './session-events.ts';

/** The same event in both logs. */
export interface EventPair {
  /** Number of the event in its session, from 1. */
  readonly seq: number;
  /** The event in the first log, with its place; null if that log has ended. */
  readonly one: { readonly where: string; readonly event: LooseEvent } | null;
  /** The event in the second log, with its place; null if that log has ended. */
  readonly other: { readonly where: string; readonly event: LooseEvent } | null;
}

/** The point at which two logs part: from there on they are two different runs. */
export interface Parting extends EventPair {
  /**
   * `event`: the hosts have sent different events; `decision`: the decisions on the same event differ; `end`: one log ends
   */
  readonly kind: 'event' | 'decision' | 'end';
  /** The decisions that differ; empty unless `kind` is `decision`. */
  readonly differences: readonly DecisionDifference[];
}

/** Result of comparing one session in two logs. */
export interface LogDiff {
  /** Configuration fields that differ, if both logs begin with a snapshot. */
  readonly config: readonly FieldPair[];
  /** Whether both logs begin with the same state; null if one begins without a snapshot. */
  readonly isSameStart: boolean | null;
  /** Number of events on which both logs agree, apart from times and from numbers in reasons. */
  readonly sameEvents: number;
  /** Number of the first event whose times differ; null without one. */
  readonly timesDifferFrom: number | null;
  /** Number of decisions before the logs part that differ only in their reasons. */
  readonly reasons: number;
  /** The first of these decisions; null without one. */
  readonly firstReason: (EventPair & { readonly difference: DecisionDifference }) | null;
  /** Number of events before the logs part that only one log has, because the other has a gap there. */
  readonly unpaired: { readonly one: number; readonly other: number };
  /** The point at which the logs part; null if they do not. */
  readonly parted: Parting | null;
  /** What followed in each log from that point on. */
  readonly followed: FollowedPair;
}

type Opening = LogLineOf<'session'>;

/** Fields of decisions that are points in time. */
const times: ReadonlySet<string> = new Set(['at', 'fireAtSeconds', 'openedSeconds', 'sinceSeconds']);

/** A decision with its times relative to its own time, to a microsecond, because clocks differ between runs. */
function timeless(decision: AnyDecision): AnyDecision {
  const text = JSON.stringify(decision, (key, value: unknown) =>
    times.has(key) && typeof value === 'number' ? Math.round((value - decision.at) * 1e6) / 1e6 : value,
  );
  return JSON.parse(text) as AnyDecision;
}

/** Returns how the decisions on an event differ, apart from clocks. */
function differing(one: LoggedEvent, other: LoggedEvent): DecisionDifference[] {
  if (JSON.stringify(one.decisions) === JSON.stringify(other.decisions)) return [];
  return differencesOf(one.decisions.map(timeless), other.decisions.map(timeless));
}

const pairOf = (one: LoggedEvent | undefined, other: LoggedEvent | undefined): EventPair => ({
  seq: (one ?? other)!.seq,
  one: one === undefined ? null : { where: one.where, event: one.event },
  other: other === undefined ? null : { where: other.where, event: other.event },
});

/**
 * Compares a session in two logs, event by event.
 *
 * @param first - the lines of one session of one log
 * @param second - the lines of the session to compare it with
 */
export function diffLogs(first: Iterable<ReadLine>, second: Iterable<ReadLine>): LogDiff {
  const [left, right] = [new SessionEvents(first), new SessionEvents(second)];
  const following = new Following();
  const unpaired = { one: 0, other: 0 };
  let [sameEvents, reasons] = [0, 0];
  let timesDifferFrom: number | null = null;
  let firstReason: LogDiff['firstReason'] = null;
  let parted: Parting | null = null;
  let [one, other] = [left.next(), right.next()];
  while (one !== undefined && other !== undefined && parted === null) {
    const order = one.life - other.life || one.seq - other.seq;
    if (order !== 0) {
      unpaired[order < 0 ? 'one' : 'other'] += 1;
      following.before(order < 0 ? 'one' : 'other', order < 0 ? one : other);
      if (order < 0) one = left.next();
      else other = right.next();
      continue;
    }
    const pair = pairOf(one, other);
    const fields = fieldPairs(one.event, other.event).flatMap(({ path, isSame }) => (isSame ? [] : [path]));
    const all = differing(one, other);
    const differences = all.filter(({ kind }) => kind !== 'explained');
    if (fields.some((path) => path !== 'at')) parted = { ...pair, kind: 'event', differences: [] };
    else if (differences.length > 0) parted = { ...pair, kind: 'decision', differences: all };
    if (parted !== null) break;
    sameEvents += 1;
    if (fields.length > 0) timesDifferFrom ??= one.seq;
    reasons += all.length;
    if (all.length > 0) firstReason ??= { ...pair, difference: all[0]! };
    following.before('one', one);
    following.before('other', other);
    [one, other] = [left.next(), right.next()];
  }
  if (parted === null && (one ?? other) !== undefined) parted = { ...pairOf(one, other), kind: 'end', differences: [] };
  for (; one !== undefined; one = left.next()) following.after('one', one);
  for (; other !== undefined; other = right.next()) following.after('other', other);
  const start = comparedStarts(left.opening, right.opening);
  const followed = following.result();
  return { ...start, sameEvents, timesDifferFrom, reasons, firstReason, unpaired, parted, followed };
}

function comparedStarts(one: Opening | undefined, other: Opening | undefined): Pick<LogDiff, 'config' | 'isSameStart'> {
  const [a, b] = [one?.snapshot, other?.snapshot];
  if (!a || !b) return { config: [], isSameStart: null };
  const { config, ...state } = a;
  const { config: otherConfig, ...otherState } = b;
  return {
    config: fieldPairs(config as object, otherConfig as object).filter(({ isSame }) => !isSame),
    isSameStart: JSON.stringify({ ...state, at: 0 }) === JSON.stringify({ ...otherState, at: 0 }),
  };
}
