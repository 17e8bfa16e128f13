/** Replays the sessions of a log line by line, and compares every decision with the logged one. */

import type { AnyDecision } from '../../core/machine/definition.ts';
import type { Policy } from '../../core/machine/policy.ts';
import type { LooseEvent } from '../../core/machine/start.ts';
import { isPolicyError, type PolicyError, refuse, relocated } from '../../errors.ts';
import type { LogLineOf } from '../format/decision-log.ts';
import type { DifferenceGroups } from './difference-groups.ts';
import { differencesOf } from './differences.ts';

type AnyPolicy = Policy<unknown, unknown, LooseEvent, AnyDecision, unknown>;
/** Makes a policy from a snapshot. */
export type Restore = (snapshot: unknown) => AnyPolicy;

/** Events that are missing in the log, because the server dropped them or their file was deleted. */
export interface LogGap {
  /** The line that follows the missing events. */
  readonly where: string;
  /** Number of the first missing event. */
  readonly from: number;
  /** Number of the last missing event. */
  readonly to: number;
}

/** An event whose replayed decisions differ from the log. */
export interface LogDifference {
  /** File and line of the logged decisions, as `name:line`. */
  readonly where: string;
  /** Number of the event in its session, from 1. */
  readonly seq: number;
  /** The event whose decisions differ. */
  readonly event: LooseEvent;
  /** The decisions of the log, as JSON. */
  readonly logged: string;
  /** This version's decisions, as JSON. */
  readonly replayed: string;
}

/** Result of replaying one session. */
export interface SessionReplay {
  /** Id of the session. */
  readonly session: string;
  /** Id of the policy. */
  readonly policy: string;
  /** Versions of the policy in the log that are not the version here. */
  readonly otherVersions: number[];
  /** Events that were replayed. */
  events: number;
  /** Number of decisions on these events. */
  decisions: number;
  /** Events that differ. */
  differing: number;
  /**
   * Number of events that cannot be replayed, because no snapshot precedes them, or this version has refused the snapshot or a
   * later event.
   */
  unplayed: number;
  /** Snapshots and events that this version refuses; the events after each are not replayed until the next snapshot. */
  refused: number;
  /** Events that are missing from the log. */
  readonly gaps: LogGap[];
  /** The first difference. */
  difference?: LogDifference;
}

interface Playing {
  readonly found: SessionReplay;
  policy: AnyPolicy | undefined;
  /** Number of the last event that was read or is known to be missing. */
  seq: number;
  /** Whether a decision has differed since the last snapshot: later differences may be consequences. */
  hasParted: boolean;
}

/** Replays the lines of a log, session by session. */
export class Replaying {
  readonly #sessions = new Map<string, Playing>();
  readonly #groups: DifferenceGroups;
  readonly #restore: Restore;

  constructor(groups: DifferenceGroups, restore: Restore) {
    this.#groups = groups;
    this.#restore = restore;
  }

  get sessions(): SessionReplay[] {
    return [...this.#sessions.values()].map(({ found }) => found);
  }

  begin({ session, policy, version, seq, snapshot }: LogLineOf<'session'>, where: string): void {
    let playing = this.#sessions.get(session);
    if (playing === undefined || playing.found.policy !== policy) {
      const counts = { events: 0, decisions: 0, differing: 0, unplayed: 0, refused: 0 };
      const found: SessionReplay = { session, policy, otherVersions: [], ...counts, gaps: [] };
      // A session with the same id but another policy is a different session.
      if (playing !== undefined) this.#sessions.set(`${session}\n${this.#sessions.size}`, playing);
      this.#sessions.set(session, (playing = { found, policy: undefined, seq, hasParted: false }));
    }
    miss(playing, seq, where);
    const goesOn = playing.policy?.seq === seq;
    // The number is lower: the session was opened anew, or a server has restarted from a state that lacks the last events before
    // a crash.
    playing.seq = seq;
    if (snapshot === null) {
      if (!goesOn) playing.policy = undefined;
      return;
    }
    playing.hasParted = false;
    playing.policy = this.#restored(playing.found, snapshot, where);
    const { otherVersions } = playing.found;
    if (version !== playing.policy?.version && !otherVersions.includes(version)) otherVersions.push(version);
  }

  play(line: LogLineOf<'event'>, where: string): void {
    const playing = this.#sessions.get(line.session);
    const expected = (playing?.seq ?? 0) + 1;
    if (playing === undefined || line.seq < expected) {
      const what = playing === undefined ? 'the session before its events' : `event ${expected} of ${line.session}`;
      refuse('invalid_input', where, what, `event ${line.seq}`);
    }
    miss(playing, line.seq - 1, where);
    playing.seq = line.seq;
    const { found, policy } = playing;
    if (policy === undefined) {
      found.unplayed += 1;
      return;
    }
    const event = line.event as LooseEvent;
    const logged = JSON.stringify(line.decisions);
    const answer = answerOf(policy, event);
    const replayed = isPolicyError(answer) ? `refused: ${answer.message} (${answer.code})` : JSON.stringify(answer);
    if (!isPolicyError(answer)) {
      found.events += 1;
      found.decisions += answer.length;
    }
    if (logged === replayed) return;
    found.differing += 1;
    found.difference ??= { where, seq: line.seq, event, logged, replayed };
    const place = { where, session: line.session, seq: line.seq, event };
    const isOwn = !playing.hasParted;
    if (isPolicyError(answer)) {
      found.refused += 1;
      this.#groups.refused('event refused', event.type, answer, place, isOwn);
      // After a refused event the policy is behind the log.
      playing.policy = undefined;
      return;
    }
    for (const one of differencesOf(line.decisions as unknown as AnyDecision[], answer)) {
      this.#groups.differs(one, place, isOwn);
      if (one.kind !== 'explained') playing.hasParted = true;
    }
  }

  end(line: LogLineOf<'closed'>, where: string): void {
    const playing = this.#sessions.get(line.session);
    if (playing === undefined) return;
    miss(playing, line.seq, where);
    // The next session with this id may begin at any number: no events are missing between the two sessions.
    playing.seq = Number.MAX_SAFE_INTEGER;
    if (line.reason !== 'stopped') playing.policy = undefined;
  }

  #restored(found: SessionReplay, snapshot: LogLineOf<'session'>['snapshot'], where: string): AnyPolicy | undefined {
    try {
      return this.#restore(snapshot);
    } catch (error) {
      if (!isPolicyError(error)) throw error;
      if (error.code === 'unknown_id') throw relocated(error, `${where}.${error.path}`);
      const place = { where, session: found.session, seq: snapshot!.seq };
      found.refused += 1;
      this.#groups.refused('snapshot refused', found.policy, error, place, true);
      return undefined;
    }
  }
}

/** Records a gap between the last known event and the event with this number, if there is one. */
function miss(playing: Playing, seq: number, where: string): void {
  if (seq <= playing.seq) return;
  playing.found.gaps.push({ where, from: playing.seq + 1, to: seq });
  playing.policy = undefined;
  playing.seq = seq;
}

function answerOf(policy: AnyPolicy, event: LooseEvent): AnyDecision[] | PolicyError {
  try {
    return policy.send(event);
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    return error;
  }
}
