/** The decision log of `rollflex serve --log-dir`. */
import type { DecisionLog, LoggedSession, SessionDecisionLog } from './decision-log.ts';
import type { DecisionLogOptions } from './options.ts';
import { SessionLines } from './session-lines.ts';
import { type DecisionLogHost, LogWriter } from './writer.ts';

/**
 * A decision log in rotated files, written in the background. What cannot be written is dropped and counted: no session
 * waits for its log.
 */
export class FileDecisionLog implements DecisionLog {
  readonly #writer: LogWriter;

  /** Throws `invalid_config`; `invalid_input` where the directory cannot be written. */
  constructor(options: DecisionLogOptions, host: DecisionLogHost = {}) {
    this.#writer = new LogWriter(options, host);
  }

  /** The log of a session. */
  of(session: LoggedSession): SessionDecisionLog {
    return new SessionLines(session, this.#writer);
  }

  /** Writes what waits and ends the file; waits for a disk that does not answer for some seconds at most. */
  close(): Promise<void> {
    return this.#writer.close();
  }
}
