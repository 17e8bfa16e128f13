/** The decision log of an engine without files, whose lines the host writes. */
import type { Clock } from '../core/machine/clock.ts';
import type { DecisionLog, LoggedSession, SessionDecisionLog } from '../logs/write/decision-log.ts';
import { SessionLines } from '../logs/write/session-lines.ts';
import { type LogFilesHost, type LogOutput, LogWriter } from '../logs/write/writer.ts';

/** Start options of a log that the host writes. */
export interface HostLogOptions {
  readonly logDir: string;
  /** Name of the run. */
  readonly run: string;
  /** Number of the last log file in the directory; 0 without one. */
  readonly last: number;
}

/** The host's report on the lines that it has taken. */
export interface Written {
  readonly lines: number;
  /** Bytes of these lines, including lines that could not be written. */
  readonly bytes: number;
  readonly failed?: {
    readonly message: string;
    readonly lines: number;
    /** The file that could not be written. */
    readonly file: number;
    /** Number of the last log file in the directory. */
    readonly last: number;
  };
}

const encoder = new TextEncoder();
const ascii = /^[\0-\x7f]*$/;

class HostFiles implements LogOutput {
  number: number;
  isOpen = false;
  waitingBytes = 0;
  readonly #host: LogFilesHost;
  #texts: string[] = [];

  constructor(last: number, host: LogFilesHost) {
    this.number = last;
    this.#host = host;
  }

  next(): void {
    this.number += 1;
    this.isOpen = true;
    this.#texts.push(`\x1e${this.number}\n`);
  }

  write(text: string, _: number, bytes: number): void {
    this.waitingBytes += bytes;
    this.#texts.push(text);
  }

  end(): void {
    this.isOpen = false;
  }

  take(): string {
    const text = this.#texts.join('');
    this.#texts = [];
    return text;
  }

  written({ lines, bytes, failed }: Written): void {
    this.waitingBytes -= bytes;
    if (lines > 0) this.#host.wrote(lines, bytes);
    if (failed === undefined) return;
    const isCurrent = this.isOpen && failed.file === this.number;
    if (isCurrent) {
      this.isOpen = false;
      this.number = Math.max(this.number, failed.last);
    }
    this.#host.failed(new Error(failed.message), failed.lines, isCurrent);
  }
}

/** A log whose lines the host takes and writes when it wants to. */
export class HostDecisionLog implements DecisionLog {
  readonly #writer: LogWriter;
  #files!: HostFiles;
  #flush: (() => void) | undefined;

  /** Throws `invalid_config`. */
  constructor({ logDir, run, last }: HostLogOptions, version: string, clock: Clock) {
    const open = (_: string, __: number, host: LogFilesHost) => (this.#files = new HostFiles(last, host));
    const byteLength = (text: string): number => (ascii.test(text) ? text.length : encoder.encode(text).length);
    const soon = (flush: () => void): void => void (this.#flush = flush);
    this.#writer = new LogWriter({ logDir }, { version, clock }, { run, open, byteLength, soon });
  }

  of(session: LoggedSession): SessionDecisionLog {
    return new SessionLines(session, this.#writer);
  }

  /**
   * Returns the lines to write: first those for the open file; then, for each new file, a record separator, a line with the number
   * of the file, and its lines.
   *
   * @param written - report on the lines written since the last call
   */
  take(written: Written | undefined): string {
    if (written !== undefined) this.#files.written(written);
    this.#flush?.();
    this.#flush = undefined;
    return this.#files.take();
  }
}
