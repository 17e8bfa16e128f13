/** Decision logs in tests: directories of their own, and what is in them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registry } from '../../../src/index.ts';
import { type LogFile, type ReadLine, readDecisionLog } from '../../../src/logs/format/decision-log.ts';
import { type LogReplay, replayLog } from '../../../src/logs/replay/replay-log.ts';
import { logFilesIn } from '../../../src/logs/write/files.ts';

/** Folders that go when the tests are done. */
export class Folders {
  readonly #root = mkdtempSync(join(tmpdir(), 'rollflex-log-'));
  #made = 0;

  next(): string {
    this.#made += 1;
    return join(this.#root, String(this.#made));
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}

export const filesOf = (directory: string): LogFile[] =>
  logFilesIn(directory).map((name) => ({ name, read: () => readFileSync(join(directory, name), 'utf8') }));

export const linesOf = (directory: string): ReadLine[] => [...readDecisionLog(filesOf(directory))];

/** Lines of a log without the places where they stand. */
export const wholeLines = (directory: string) =>
  linesOf(directory).flatMap(({ line }) => (line === 'torn' ? [] : [line]));

export const replayOf = (directory: string, only?: string): LogReplay =>
  replayLog(readDecisionLog(filesOf(directory)), registry.restore, only);

/** Bytes of each file of a directory. */
export const sizesOf = (directory: string): number[] =>
  readdirSync(directory).map((name) => statSync(join(directory, name)).size);
