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
  /** Applies all of it or nothing; settles when the system has it, or, with `sync`, when the disk has it. */
  write(operations: readonly Operation[], sync: boolean): Promise<void>;
  /** Everything, in the order of the keys. */
  entries(): AsyncIterable<readonly [key: string, value: string]>;
  close(): Promise<void>;
}

/** Stands in a directory whose store has lost something, until somebody who knows removes it. */
const damageFile = 'DAMAGED';

/** Prefix of the files that the Python package keeps in a directory when policies run in its process: see its `_state_dir.py`. */
const embeddedFiles = 'embedded.';

/** Whether there is a store already. A folder of anything else is refused: nothing is ever begun anew by mistake. */
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
  // Both are there from the first moment of a store to the last.
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
 * LevelDB leaves out what it cannot read of its last writes, and goes on; it says so only in a file. A write that was cut
 * off by a crash is none of this.
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
 * Opens the store of a directory, or begins one where the directory is empty or not there.
 *
 * @throws PolicyError `invalid_input` where another server uses it, where it is no store, or where the package
 *   classic-level is not installed; `snapshot_mismatch` where it is
 *   damaged
 */
export async function openStore(directory: string): Promise<Store> {
  const exists = isThere(directory);
  // Its binary is nothing for a server without a state directory, and not in one file with the rest.
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
