/** Writes lines into rotated files. Lines that cannot be written are dropped and counted; sessions never wait. */

import { printable } from '../../core/ids/printable.ts';
import { type Clock, systemClock } from '../../core/machine/clock.ts';
import { parse } from '../../core/machine/validate.ts';
import { type LogLine, logFormat } from '../format/decision-log.ts';
import { type DecisionLogOptions, decisionLogSchema } from './options.ts';
import type { DropReason, LineWriter } from './session-lines.ts';

/** Dependencies and callbacks of a decision log, in addition to its options. */
export interface DecisionLogHost {
  /** Version of the package, for the first line of each file. */
  readonly version?: string;
  /** Source of the lines' times; the system clock if absent. */
  readonly clock?: Clock;
  /** Called with the number and the bytes of written lines. */
  readonly written?: (lines: number, bytes: number) => void;
  /** Called with the number of dropped lines. */
  readonly dropped?: (reason: DropReason, lines: number) => void;
  /** Called with an error when the disk refuses lines, and without an error when it accepts lines again. */
  readonly trouble?: (error: Error | undefined) => void;
}

/** Callbacks of the log files. */
export interface LogFilesHost {
  wrote(lines: number, bytes: number): void;
  /** Called when a file cannot be written: these lines are missing or incomplete, and the file is no longer current. */
  failed(error: Error, lines: number, wasCurrent: boolean): void;
}

/** Rotated files, one of which is the current file. */
export interface LogOutput {
  /** Number of the current file. */
  readonly number: number;
  /** Whether a current file is open. */
  readonly isOpen: boolean;
  /** Bytes that wait for the disk. */
  readonly waitingBytes: number;
  /** Begins the next file; pending writes to the previous file continue. */
  next(): void;
  /** Writes whole lines to the current file. */
  write(text: string, lines: number, bytes: number): void;
  /** Ends the current file. */
  end(): void;
}

/** Functions of the platform that a log needs. */
export interface LogPlatform {
  /** Name of this run of the server. */
  readonly run: string;
  /** Opens the files. Throws `invalid_input` if the directory cannot be written. */
  open(directory: string, most: number, host: LogFilesHost): LogOutput;
  /** Counts the bytes of a text in UTF-8. */
  byteLength(text: string): number;
  /** Calls back after the answers of this turn of the event loop have been sent. */
  soon(callback: () => void): void;
}

/** Largest shares of a file: for one line, and for all snapshots together. */
const [longestLine, mostSnapshots] = [1 / 4, 1 / 2];
/** Bytes of a file for lines that belong to no session, and bytes of an opening line without its snapshot. */
const headerBytes = 1024;
const [firstRetrySeconds, lastRetrySeconds] = [1, 60];
const noDrops = { waiting: 0, failed: 0, tooLong: 0 };

/** Writes the lines of all sessions. */
export class LogWriter implements LineWriter, LogFilesHost {
  readonly #options: Required<DecisionLogOptions>;
  readonly #host: DecisionLogHost;
  readonly #clock: Clock;
  readonly #files: LogOutput;
  readonly #platform: LogPlatform;
  #batch: string[] = [];
  #batchBytes = 0;
  #scheduled = false;
  #epoch = 0;
  #fileBytes = 0;
  #snapshotBytes = 0;
  #drops = { ...noDrops };
  /** Whether too much was waiting: then no line is accepted until half of it is written, so that gaps are few. */
  #full = false;
  #retryAt: number | undefined;
  #retrySeconds = firstRetrySeconds;
  #closed = false;

  /** Throws `invalid_config`; `invalid_input` if the directory cannot be written. */
  constructor(options: DecisionLogOptions, host: DecisionLogHost, platform: LogPlatform) {
    this.#options = parse(decisionLogSchema, options, 'invalid_config') as Required<DecisionLogOptions>;
    this.#host = host;
    this.#clock = host.clock ?? systemClock;
    this.#platform = platform;
    this.#files = platform.open(this.#options.logDir, this.#options.logFiles, this);
  }

  get epoch(): number {
    return this.#epoch;
  }

  get refusing(): DropReason | undefined {
    if (this.#closed || (this.#retryAt !== undefined && this.#clock.now() < this.#retryAt)) return 'failed';
    if (this.#full && this.#waiting > this.#options.logWaitingBytes / 2) return 'waiting';
    this.#full = false;
    return undefined;
  }

  get snapshotRoom(): number {
    const { logFileBytes, logWaitingBytes } = this.#options;
    const left = logFileBytes * mostSnapshots - this.#snapshotBytes;
    return Math.min(logFileBytes * longestLine, left, logWaitingBytes - this.#waiting) - headerBytes;
  }

  now(): number {
    return this.#clock.now();
  }

  byteLength(text: string): number {
    return this.#platform.byteLength(text);
  }

  begin(text: string): boolean {
    const bytes = this.byteLength(text);
    // The next line must fit into the same file.
    if (this.#fileBytes + bytes > this.#mostFileBytes) this.#rotate();
    if (!this.#add(text, bytes)) return false;
    this.#snapshotBytes += bytes;
    return true;
  }

  add(line: LogLine): boolean {
    const text = textOf(line);
    if (text === undefined) return this.drop('tooLong');
    if (!this.#add(text, this.byteLength(text))) return false;
    if (this.#fileBytes > this.#mostFileBytes) this.#rotate();
    return true;
  }

  drop(reason: DropReason, lines = 1): false {
    this.#drops[reason] += lines;
    this.#host.dropped?.(reason, lines);
    return false;
  }

  wrote(lines: number, bytes: number): void {
    this.#host.written?.(lines, bytes);
    if (this.#retryAt === undefined) return;
    this.#retryAt = undefined;
    this.#retrySeconds = firstRetrySeconds;
    this.#host.trouble?.(undefined);
  }

  failed(error: Error, lines: number, isCurrent: boolean): void {
    this.#lose(lines);
    if (!isCurrent) return;
    if (this.#retryAt === undefined) this.#host.trouble?.(error);
    this.#retryAt = this.#clock.now() + this.#retrySeconds;
    this.#retrySeconds = Math.min(lastRetrySeconds, this.#retrySeconds * 2);
  }

  /** Writes the queued lines, and ends the file. */
  close(): void {
    this.#flush();
    this.#closed = true;
    this.#files.end();
  }

  get #waiting(): number {
    return this.#batchBytes + this.#files.waitingBytes;
  }

  /** File size up to which a line of any length still fits. */
  get #mostFileBytes(): number {
    return this.#options.logFileBytes * (1 - longestLine) - headerBytes;
  }

  #add(text: string, bytes: number): boolean {
    const { logFileBytes, logWaitingBytes } = this.#options;
    const refusing = this.refusing;
    if (refusing !== undefined) return this.drop(refusing);
    if (bytes > logFileBytes * longestLine) return this.drop('tooLong');
    if (this.#waiting + bytes > logWaitingBytes) {
      this.#full = true;
      return this.drop('waiting');
    }
    if (!this.#files.isOpen) this.#begin();
    this.#sayDrops();
    this.#put(text, bytes);
    return true;
  }

  #begin(): void {
    // The unwritten lines of a failed file must not be written to the next file.
    this.#flush();
    this.#files.next();
    this.#fileBytes = 0;
    this.#snapshotBytes = 0;
    const { version = 'unknown' } = this.#host;
    const [run, file, time] = [this.#platform.run, this.#files.number, this.now()];
    this.#putLine({ kind: 'log', format: logFormat, version, run, file, time });
  }

  /** Ends the file, so that the next line begins a new file. */
  #rotate(): void {
    this.#flush();
    this.#files.end();
    this.#fileBytes = 0;
    this.#snapshotBytes = 0;
    this.#epoch += 1;
  }

  #sayDrops(): void {
    const { waiting, failed, tooLong } = this.#drops;
    const lines = waiting + failed + tooLong;
    if (lines === 0) return;
    this.#drops = { ...noDrops };
    this.#putLine({ kind: 'dropped', time: this.now(), lines, waiting, failed, tooLong });
  }

  #putLine(line: LogLine): void {
    const text = `${printable(JSON.stringify(line))}\n`;
    this.#put(text, this.byteLength(text));
  }

  #put(text: string, bytes: number): void {
    this.#batch.push(text);
    this.#batchBytes += bytes;
    this.#fileBytes += bytes;
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Answers of this turn of the event loop are sent first.
    this.#platform.soon(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const [lines, bytes] = [this.#batch, this.#batchBytes];
    if (lines.length === 0) return;
    this.#batch = [];
    this.#batchBytes = 0;
    if (this.#files.isOpen) this.#files.write(lines.join(''), lines.length, bytes);
    else this.#lose(lines.length);
  }

  /** Counts lost lines. Their sessions are unknown, so all sessions write opening lines again. */
  #lose(lines: number): void {
    this.#epoch += 1;
    this.drop('failed', lines);
  }
}

/** Returns a line as text; `undefined` if it is too long for a string. */
function textOf(line: LogLine): string | undefined {
  try {
    // A terminal may show the log, and control characters are dangerous there.
    return `${printable(JSON.stringify(line))}\n`;
  } catch {
    return undefined;
  }
}
