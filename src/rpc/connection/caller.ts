/** Callers of methods; a caller can also read streams. */
import type { Session } from '../session/session.ts';
import type { SessionReader } from '../session/sessions.ts';
import type { Turns } from '../session/turns.ts';

/** A connection, or a caller in the same process. */
export interface Caller extends SessionReader {
  subscribe(session: Session, after: number | undefined, types: readonly string[] | undefined): void;
  unsubscribe(session: Session): void;
}

/** Context of a call, passed to its method. */
export interface CallContext {
  readonly connection: Caller;
  /** Aborted when the caller is gone. Callers that wait for plans have such a signal. */
  readonly signal?: AbortSignal | undefined;
  /** Present if a call may pause, and return a promise. */
  readonly turns?: Turns | undefined;
}
