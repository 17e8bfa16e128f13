/** Rotated log files: they are written in the background, limited in number, and never reopened. */
import { accessSync, constants, createWriteStream, mkdirSync, readdirSync, type WriteStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { refuse } from '../../errors.ts';
import type { LogFilesHost, LogOutput } from './writer.ts';

const name = /^decisions-(\d{8,15})\.jsonl$/;

/** Lists the files of a log directory, oldest first. Throws the system's error. */
export function logFilesIn(directory: string): string[] {
  return inOrder(readdirSync(directory));
}

const inOrder = (names: readonly string[]): string[] => names.filter((one) => name.test(one)).sort(byNumber);
const numberOf = (file: string): number => Number(name.exec(file)![1]);
const byNumber = (a: string, b: string): number => numberOf(a) - numberOf(b);

/** The log files of a directory, one of which is the current file. */
export class LogFiles implements LogOutput {
  readonly #directory: string;
  readonly #most: number;
  readonly #host: LogFilesHost;
  #number: number;
  #stream: WriteStream | undefined;
  #waitingBytes = 0;
  #closing: Promise<void> = Promise.resolve();
  #pruning: Promise<void> = Promise.resolve();

  /** Throws `invalid_input` if the directory cannot be created or written. */
  constructor(directory: string, most: number, host: LogFilesHost) {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      accessSync(directory, constants.W_OK | constants.X_OK);
    } catch (error) {
      const got = `${directory}: ${(error as Error).message}`;
      refuse('invalid_input', 'logDir', 'a directory that can be written', got, error);
    }
    this.#directory = directory;
    this.#most = most;
    this.#host = host;
    this.#number = this.#last();
  }

  get number(): number {
    return this.#number;
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  next(): void {
    this.end();
    this.#number += 1;
    const path = join(this.#directory, `decisions-${String(this.#number).padStart(8, '0')}.jsonl`);
    // `wx` fails for an existing file, which another server may be writing.
    const stream = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    // The callbacks of single writes report errors.
    stream.on('error', () => undefined);
    // On a slow disk a file may open after later files were requested, so files are counted again at each opening.
    stream.once('open', () => void (this.#pruning = this.#pruning.then(() => this.#prune())));
    this.#stream = stream;
  }

  write(text: string, lines: number, bytes: number): void {
    const stream = this.#stream!;
    this.#waitingBytes += bytes;
    stream.write(text, (error) => {
      this.#waitingBytes -= bytes;
      if (!error) return this.#host.wrote(lines, bytes);
      const isCurrent = this.#stream === stream;
      if (isCurrent) {
        this.#stream = undefined;
        this.#number = Math.max(this.#number, this.#last());
      }
      this.#host.failed(error, lines, isCurrent);
    });
  }

  end(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream === undefined) return;
    const closed = new Promise<void>((done) => (stream.closed ? done() : void stream.once('close', done).end()));
    this.#closing = Promise.all([this.#closing, closed]).then(() => undefined);
  }

  /** Resolves when all lines are written or dropped, and surplus files are removed. */
  get settled(): Promise<void> {
    return this.#closing.then(() => this.#pruning);
  }

  #last(): number {
    try {
      return numberOf(logFilesIn(this.#directory).at(-1) ?? 'decisions-00000000.jsonl');
    } catch {
      // The directory no longer exists, which the next write reports.
      return this.#number ?? 0;
    }
  }

  async #prune(): Promise<void> {
    try {
      const others = inOrder(await readdir(this.#directory)).filter((one) => numberOf(one) < this.#number);
      for (const file of others.slice(0, Math.max(0, others.length + 1 - this.#most))) {
        await rm(join(this.#directory, file), { force: true });
      }
    } catch {
      // The removal is tried again at the next file.
    }
  }
}
