/** The log of events and decisions, for people and for replay. Sessions never wait for the log. */
import type { AnyDecision } from '../../core/machine/definition.ts';
import type { Snapshot } from '../../core/machine/snapshot.ts';
import type { LooseEvent } from '../../core/machine/start.ts';
import type { PolicyError } from '../../errors.ts';
import type { WatchdogNotice } from '../../policies/watchdog/index.ts';

/** A session from the point of view of its log. */
export interface LoggedSession {
  /** Id of the session. */
  readonly id: string;
  /** How its decisions are delivered: in answers, or as a stream to subscribers. */
  readonly deliver: 'reply' | 'stream';
  /** Who fires the timers. */
  readonly timers: 'host' | 'server';
  /** Whether the host makes the decisions itself, and the policy only runs in shadow mode. */
  readonly shadow: boolean;
  /** Number of ids in flight; a snapshot contains each of them. */
  readonly inFlight: number;
  /** The session's policy, whose snapshot goes into the log. */
  readonly policy: {
    readonly id: string;
    readonly version: number;
    readonly seq: number;
    /** Returns the current state. */
    snapshot(): Snapshot;
  };
}

/** The log of one session. Its methods never throw and never wait. */
export interface SessionDecisionLog {
  /** Called before every change of the session, so that a snapshot in the log is older than the change. */
  before(): void;
  /** Logs an event that was applied. */
  applied(event: LooseEvent, decisions: readonly AnyDecision[], producer: string | undefined): void;
  /** Logs a decision that the host made itself, in shadow mode. */
  decided(at: number, decision: { readonly type: string }, producer: string | undefined): void;
  /** Logs an event that was refused. */
  refused(error: PolicyError, producer: string | undefined): void;
  /** Logs a notice of the watchdog, if the server watches its sessions. */
  owes?(notice: WatchdogNotice): void;
  /** Logs that the session is closed, or that the server stops and keeps the session. */
  closed(reason: 'closed' | 'replaced' | 'stopped'): void;
}

/** A log of decisions. */
export interface DecisionLog {
  /** Returns the log of a session that is opened or restored. */
  of(session: LoggedSession): SessionDecisionLog;
}

/** A log that passes everything on to two. */
export function both(one: DecisionLog, other: DecisionLog): DecisionLog {
  return {
    of(session) {
      const [first, second] = [one.of(session), other.of(session)];
      return {
        before() {
          first.before();
          second.before();
        },
        applied(event, decisions, producer) {
          first.applied(event, decisions, producer);
          second.applied(event, decisions, producer);
        },
        decided(at, decision, producer) {
          first.decided(at, decision, producer);
          second.decided(at, decision, producer);
        },
        refused(error, producer) {
          first.refused(error, producer);
          second.refused(error, producer);
        },
        owes(notice) {
          first.owes?.(notice);
          second.owes?.(notice);
        },
        closed(reason) {
          first.closed(reason);
          second.closed(reason);
        },
      };
    },
  };
}

const nothing = (): void => undefined;
const noLines: SessionDecisionLog = Object.freeze({
  before: nothing,
  applied: nothing,
  decided: nothing,
  refused: nothing,
  closed: nothing,
});

/** A log that drops everything. */
export const noDecisionLog: DecisionLog = Object.freeze({ of: () => noLines });
