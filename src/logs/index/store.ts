/**
 * Where segments of the index are stored: beside the log, in a folder of the user's choice, in a temporary folder, or in memory.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { Segment } from './segment.ts';

/** Name of the folder beside a log. */
export const indexFolder = '.rollflex-index';

/** The segments of one log file. */
export class SegmentStore {
  /** Folders in the order of trying. */
  readonly #folders: string[];
  readonly #stem: string;
  /** Why no segment can be written, once this is known. */
  #unwritable = false;

  /** @param cache - folder of the user's choice; without it the index is beside the log, or in a temporary folder */
  constructor(log: string, cache: string | undefined) {
    const path = resolve(log);
    const digest = createHash('sha256').update(path).digest('hex').slice(0, 12);
    // In a folder with the indexes of many logs, file names alone are not enough.
    const shared = `${basename(path)}-${digest}`;
    this.#stem = cache === undefined ? basename(path) : shared;
    this.#folders =
      cache === undefined
        ? [join(dirname(path), indexFolder), join(tmpdir(), `rollflex-index-${userName()}`, digest)]
        : [cache];
  }

  /** Returns the segment with this number; `undefined` if there is no complete one. */
  read(number: number): Segment | undefined {
    for (const folder of this.#folders) {
      try {
        if (!isOwn(folder)) continue;
        const segment = Segment.decode(readFileSync(join(folder, this.#name(number))));
        if (segment !== undefined) return segment;
      } catch {
        // A missing or unreadable segment is built again.
      }
    }
    return undefined;
  }

  /** Writes a segment whole, or not at all: an index is never needed, and another process may write the same one. */
  write(number: number, segment: Segment): void {
    if (this.#unwritable) return;
    const bytes = segment.encode();
    for (const folder of this.#folders) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        if (!isOwn(folder)) continue;
        const path = join(folder, this.#name(number));
        const temporary = `${path}.${randomBytes(6).toString('hex')}`;
        try {
          writeFileSync(temporary, bytes, { mode: 0o600 });
          renameSync(temporary, path);
        } catch (error) {
          rmSync(temporary, { force: true });
          throw error;
        }
        return;
      } catch {
        // The next folder is tried.
      }
    }
    this.#unwritable = true;
  }

  /** Removes segments from this number on, which belong to a log that was in this place before. */
  trim(from: number): void {
    for (const folder of this.#folders) {
      try {
        for (const name of readdirSync(folder)) {
          if (!name.startsWith(`${this.#stem}.`)) continue;
          const number = name.slice(this.#stem.length + 1);
          if (/^\d{5}$/.test(number) && Number(number) >= from) rmSync(join(folder, name), { force: true });
        }
      } catch {
        // The folder does not exist.
      }
    }
  }

  #name(number: number): string {
    return `${this.#stem}.${String(number).padStart(5, '0')}`;
  }
}

function userName(): string {
  try {
    return String(userInfo().uid);
  } catch {
    return 'user';
  }
}

/** Whether a folder belongs to this user or is not shared: others could place an index into a folder for temporary files. */
function isOwn(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  const own = process.getuid?.();
  return own === undefined || own === -1 || uid === own || (mode & 0o022) === 0;
}
