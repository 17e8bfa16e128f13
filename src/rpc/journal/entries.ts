/** The part of a session that survives a crash: a snapshot, and the steps after it. */
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { Snapshot } from '../../core/machine/snapshot.ts';
import type { PolicyError } from '../../errors.ts';
import type { SavedAnswers } from '../session/answers.ts';
import type { SavedProducer } from '../session/producers.ts';
import type { SavedStream } from '../session/stream.ts';
import type { ArmedTimer } from '../session/timers.ts';

/** The error of a refused event, as plain data. */
export type Refused = ReturnType<PolicyError['toJSON']>;

/** A call of `session.send` that has changed the session. */
export interface SentEntry {
  readonly kind: 'sent';
  /** The applied events, with their times. */
  readonly events: readonly AnyEvent[];
  readonly producer?: string;
  /** Number of events in the call, including those after a refused event. */
  readonly of: number;
  /** Refusal of the event after the last applied one. */
  readonly refused?: Refused;
  readonly digest?: string;
}

/** A timer of the server that has fired and whose event was applied. */
export interface FiredEntry {
  readonly kind: 'fired';
  readonly timerId: string;
  readonly at: number;
  readonly digest?: string;
}

/** An acknowledgement of streamed decisions. */
export interface AcknowledgedEntry {
  readonly kind: 'acknowledged';
  readonly decisionSeq: number;
}

/**
 * One step of a session. A snapshot and its steps always give the same session. In the journal, a step that may lead to decisions
 * has a digest of them, except steps of format 1 and of the Python package.
 */
export type Entry = SentEntry | FiredEntry | AcknowledgedEntry;

/** A whole session. */
export interface SavedSession {
  readonly session: string;
  readonly deliver: 'reply' | 'stream';
  readonly timers: 'host' | 'server';
  /** True in shadow mode; otherwise absent. */
  readonly shadow?: boolean;
  readonly snapshot: Snapshot;
  readonly producers: readonly SavedProducer[];
  readonly answers: SavedAnswers;
  readonly armed?: readonly ArmedTimer[];
  readonly stream?: SavedStream;
  /** Steps after the snapshot, for a session that was set aside. */
  readonly aside?: AsideSteps;
}

/** Steps that no server has replayed yet, with the version that wrote them. */
export interface AsideSteps {
  readonly writer: string;
  readonly entries: readonly Entry[];
}

/** Log of a session's steps, written before any answer or decision is sent. */
export interface SessionLog {
  add(entry: Entry, decisions: readonly AnyDecision[]): void;
  /** Ends the log, because the session is closed. */
  end(): void;
}
