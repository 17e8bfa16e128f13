/** The key-value store under the journal: LevelDB, one process at a time. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClassicLevel } from 'classic-level';
import { optionalPackage } from '../../core/optional-package.ts';
import { refuse } from '../../errors.ts';

/** One change of the store. */
export type Operation =
  | { readonly type: 'put'; readonly key: string; readonly value: string }
  | { readonly type: 'del'; readonly key: string };

/** Store that the journal writes to. */
export interface Store {
  /** Applies all operations or none; settles when the system has them, or, with `sync`, when the disk has them. */
  write(operations: readonly Operation[], sync: boolean): Promise<void>;
  /** Iterates over all records, in the order of the keys. */
  entries(): AsyncIterable<readonly [key: string, value: string]>;
  close(): Promise<void>;
}

/** File that marks a directory whose store has lost data, until an operator removes it. */
const damageFile = 'DAMAGED';

/** Prefix of the files that the Python package keeps in a directory when policies run in its process: see its `_state_dir.py`. */
const embeddedFiles = 'embedded.';

/** Whether there is a store already. A directory of other files is refused, so that no store is begun by mistake. */
function isThere(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    return explained(error, directory);
  }
  const damage = join(directory, damageFile);
  if (existsSync(damage)) refuse('snapshot_mismatch', 'stateDir', 'a whole store', readFileSync(damage, 'utf8').trim());
  const files = readdirSync(directory).filter((name) => name !== 'LOCK' && !name.startsWith('LOG'));
  if (files.length === 0) return false;
  if (files.some((name) => name.startsWith(embeddedFiles))) {
    const expected = 'a state directory of a server: this one is of rollflex.Client.embedded() in Python';
    refuse('invalid_input', 'stateDir', expected, directory);
  }
  // Every store has both files at all times.
  const missing = ['CURRENT', '.log'].find((end) => !files.some((name) => name.endsWith(end)));
  if (missing === undefined) return true;
  const isStore = files.some((name) => /^MANIFEST-|^CURRENT$|\.(ldb|log)$/.test(name));
  const expected = isStore ? 'a whole store' : 'an empty directory, or one of an earlier server';
  return refuse(
    isStore ? 'snapshot_mismatch' : 'invalid_input',
    'stateDir',
    expected,
    `${directory} without a file ${missing}`,
  );
}

function explained(error: unknown, directory: string): never {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause ?? {};
  const got = `${directory}: ${cause.message ?? String(error)}`;
  if (cause.code === 'LEVEL_LOCKED') {
    return refuse('invalid_input', 'stateDir', 'a directory that no other server uses', directory, error);
  }
  if (cause.code === 'LEVEL_CORRUPTION') return refuse('snapshot_mismatch', 'stateDir', 'a whole store', got, error);
  return refuse('invalid_input', 'stateDir', 'a directory that can be read and written', got, error);
}

/**
 * Refuses a damaged store. LevelDB skips unreadable parts of its last writes, and reports that only in a log file. A write
 * that was cut off by a crash does not count as damage.
 */
function checkDamage(directory: string): void {
  const lost = readFileSync(join(directory, 'LOG'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('Corruption'));
  if (lost.length === 0) return;
  const text = `${directory} has lost writes; remove ${damageFile} to go on without them: ${lost.join('; ')}`;
  writeFileSync(join(directory, damageFile), `${text}\n`);
  refuse('snapshot_mismatch', 'stateDir', 'a whole store', text);
}

/**
 * Opens the store of a directory, or begins one if the directory is empty or absent.
 *
 * @throws PolicyError `invalid_input` if another server uses it, if it is no store, or if the package classic-level is not
 *   installed; `snapshot_mismatch` if it is damaged
 */
export async function openStore(directory: string): Promise<Store> {
  const exists = isThere(directory);
  // A server without a state directory does not need its binary, which cannot be bundled.
  const { ClassicLevel: Level } = await optionalPackage('classic-level', 'stateDir', () => import('classic-level'));
  const level: ClassicLevel<string, string> = new Level(directory, { createIfMissing: !exists });
  try {
    await level.open();
  } catch (error) {
    return explained(error, directory);
  }
  try {
    checkDamage(directory);
  } catch (error) {
    await level.close();
    throw error;
  }
  return {
    write: (operations, sync) => level.batch([...operations], { sync }),
    entries: () => level.iterator(),
    close: () => level.close(),
  };
}
