/** Who calls methods, and reads what is streamed. */
import type { Session } from './session.ts';
import type { SessionReader } from './sessions.ts';

/** A connection, or somebody in the same process. */
export interface Caller extends SessionReader {
  subscribe(session: Session, after: number | undefined, types: readonly string[] | undefined): void;
  unsubscribe(session: Session): void;
}

/** What a method knows of its call. */
export interface CallContext {
  readonly connection: Caller;
}
