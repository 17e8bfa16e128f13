/** Replays a decision log: every session from its snapshots, decision by decision, with a list of the gaps. */
import { isPolicyError, refuse } from '../errors.ts';
import type { LogLineOf, ReadLine } from './decision-log.ts';
import type { AnyDecision } from './definition.ts';
import type { Policy } from './policy.ts';
import type { LooseEvent } from './start.ts';

type AnyPolicy = Policy<unknown, unknown, LooseEvent, AnyDecision, unknown>;

/** Events that are missing from the log: the server dropped them, or their file was deleted. */
export interface LogGap {
  /** The line before which the events are missing. */
  readonly where: string;
  /** Number of the first missing event. */
  readonly from: number;
  /** Number of the last missing event. */
  readonly to: number;
}

/** An event whose decisions were not those of the log. */
export interface LogDifference {
  /** File and line of the logged decisions, as `name:line`. */
  readonly where: string;
  /** Number of the event in its session, from 1. */
  readonly seq: number;
  /** The event whose decisions differ. */
  readonly event: LooseEvent;
  /** The decisions of the log, as JSON. */
  readonly logged: string;
  /** The decisions of this version, as JSON. */
  readonly replayed: string;
}

/** Result of replaying one session. */
export interface SessionReplay {
  /** Id of the session. */
  readonly session: string;
  /** Id of its policy. */
  readonly policy: string;
  /** Events that were replayed. */
  events: number;
  /** Decisions of these events. */
  decisions: number;
  /** Events of the log that cannot be replayed because no earlier snapshot is there. */
  unplayed: number;
  /** Events that are missing from the log. */
  readonly gaps: LogGap[];
  /** The first difference. */
  difference?: LogDifference;
}

/** Result of replaying a log. */
export interface LogReplay {
  /** The sessions of the log, in the order in which they were opened. */
  readonly sessions: readonly SessionReplay[];
  /** Lines that the server reports as dropped. */
  readonly droppedLines: number;
  /** Files whose last line is cut off. */
  readonly tornFiles: number;
}

interface Playing {
  readonly found: SessionReplay;
  policy: AnyPolicy | undefined;
  /** Number of the last event of the session that was read, or that is known to be missing. */
  seq: number;
}

/**
 * Replays a log and compares every decision.
 *
 * @param restore - makes a policy from a snapshot
 * @param only - the session to replay; all if absent
 * @throws PolicyError `invalid_input` for lines out of order; `unknown_id` if the log has no such session; errors of
 *   `restore`
 */
export function replayLog(
  lines: Iterable<ReadLine>,
  restore: (snapshot: unknown) => AnyPolicy,
  only?: string,
): LogReplay {
  const sessions = new Map<string, Playing>();
  let [droppedLines, tornFiles] = [0, 0];
  for (const { where, line } of lines) {
    if (line === 'torn') tornFiles += 1;
    else if (line.kind === 'dropped') droppedLines += line.lines;
    else if (line.kind === 'log' || (only !== undefined && line.session !== only)) continue;
    else if (line.kind === 'session') begin(sessions, line, where, restore);
    else if (line.kind === 'event') play(sessions.get(line.session), line, where);
    else if (line.kind === 'closed') end(sessions.get(line.session), line, where);
  }
  if (only !== undefined && sessions.size === 0) refuse('unknown_id', 'session', 'a session of the log', only);
  return { sessions: [...sessions.values()].map(({ found }) => found), droppedLines, tornFiles };
}

function begin(
  sessions: Map<string, Playing>,
  { session, policy, seq, snapshot }: LogLineOf<'session'>,
  where: string,
  restore: (snapshot: unknown) => AnyPolicy,
): void {
  let playing = sessions.get(session);
  if (playing === undefined || playing.found.policy !== policy) {
    const found: SessionReplay = { session, policy, events: 0, decisions: 0, unplayed: 0, gaps: [] };
    // A session with the same id but another policy is a different session.
    if (playing !== undefined) sessions.set(`${session}\n${sessions.size}`, playing);
    sessions.set(session, (playing = { found, policy: undefined, seq }));
  }
  miss(playing, seq, where);
  const goesOn = playing.policy?.seq === seq;
  // An older number: the session was opened anew, or a server has restarted from a state that lacks the last events before a crash.
  playing.seq = seq;
  if (snapshot !== null) playing.policy = restore(snapshot);
  else if (!goesOn) playing.policy = undefined;
}

/** Records the gap between the last known event and the one with this number, if any. */
function miss(playing: Playing, seq: number, where: string): void {
  if (seq <= playing.seq) return;
  playing.found.gaps.push({ where, from: playing.seq + 1, to: seq });
  playing.policy = undefined;
  playing.seq = seq;
}

function play(playing: Playing | undefined, line: LogLineOf<'event'>, where: string): void {
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
  const replayed = answerOf(policy, event, found);
  if (logged !== replayed) found.difference ??= { where, seq: line.seq, event, logged, replayed };
  // After a refused event the policy is behind the log.
  if (policy.seq !== line.seq) playing.policy = undefined;
}

function answerOf(policy: AnyPolicy, event: LooseEvent, found: SessionReplay): string {
  try {
    const decisions = policy.send(event);
    found.events += 1;
    found.decisions += decisions.length;
    return JSON.stringify(decisions);
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    return `refused: ${error.message} (${error.code})`;
  }
}

function end(playing: Playing | undefined, line: LogLineOf<'closed'>, where: string): void {
  if (playing === undefined) return;
  miss(playing, line.seq, where);
  // The next session with this id may begin at any number: no events are missing between the two sessions.
  playing.seq = Number.MAX_SAFE_INTEGER;
  if (line.reason !== 'stopped') playing.policy = undefined;
}
