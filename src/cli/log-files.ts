/** Logs of the user: the event log of a program, or the decision log of a server (its folder, or files from it). */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { isDecisionLog, type LogFile, type ReadLine, readDecisionLog } from '../core/decision-log.ts';
import { readEventLog } from '../core/read-event-log.ts';
import { isPolicyError, refuse, relocated } from '../errors.ts';
import { logFilesIn } from '../rpc/log/files.ts';
import { chunksOf } from './log-index/lines.ts';
import { say } from './output.ts';
import { isSystemError, readText } from './system-errors.ts';

/** A log, with its kind. */
export type NamedLog =
  | { readonly kind: 'events'; readonly lines: readonly string[] }
  | { readonly kind: 'decisions'; lines(): Iterable<ReadLine> };

const headerBytes = 4096;

const fileAt = (path: string, name: string): LogFile => ({ name, read: () => piecesOf(path) });

/** Returns the text of a file in pieces, since a file may be longer than a string. Throws the system's error, with the path. */
function* piecesOf(path: string): Generator<string> {
  const file = openSync(path, 'r');
  const decoder = new StringDecoder('utf8');
  try {
    for (const bytes of chunksOf(file)) yield decoder.write(bytes);
    yield decoder.end();
  } catch (error) {
    // For a folder the system's error has no path.
    throw isSystemError(error) ? Object.assign(error, { path }) : error;
  } finally {
    closeSync(file);
  }
}

/** Whether a file is no decision log, judged by its first line. */
export const isEventLog = (path: string): boolean => !isDecisionLog(firstLine(path));

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

/** Makes a reader say on standard error, once for a place, that the last line of a file was cut off, and counts for nothing. */
function sayingTorn(lines: () => Iterable<ReadLine>): () => Generator<ReadLine> {
  const said = new Set<string>();
  return function* () {
    for (const one of lines()) {
      if (one.line === 'torn' && !said.has(one.where)) {
        said.add(one.where);
        say(
          `${one.where}: the file ends in the middle of this line, which is left out: it was cut off, or is still being written`,
        );
      }
      yield one;
    }
  };
}

/**
 * Detects the kind of log at some paths. Files of a decision log are read in the order given.
 *
 * @throws PolicyError `invalid_input` for a folder without a decision log, or files of different kinds; the system's error
 */
export function openLog(paths: readonly string[]): NamedLog {
  const files = logPaths(paths);
  if (files.length === 1 && isEventLog(files[0]!.path)) {
    return { kind: 'events', lines: readText(files[0]!.path).split('\n') };
  }
  const all = files.map(({ path, name }) => fileAt(path, name));
  return { kind: 'decisions', lines: sayingTorn(() => readDecisionLog(all)) };
}

/** A log of either kind, as lines of a decision log. */
export interface AnyLog {
  /** What the user calls it. */
  readonly name: string;
  /** Whether it is an event log: then its only session is named as its file. */
  readonly isEventLog: boolean;
  /** Reads it from the beginning. */
  lines(): Iterable<ReadLine>;
}

/**
 * Opens logs of both kinds: a folder is one log, and so are files of a decision log from one folder, in the order given. A file is
 * named by its path if there are several logs.
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
    return { name, isEventLog, lines: sayingTorn(lines) };
  });
}

/** Runs `work` on an event log. Adds the name of the file to its errors, since the library knows lines only. */
export function inLog<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    throw relocated(error, `${path}:${error.path.replace(/^line /, '')}`);
  }
}

/** Opens a decision log, and returns its lines. Throws `invalid_input` for another log. */
export function openDecisionLog(paths: readonly string[]): Iterable<ReadLine> {
  const log = openLog(paths);
  if (log.kind === 'decisions') return log.lines();
  refuse('invalid_input', paths[0]!, 'a decision log of a server', 'another log');
}
