/** The key-value store of the journal: LevelDB, which only one process at a time can open. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClassicLevel } from 'classic-level';
import { refuse } from '../../errors.ts';
import { optionalPackage } from '../optional-package.ts';
import { emptyNote, type TailFile, tailFile } from './tail.ts';

/** One change of the store. */
export type Operation =
  | { readonly type: 'put'; readonly key: string; readonly value: string }
  | { readonly type: 'del'; readonly key: string };

/** A store from the point of view of the journal. */
export interface Store {
  /** Applies all operations or none. Resolves when the operating system has them or, with `sync`, when the disk has them. */
  write(operations: readonly Operation[], sync: boolean): Promise<void>;
  /** Iterates over all records, in the order of the keys. */
  entries(): AsyncIterable<readonly [key: string, value: string]>;
  close(): Promise<void>;
  /** A file that shows a loss of the last writes; absent for a store that cannot lose writes unnoticed. */
  readonly tail?: TailFile;
}

/** File that marks the directory of a store with lost data; an operator must remove it. */
const damageFile = 'DAMAGED';
const undamaged = `a whole store: bring back the missing files, or remove ${damageFile} there to go on without the lost writes`;
/** File that notes the last write: see {@link TailFile}. */
const noteFile = 'SEALED';

/** Prefix of the files that the Python package writes into a directory for policies in its own process: see its `_state_dir.py`. */
const embeddedFiles = 'embedded.';

/** Files that a crash may leave before the store's first write, which comes after the note. */
const newFiles = /^(CURRENT|MANIFEST-\d+|\d+\.(log|dbtmp))$/;
const isWritten = (path: string): boolean => path.endsWith('.log') && statSync(path).size > 0;

/**
 * Whether the directory contains a store that has been written to. A directory with other files is refused, so that no store is
 * created there by mistake.
 */
function isThere(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    return explained(error, directory);
  }
  const damage = join(directory, damageFile);
  if (existsSync(damage)) refuse('snapshot_mismatch', 'stateDir', undamaged, readFileSync(damage, 'utf8').trim());
  const files = readdirSync(directory).filter((name) => name !== 'LOCK' && !name.startsWith('LOG'));
  if (files.length === 0) return false;
  if (files.some((name) => name.startsWith(embeddedFiles))) {
    const expected = 'a state directory of a server: this one is of rollflex.Client.embedded() in Python';
    refuse('invalid_input', 'stateDir', expected, directory);
  }
  if (files.every((name) => newFiles.test(name)) && !files.some((name) => isWritten(join(directory, name))))
    return false;
  // Every store has both files at all times.
  const missing = ['CURRENT', '.log'].find((end) => !files.some((name) => name.endsWith(end)));
  if (missing === undefined) return true;
  const isStore = files.some((name) => /^MANIFEST-|^CURRENT$|^SEALED$|\.(ldb|log)$/.test(name));
  const expected = isStore ? 'a whole store' : 'an empty directory, or one of an earlier server';
  return refuse(
    isStore ? 'snapshot_mismatch' : 'invalid_input',
    'stateDir',
    expected,
    `${directory} without a file ${missing}`,
  );
}

/** Whether LevelDB cannot read a file, or misses one. */
function isDamage(error: unknown): boolean {
  const { code, message = '' } = (error as { cause?: { code?: string; message?: string } }).cause ?? {};
  return code === 'LEVEL_CORRUPTION' || message.endsWith('No such file or directory');
}

function explained(error: unknown, directory: string): never {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause ?? {};
  const got = `${directory}: ${cause.message ?? String(error)}`;
  if (cause.code === 'LEVEL_LOCKED') {
    return refuse('invalid_input', 'stateDir', 'a directory that no other server uses', directory, error);
  }
  if (isDamage(error)) return refuse('snapshot_mismatch', 'stateDir', 'a whole store', got, error);
  return refuse('invalid_input', 'stateDir', 'a directory that can be read and written', got, error);
}

/**
 * Refuses a damaged store. LevelDB skips unreadable parts of its last writes, and reports this only in its log file. A last write
 * that a crash has interrupted does not count as damage.
 */
function checkDamage(directory: string, lost: TailFile['lost']): void {
  const skipped = readFileSync(join(directory, 'LOG'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('Corruption'));
  if (skipped.length > 0) lost(`unreadable writes: ${skipped.join('; ')}`);
}

/**
 * Opens the store in a directory; creates it if the directory is empty or absent.
 *
 * @throws PolicyError `invalid_input` if another server uses the directory, if the directory contains no store, or if the package
 *   classic-level is not installed; `snapshot_mismatch` if the store is damaged
 */
export async function openStore(directory: string): Promise<Store> {
  const exists = isThere(directory);
  // A server without a state directory does not need the binary of this package, which cannot be bundled.
  const { ClassicLevel: Level } = await optionalPackage('classic-level', 'stateDir', () => import('classic-level'));
  const level: ClassicLevel<string, string> = new Level(directory, { createIfMissing: !exists });
  let note: ReturnType<typeof tailFile>;
  try {
    await level.open().catch(async (error: unknown) => {
      // The crash came before the first write, so there is nothing to lose.
      if (!isDamage(error) || isThere(directory)) throw error;
      await Level.destroy(directory);
      await level.open();
    });
    note = tailFile(join(directory, noteFile));
  } catch (error) {
    await level.close();
    return explained(error, directory);
  }
  const lost = (what: string): never => {
    writeFileSync(join(directory, damageFile), `${what}\n`, { flush: true });
    note.create(emptyNote);
    return refuse('snapshot_mismatch', 'stateDir', undamaged, what);
  };
  const create = (text: string): void => {
    try {
      note.create(text);
    } catch (error) {
      explained(error, directory);
    }
  };
  const close = (): Promise<void> => {
    note.close();
    return level.close();
  };
  try {
    checkDamage(directory, lost);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    write: (operations, sync) => level.batch([...operations], { sync }),
    async *entries() {
      try {
        yield* level.iterator();
      } catch (error) {
        refuse('snapshot_mismatch', 'stateDir', 'a whole store', `${directory}: ${(error as Error).message}`, error);
      }
    },
    close,
    tail: { ...note, create, lost },
  };
}
