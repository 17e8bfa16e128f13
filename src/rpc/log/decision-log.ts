/** The log of events and decisions, for people and for replay. No session waits for it. */
import type { AnyDecision } from '../../core/definition.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { LooseEvent } from '../../core/start.ts';
import type { PolicyError } from '../../errors.ts';

/** A session as its log sees it. */
export interface LoggedSession {
  /** Id of the session. */
  readonly id: string;
  /** Delivery of its decisions: in the answer, or as a stream to subscribers. */
  readonly deliver: 'reply' | 'stream';
  /** Side that fires its timers. */
  readonly timers: 'host' | 'server';
  /** Whether its policy runs beside a host that decides by itself. */
  readonly shadow: boolean;
  /** Ids in flight: a snapshot has each of them. */
  readonly inFlight: number;
  /** Its policy, whose snapshot goes into the log. */
  readonly policy: {
    readonly id: string;
    readonly version: number;
    readonly seq: number;
    /** Returns the current state. */
    snapshot(): Snapshot;
  };
}

/** The log of one session. No call throws, and none waits. */
export interface SessionDecisionLog {
  /** Called before every change of the session, so that its snapshot precedes the change in the log. */
  before(): void;
  /** Logs an event that was applied. */
  applied(event: LooseEvent, decisions: readonly AnyDecision[], producer: string | undefined): void;
  /** Logs a decision of the host itself, in shadow mode. */
  decided(at: number, decision: { readonly type: string }, producer: string | undefined): void;
  /** Logs an event that was refused. */
  refused(error: PolicyError, producer: string | undefined): void;
  /** Logs that the session is closed, or stops with a server that keeps it. */
  closed(reason: 'closed' | 'replaced' | 'stopped'): void;
}

/** A log of decisions. */
export interface DecisionLog {
  /** Returns the log of a session that is opened or restored. */
  of(session: LoggedSession): SessionDecisionLog;
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
