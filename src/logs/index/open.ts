/** Files of logs: the event log of a program, or the decision log of a server (its folder, or files from it). */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { refuse } from '../../errors.ts';
import { isDecisionLog, type LogFile, type ReadLine, readDecisionLog } from '../format/decision-log.ts';
import { readEventLog } from '../format/read-event-log.ts';
import { logFilesIn } from '../write/files.ts';
import { chunksOf } from './lines.ts';

const headerBytes = 4096;

/** A file of a log, to be read as often as needed. */
export const fileAt = (path: string, name: string): LogFile => ({ name, read: () => piecesOf(path) });

/** Returns the text of a file in pieces, since a file may be longer than a string. Throws the system's error, with the path. */
function* piecesOf(path: string): Generator<string> {
  const file = openSync(path, 'r');
  const decoder = new StringDecoder('utf8');
  try {
    for (const bytes of chunksOf(file)) yield decoder.write(bytes);
    yield decoder.end();
  } catch (error) {
    // For a folder the system's error has no path.
    throw error instanceof Error && 'errno' in error ? Object.assign(error, { path }) : error;
  } finally {
    closeSync(file);
  }
}

/** Whether a file is no decision log, judged by its first line. */
export const isEventLog = (path: string): boolean => !isDecisionLog(firstLine(path));

/** Whether a path is a log, as far as its first line shows: a folder of a server's, or a file of a log of either kind. */
export function isLog(path: string): boolean {
  if (statSync(path).isDirectory()) return logFilesIn(path).length > 0;
  const first = firstLine(path);
  return isDecisionLog(first) || /^\s*\{\s*"(snapshot|event)"\s*:/.test(first);
}

function firstLine(path: string): string {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(headerBytes);
    const length = readSync(file, buffer, 0, headerBytes, 0);
    return buffer.subarray(0, length).toString('utf8').split('\n')[0]!;
  } finally {
    closeSync(file);
  }
}

/**
 * Returns the files of logs: the paths themselves, or the files in a folder.
 *
 * @throws PolicyError `invalid_input` for a folder without a decision log; the system's error
 */
export function logPaths(paths: readonly string[]): { readonly path: string; readonly name: string }[] {
  return paths.flatMap((path) => {
    if (!statSync(path).isDirectory()) return [{ path, name: basename(path) }];
    const names = logFilesIn(path);
    const expected = 'a folder with a decision log, or a file';
    if (names.length === 0) refuse('invalid_input', path, expected, 'no file decisions-….jsonl');
    return names.map((name) => ({ path: join(path, name), name }));
  });
}

/** A log of either kind, as lines of a decision log. */
export interface AnyLog {
  /** Name that the user has given. */
  readonly name: string;
  /** Whether this is an event log, whose only session has the name of the file. */
  readonly isEventLog: boolean;
  /** Reads the log from the beginning. */
  lines(): Iterable<ReadLine>;
}

/**
 * Opens logs of both kinds: a folder is one log, and so are files of a decision log from one folder, in the order given. A log
 * from one file is named by its path if there are several logs.
 *
 * @throws PolicyError `invalid_input` for a folder without a decision log; the system's error
 */
export function openLogs(paths: readonly string[]): AnyLog[] {
  const files = [...new Map(logPaths(paths).map((one) => [one.path, one])).values()];
  const logs = new Map<string, { path: string; isEventLog: boolean; files: typeof files }>();
  for (const file of files) {
    const first = firstLine(file.path);
    // An empty file belongs to the log of its folder: a server has begun it, and written nothing yet.
    const isEventLog = first !== '' && !isDecisionLog(first);
    const path = isEventLog || (paths.includes(file.path) && files.length === 1) ? file.path : dirname(file.path);
    const log = logs.get(path);
    if (log === undefined) logs.set(path, { path, isEventLog, files: [file] });
    else log.files.push(file);
  }
  return [...logs.values()].map(({ path: name, isEventLog, files: all }) => {
    const named = all.map(({ path, name: short }) => fileAt(path, logs.size === 1 ? short : path));
    const lines = (): Iterable<ReadLine> => (isEventLog ? readEventLog(named[0]!) : readDecisionLog(named));
    return { name, isEventLog, lines };
  });
}
