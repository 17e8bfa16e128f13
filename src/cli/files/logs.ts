/** Logs of the user, and what has to be said about them on standard error. */

import { isPolicyError, refuse, relocated } from '../../errors.ts';
import { type ReadLine, readDecisionLog } from '../../logs/format/decision-log.ts';
import * as opened from '../../logs/index/open.ts';
import { say } from '../terminal/output.ts';
import { readText } from '../terminal/system-errors.ts';

export type { AnyLog } from '../../logs/index/open.ts';

/** A log, with its kind. */
export type NamedLog =
  | { readonly kind: 'events'; readonly lines: readonly string[] }
  | { readonly kind: 'decisions'; lines(): Iterable<ReadLine> };

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
  const files = opened.logPaths(paths);
  if (files.length === 1 && opened.isEventLog(files[0]!.path)) {
    return { kind: 'events', lines: readText(files[0]!.path).split('\n') };
  }
  const all = files.map(({ path, name }) => opened.fileAt(path, name));
  return { kind: 'decisions', lines: sayingTorn(() => readDecisionLog(all)) };
}

/** Opens logs of both kinds, and says where one is cut off. Throws as the function of the library does. */
export const openLogs = (paths: readonly string[]): opened.AnyLog[] =>
  opened.openLogs(paths).map((log) => ({ ...log, lines: sayingTorn(() => log.lines()) }));

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
