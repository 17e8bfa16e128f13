/** The decision log of `rollflex serve --log-dir`. */
import { randomUUID } from 'node:crypto';
import type { DecisionLog, LoggedSession, SessionDecisionLog } from './decision-log.ts';
import { LogFiles } from './files.ts';
import type { DecisionLogOptions } from './options.ts';
import { SessionLines } from './session-lines.ts';
import { type DecisionLogHost, LogWriter } from './writer.ts';

/** Longest time that a stopping server waits for a disk that does not respond. */
const closeMilliseconds = 5000;

/**
 * A decision log in rotated files, written in the background. Lines that cannot be written are dropped and counted; sessions never
 * wait for the log.
 */
export class FileDecisionLog implements DecisionLog {
  readonly #writer: LogWriter;
  #files!: LogFiles;

  /** Throws `invalid_config`; `invalid_input` if the directory cannot be written. */
  constructor(options: DecisionLogOptions, host: DecisionLogHost = {}) {
    this.#writer = new LogWriter(options, host, {
      run: randomUUID(),
      open: (directory, most, logHost) => (this.#files = new LogFiles(directory, most, logHost)),
      byteLength: (text) => Buffer.byteLength(text),
      soon: setImmediate,
    });
  }

  /** Returns the log of a session. */
  of(session: LoggedSession): SessionDecisionLog {
    return new SessionLines(session, this.#writer);
  }

  /** Writes the queued lines and ends the file; waits at most 5 seconds for a disk that does not respond. */
  async close(): Promise<void> {
    this.#writer.close();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((done) => (timer = setTimeout(done, closeMilliseconds)));
    await Promise.race([this.#files.settled, late]);
    clearTimeout(timer);
  }
}
