/** Writes the files of a command: a file never replaces an input, and is written whole or not at all. */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { oneLine } from '../../core/ids/printable.ts';
import { refuse } from '../../errors.ts';
import type { ComparisonResult } from '../../sim/comparison/result.ts';
import type { PoolsComparison } from '../../sim/pools/result.ts';
import { renderReport } from '../../sim/report/html.ts';
import { reportClient } from '../../sim/report/write.ts';
import type { VlmComparison } from '../../sim/vlm-formulas/result.ts';
import { interruptible, uncut } from '../terminal/interrupt.ts';
import { isSystemError } from '../terminal/system-errors.ts';
import { checkWritable } from './traces.ts';

/** Paths of files to write, by option name; options that were not given are undefined or false. */
export type OutputFiles = Readonly<Record<string, string | false | undefined>>;

/** Returns the identity of a file, equal for all paths and links to it; nothing for a path that cannot be overwritten. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return existsSync(dirname(path)) ? join(realpathSync(dirname(path)), basename(path)) : path;
  if (!found.isFile()) return undefined;
  // A file system without inode numbers gives 0 for every file.
  return found.ino === 0n ? realpathSync(path) : `${found.dev}:${found.ino}`;
}

/**
 * Refuses, before any work is done, an output file that cannot be written, that is also an input, or that is written twice.
 *
 * @param inputs - paths that are read; missing ones are reported elsewhere
 * @throws PolicyError `invalid_input`; the system's error
 */
export function checkOutputs(outputs: OutputFiles, inputs: readonly string[]): void {
  const taken = new Map(inputs.map((path) => [identityOf(path), 'a file that is not read']));
  taken.delete(undefined);
  for (const [option, path] of Object.entries(outputs)) {
    if (path === undefined || path === false) continue;
    checkWritable(path, option);
    const identity = identityOf(path);
    const expected = taken.get(identity);
    if (expected !== undefined) refuse('invalid_input', option, expected, path);
    if (identity !== undefined) taken.set(identity, `another file than that of ${option}`);
  }
}

/**
 * Returns the path of a draft, which is written first and then renamed. Returns nothing if the file must be written directly: a
 * device, a pipe, a file with several hard links or of another user, or a folder in which no file can be created.
 */
function draftOf(
  path: string,
): { readonly draft: string; readonly target: string; readonly mode?: number } | undefined {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined && isLink) return undefined;
  if (found !== undefined && !(found.isFile() && found.nlink === 1 && found.uid === (process.getuid?.() ?? found.uid)))
    return undefined;
  const target = found === undefined ? path : realpathSync(path);
  try {
    accessSync(dirname(target), constants.W_OK);
  } catch {
    return undefined;
  }
  const draft = join(dirname(target), `.rollflex-${randomBytes(6).toString('hex')}.part`);
  return { draft, target, ...(found === undefined ? {} : { mode: found.mode & 0o7777 }) };
}

function writeChunks(path: string, flags: 'w' | 'wx', chunks: Iterable<string>, mode?: number): void {
  const file = openSync(path, flags);
  try {
    if (mode !== undefined) fchmodSync(file, mode);
    for (const chunk of chunks) writeFileSync(file, chunk);
  } finally {
    closeSync(file);
  }
}

function put(path: string, chunks: Iterable<string>): void {
  const replacement = draftOf(path);
  if (replacement === undefined) return interruptible(() => writeChunks(path, 'w', chunks));
  const { draft, target, mode } = replacement;
  try {
    interruptible(() => writeChunks(draft, 'wx', chunks, mode));
    try {
      renameSync(draft, target);
    } catch {
      // A file that is a mount point, as in a container, cannot be replaced: its content is copied.
      copyFileSync(draft, target);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Runs `write`; errors of the system get the path. */
export function writing(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw Object.assign(error, { path, isUnwritten: true });
  }
}

/**
 * Writes a file. Afterwards the file has either the whole text or its former content, even if the disk is full or a signal arrives.
 *
 * @throws Interrupted; the system's error, with the path
 */
export const writeWhole = (path: string, chunks: Iterable<string>): void =>
  uncut(() => writing(path, () => put(path, chunks)));

/** Results of every kind of simulation. */
export interface Results {
  readonly comparisons: readonly ComparisonResult[];
  readonly vlm: readonly VlmComparison[];
  readonly pools: readonly PoolsComparison[];
}

/**
 * Makes a report, and returns a function that writes the report and returns a line about it. Call this function after the tables
 * are printed, so that they appear even if the disk is full, and in the same turn of the event loop, so that the report is written
 * even if the reader leaves (`| head`).
 */
export async function preparedReport(
  path: string | false,
  { comparisons = [], vlm = [], pools = [] }: Partial<Results>,
): Promise<() => string | undefined> {
  if (path === false) return () => undefined;
  const html = renderReport(comparisons, await reportClient(), vlm, pools);
  return () => {
    writeWhole(path, [html]);
    return `report: ${oneLine(path)} (${(Buffer.byteLength(html) / 1e6).toFixed(1)} MB, open it in a browser)`;
  };
}
