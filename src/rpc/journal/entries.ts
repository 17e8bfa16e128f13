/** State of a session that survives a crash: a snapshot, and the steps applied since. */
import type { AnyEvent } from '../../core/definition.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { PolicyError } from '../../errors.ts';
import type { SavedAnswers } from '../answers.ts';
import type { SavedProducer } from '../producers.ts';
import type { SavedStream } from '../stream.ts';
import type { ArmedTimer } from '../timers.ts';

/** Refusal of an event, as the plain data of its error. */
export type Refused = ReturnType<PolicyError['toJSON']>;

/** A call of `session.send` that has changed something. */
export interface SentEntry {
  readonly kind: 'sent';
  /** The events that were applied, with their times. */
  readonly events: readonly AnyEvent[];
  readonly producer?: string;
  /** Events that the call held, those after a refused one included. */
  readonly of: number;
  /** Refusal of the event after the last applied one. */
  readonly refused?: Refused;
}

/** A timer of the server that has fired, and whose event was applied. */
export interface FiredEntry {
  readonly kind: 'fired';
  readonly timerId: string;
  readonly at: number;
}

/** Decisions that need not be sent again. */
export interface AcknowledgedEntry {
  readonly kind: 'acknowledged';
  readonly decisionSeq: number;
}

/** One step of a session. The same steps from the same snapshot give the same session. */
export type Entry = SentEntry | FiredEntry | AcknowledgedEntry;

/** A whole session. */
export interface SavedSession {
  readonly session: string;
  readonly deliver: 'reply' | 'stream';
  readonly timers: 'host' | 'server';
  /** In shadow mode; absent otherwise. */
  readonly shadow?: boolean;
  readonly snapshot: Snapshot;
  readonly producers: readonly SavedProducer[];
  readonly answers: SavedAnswers;
  readonly armed?: readonly ArmedTimer[];
  readonly stream?: SavedStream;
}

/** Log of a session's steps, written before any answer or decision is sent. */
export interface SessionLog {
  add(entry: Entry): void;
  /** Ends the log: the session is closed. */
  end(): void;
}

/** Log of a session that does not outlive the process. */
export const noLog: SessionLog = Object.freeze({ add: () => undefined, end: () => undefined });
