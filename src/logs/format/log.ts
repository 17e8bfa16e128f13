/** A log that can be asked: the state at any event, the lines that mention an id, and what is missing. */
import type { SessionPlay } from '../replay/play.ts';
import type { LogGap } from '../replay/replay-log.ts';
import type { LogLineOf, ReadLine } from './decision-log.ts';

/** A session of a log. */
export interface LoggedSession {
  /**
   * Its name: its id; empty for the session of an event log. Of several sessions with one id the last has the id, and those before it
   * the id and the number of their opening: `job@1`, `job@2`.
   */
  readonly session: string;
  /** Number among the sessions with its id, from 0. */
  readonly run: number;
  /** Whether it is the last of the sessions with its id. */
  readonly isLast: boolean;
  /** Id of its policy. */
  readonly policy: string;
  /** Events before the first one of the log. */
  readonly first: number;
  /** Number of its last event. */
  readonly seq: number;
  /** Its latest time, in seconds on its own clock. */
  readonly at: number;
  /** The same at the end of the log, when other sessions may have gone on. */
  readonly end: number;
  /** Events that the log lacks. */
  readonly gaps: readonly LogGap[];
  /** How it ended, if it did. */
  readonly closed: 'closed' | 'replaced' | 'stopped' | undefined;
  /** Why this version cannot play it at its end. */
  readonly problem: string | undefined;
  /** The first event on which this version decides otherwise than the log. */
  readonly differs: number | undefined;
}

/** An event of a session, with its decisions. */
export type FoundLine = LogLineOf<'event'>;

/** A place in a session: after an event, or at a time of the session's clock, in seconds. */
export type Place = { readonly seq: number } | { readonly at: number };

/** A part of a log with events of a session. */
export interface LineBlock {
  /** Whether its text may contain another one: a search passes over a block that cannot. */
  mayHave(text: string): boolean;
  /** The events of the session in it. */
  events(): FoundLine[];
}

/** What a log lacks as a whole. */
export interface LogLacks {
  /** Lines that the server reports as dropped. */
  readonly droppedLines: number;
  /** Files that end in the middle of a line. */
  readonly tornFiles: number;
}

/** A log, of a program (`recordEvents`) or of a server. */
export interface Log {
  /** `events`: of a program, with one session; `decisions`: of a server. */
  readonly kind: 'events' | 'decisions';
  /** The sessions, those with one id beside each other, in the order in which these begin. */
  readonly sessions: readonly LoggedSession[];
  /** What it lacks as a whole. */
  readonly lacks: LogLacks;
  /** Reads its lines from the beginning. */
  lines(): Iterable<ReadLine>;
  /**
   * Returns a session at a place. The result is good until the next call.
   *
   * @internal
   * @throws PolicyError `unknown_id` for a session that is not in the log
   */
  stateAt(session: string, place: Place): SessionPlay;
  /**
   * Returns the blocks with events of a session, in the order in which they are met from an event on.
   *
   * @internal
   * @param from - number of an event: the first block may have it
   * @param back - whether to go back
   * @param id - only those that mention this id
   */
  blocksOf(session: string, from: number, back: boolean, id?: string): Iterable<LineBlock>;
  /**
   * Returns the events of a session that mention an id, or whose decisions do, newest first.
   *
   * @param until - number of the last event to look at
   */
  linesOf(session: string, id: string, until?: number): Iterable<FoundLine>;
  /** Whether the log mentions an id. */
  hasId(id: string): boolean;
  /** Returns the id of the log that is nearest to one that it does not have. */
  nearestId(id: string): string | undefined;
  /** Reads what was added to it. Returns whether there was something. */
  refresh(): boolean;
  /** Ends its use. */
  close(): void;
}
