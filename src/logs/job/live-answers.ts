/** Answers for the page of a running job. The size of each answer is bounded, however large the job is. */
import type { WatchdogNotice } from '../../policies/watchdog/index.ts';
import type { Sender } from '../../schemas/senders.ts';
import type { Deferred } from './deferred.ts';
import type { Missed, RequestBar, Timeline } from './job-view.ts';
import type { Round } from './rounds.ts';
import type { AskedGroup, StandingGroup } from './standing.ts';

/** Answers owed to a session, as far as they were followed. */
export interface SessionLoad {
  /** Owed answers by actor, without timers. */
  readonly owed: readonly { readonly by: string; readonly count: number }[];
  /** Seconds of the longest wait, and whether it is overdue. */
  readonly longestSeconds: number;
  readonly overdue: boolean;
}

/** One session of the list. */
export interface SessionItem {
  readonly session: string;
  readonly policy: string;
  readonly seq: number;
  readonly shadow: boolean;
  /** Number of ids in flight. */
  readonly inFlight: number;
  /** Streamed decisions that nobody has acknowledged. */
  readonly backlog: number;
  readonly refused: number;
  /** Owed answers, as far as followed; null if they are not followed. */
  readonly load: SessionLoad | null;
}

/** The server's answer to `job`. */
export interface JobAnswer {
  readonly version: string;
  /** Changes with every start of the server. */
  readonly server: string;
  /** Unix times. */
  readonly startedAt: number;
  readonly now: number;
  readonly watch: boolean;
  readonly sessions: readonly SessionItem[];
  /** Number of all sessions; sessions after `next` are not listed. */
  readonly count: number;
  readonly next: string | null;
  readonly connections: number;
  /** Refused calls by code, and closed connections, since the start. */
  readonly refused: readonly { readonly code: string; readonly limit?: string; readonly count: number }[];
  readonly closed: Readonly<Record<string, number>>;
}

/** The server's answer to `session`. */
export interface SessionAnswer extends SessionItem, Census {
  /** Changes when another session takes the id. */
  readonly run: number;
  readonly deliver: string;
  readonly timers: string;
  /** Present time of the session, in seconds on its clock. */
  readonly at: number;
  readonly openedAt: number;
  /** What was followed; null before the first event, or if too many sessions are followed. */
  readonly followed: {
    /** Number of events before the first followed one. */
    readonly earlier: number;
    readonly begun: number;
    readonly missed: readonly Missed[];
    readonly totals: Readonly<Record<'events' | 'decisions' | 'completed' | 'tokens', number>>;
    readonly rounds: readonly Round[];
    readonly deferred: { readonly count: number; readonly oldest: readonly Deferred[] };
  } | null;
  readonly refusedKinds: readonly { readonly code: string; readonly path: string; readonly count: number }[];
  readonly refusedLast: readonly RefusedEvent[];
  readonly notices: readonly { readonly time: number; readonly notice: WatchdogNotice }[];
}

/** Answers to `timeline` and `requests`; null if the session is not followed. */
export type TimelineAnswer = (Timeline & { readonly run: number; readonly missed: readonly Missed[] }) | null;
export type RequestsAnswer = { readonly bars: readonly RequestBar[]; readonly of: number; readonly at: number } | null;

/** Owed answers of one kind from one actor. */
export interface OwedGroup extends Omit<AskedGroup, 'seconds'> {
  readonly who: Sender;
  /** Number of overdue answers among these. */
  readonly late: number;
  /** Seconds for which the oldest answer has been owed, if known; for a timer, seconds since it was due. */
  readonly seconds?: number;
}

/** What a policy holds, and what it is owed. */
export interface Census {
  readonly owed: readonly OwedGroup[];
  readonly held: readonly StandingGroup[];
  /** Whether the policy holds more than was counted. */
  readonly isCut: boolean;
}

/** A refused event. */
export interface RefusedEvent {
  /** Unix time of the refusal. */
  readonly time: number;
  readonly code: string;
  readonly path: string;
  readonly message: string;
  readonly producer: string | null;
}
