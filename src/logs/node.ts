/**
 * Logs of programs (`recordEvents`) and of servers: why something waits, whether this version decides as a log says, how two logs
 * differ, and what a job did. In addition to the modules for a browser, this entry has the module that reads files.
 *
 * @module logs
 * @packageDocumentation
 */
import type { Log } from './format/log.ts';
import { LogIndex } from './index/log-index.ts';
import { packageVersion } from './index/package.ts';
import { type LogOptions, registryOf, restoring } from './options.ts';
import { traceless } from './replay/traceless.ts';

export * from './index.ts';

/** Options for reading a log from files. */
export interface OpenLogOptions extends LogOptions {
  /** Folder for the index that long logs have; beside the log if absent. */
  readonly cache?: string;
  /** Name for the definitions in a registry of your own: an index made with other definitions is built again. */
  readonly definitions?: string;
  /** Called with the bytes read so far, and the bytes to read in total. */
  readonly progress?: (done: number, all: number) => void;
}

/**
 * Opens a log: a file of `recordEvents`, or a folder (or files) that a server has written. The index of a long log is made once, and
 * kept: later calls take less than a second. `refresh` reads what was added; `close` ends its use.
 *
 * @throws PolicyError `invalid_input` for a broken line, with its file and number, or for files of different kinds; the system's error
 */
export function openLog(paths: string | readonly string[], options: OpenLogOptions = {}): Log {
  const { cache, definitions, progress } = options;
  const writer = [versionIn(options), definitions].filter((one) => one !== undefined).join(' ');
  const how = { restore: restoring(options), writer, cache, ...(progress && { progress }) };
  return traceless(() => new LogIndex([paths].flat(), how));
}

/** Names the maker of an index: this version or, in a bundle where the version is unknown, the versions of the policies. */
function versionIn(options: LogOptions): string {
  try {
    return packageVersion();
  } catch {
    return registryOf(options)
      .policies.map(({ id, version }) => `${id} ${version}`)
      .join(' ');
  }
}
