/** Files that a command writes: none takes the place of one that is read, and each is written whole or not at all. */
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
import { oneLine } from '../core/printable.ts';
import { refuse } from '../errors.ts';
import type { PoolsComparison } from '../sim/pools/result.ts';
import { renderReport } from '../sim/report/html.ts';
import { reportClient } from '../sim/report/write.ts';
import type { ComparisonResult } from '../sim/result.ts';
import type { VlmComparison } from '../sim/vlm-formulas/result.ts';
import { checkWritable } from './files.ts';
import { interruptible, uncut } from './interrupt.ts';
import { isSystemError } from './system-errors.ts';

/** Paths of files to write, by their options; options that were not given are left out. */
export type OutputFiles = Readonly<Record<string, string | false | undefined>>;

/** Returns an equal identity for two paths of one file, through links too; nothing for a path that cannot be overwritten. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return existsSync(dirname(path)) ? join(realpathSync(dirname(path)), basename(path)) : path;
  if (!found.isFile()) return undefined;
  // A file system without numbers of files has 0 for all.
  return found.ino === 0n ? realpathSync(path) : `${found.dev}:${found.ino}`;
}

/**
 * Refuses files that cannot be written, that are read as well, or that are written twice; before any work is done.
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
 * Returns the draft beside a file that later takes its place. Returns nothing where the file must be written directly: a device, a
 * pipe, a file with several names or of another user, and a folder in which nothing can be created.
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

function writeParts(path: string, flags: 'w' | 'wx', parts: Iterable<string>, mode?: number): void {
  const file = openSync(path, flags);
  try {
    if (mode !== undefined) fchmodSync(file, mode);
    for (const part of parts) writeFileSync(file, part);
  } finally {
    closeSync(file);
  }
}

function put(path: string, parts: Iterable<string>): void {
  const place = draftOf(path);
  if (place === undefined) return interruptible(() => writeParts(path, 'w', parts));
  const { draft, target, mode } = place;
  try {
    interruptible(() => writeParts(draft, 'wx', parts, mode));
    try {
      renameSync(draft, target);
    } catch {
      // A file that is mounted by itself, as into a container, keeps its place.
      copyFileSync(draft, target);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Writes; errors of the system get the path. */
export function writing(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw Object.assign(error, { path, isUnwritten: true });
  }
}

/**
 * Writes a file. At the end it has all of the text or its former content, also when the disk is full or a signal arrives.
 *
 * @throws Interrupted; the system's error, with the path
 */
export const writeWhole = (path: string, parts: Iterable<string>): void =>
  uncut(() => writing(path, () => put(path, parts)));

/**
 * Makes a report, and returns a function that writes it and returns a line about it. Call that when the tables are printed, so that
 * they appear even if the disk is full, and in the same turn, so that a reader that leaves (`| head`) ends the command afterwards.
 */
export async function preparedReport(
  path: string | false,
  comparisons: readonly ComparisonResult[],
  vlm: readonly VlmComparison[] = [],
  pools: readonly PoolsComparison[] = [],
): Promise<() => string | undefined> {
  if (path === false) return () => undefined;
  const html = renderReport(comparisons, await reportClient(), vlm, pools);
  return () => {
    writeWhole(path, [html]);
    return `report: ${oneLine(path)} (${(Buffer.byteLength(html) / 1e6).toFixed(1)} MB, open it in a browser)`;
  };
}
