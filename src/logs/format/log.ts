/** A log that can be asked: the state at any event, the lines that mention an id, and what is missing. */
import type { SessionPlay } from '../replay/play.ts';
import type { LogGap } from '../replay/replay-log.ts';
import type { LogLineOf, ReadLine } from './decision-log.ts';

/** A session of a log. */
export interface LoggedSession {
  /**
   * Name of the session: its id; empty for the session of an event log. Among several sessions with one id, the last one has the
   * id as its name, and earlier ones the id with the number of their opening: `job@1`, `job@2`.
   */
  readonly session: string;
  /** Number among the sessions with this id, from 0. */
  readonly run: number;
  /** Whether this is the last session with its id. */
  readonly isLast: boolean;
  /** Id of the policy. */
  readonly policy: string;
  /** Number of events before the first event in the log. */
  readonly first: number;
  /** Number of the last event. */
  readonly seq: number;
  /** Latest time, in seconds on the session's own clock. */
  readonly at: number;
  /** Time at the end of the log on the same clock; other sessions may have continued until then. */
  readonly end: number;
  /** Events that the log lacks. */
  readonly gaps: readonly LogGap[];
  /** How the session ended, if it did. */
  readonly closed: 'closed' | 'replaced' | 'stopped' | undefined;
  /** Why this version cannot play the session at its end. */
  readonly problem: string | undefined;
  /** Number of the first event on which this version decides differently than the log. */
  readonly differs: number | undefined;
}

/** An event of a session with its decisions. */
export type FoundLine = LogLineOf<'event'>;

/** A place in a session: after an event, or at a time of the session's clock, in seconds. */
export type Place = { readonly seq: number } | { readonly at: number };

/** A part of a log with events of a session. */
export interface LineBlock {
  /** Whether the text of the block may contain another text: a search skips blocks that cannot. */
  mayHave(text: string): boolean;
  /** The events of the session in this block. */
  events(): FoundLine[];
}

/** What a whole log lacks. */
export interface LogLacks {
  /** Lines that the server reports as dropped. */
  readonly droppedLines: number;
  /** Files that end in the middle of a line. */
  readonly tornFiles: number;
}

/** A log, of a program (`recordEvents`) or of a server. */
export interface Log {
  /** `events`: the log of a program, with one session; `decisions`: the log of a server. */
  readonly kind: 'events' | 'decisions';
  /** The sessions in the order of their beginning; sessions with one id are adjacent. */
  readonly sessions: readonly LoggedSession[];
  /** What the whole log lacks. */
  readonly lacks: LogLacks;
  /** Reads the lines from the beginning. */
  lines(): Iterable<ReadLine>;
  /**
   * Returns a session at a place. The result is good until the next call.
   *
   * @internal
   * @throws PolicyError `unknown_id` for a session that is not in the log
   */
  stateAt(session: string, place: Place): SessionPlay;
  /**
   * Returns the blocks with events of a session, in the order in which they follow an event.
   *
   * @internal
   * @param from - number of an event, which the first block may contain
   * @param back - whether to go backwards
   * @param id - only blocks that mention this id
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
  /** Returns the id in the log that is nearest to an unknown id. */
  nearestId(id: string): string | undefined;
  /** Reads lines that were added to the log. Returns whether there were any. */
  refresh(): boolean;
  /** Closes the log. */
  close(): void;
}
