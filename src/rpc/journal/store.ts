/** The key-value store under the journal: LevelDB, one process at a time. */
import { mkdirSync, readdirSync } from 'node:fs';
import type { ClassicLevel } from 'classic-level';
import { PolicyError } from '../../errors.ts';

/** One change of the store. */
export type Operation =
  | { readonly type: 'put'; readonly key: string; readonly value: string }
  | { readonly type: 'del'; readonly key: string };

/** What the journal needs of a store. */
export interface Store {
  /** Applies all of it or nothing; settles when the system has it, or, with `sync`, when the disk has it. */
  write(operations: readonly Operation[], sync: boolean): Promise<void>;
  /** Everything, in the order of the keys. */
  entries(): AsyncIterable<readonly [key: string, value: string]>;
  close(): Promise<void>;
}

const refuse = (
  code: 'invalid_input' | 'snapshot_mismatch',
  expected: string,
  got: unknown,
  cause?: unknown,
): never => {
  throw new PolicyError(code, { expected, got, path: 'stateDir', ...(cause === undefined ? {} : { cause }) });
};

/** Whether there is a store already. A folder of anything else is refused, so that nothing is ever begun anew by mistake. */
function isThere(directory: string): boolean {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const files = readdirSync(directory).filter((name) => name !== 'LOCK' && !name.startsWith('LOG'));
  if (files.includes('CURRENT')) return true;
  if (files.length === 0) return false;
  const isStore = files.some((name) => name.startsWith('MANIFEST-') || name.endsWith('.ldb'));
  const expected = isStore ? 'a whole store' : 'an empty directory, or one of an earlier server';
  return refuse(isStore ? 'snapshot_mismatch' : 'invalid_input', expected, `${directory} without a file CURRENT`);
}

function explained(error: unknown, directory: string): never {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause ?? {};
  const got = `${directory}: ${cause.message ?? String(error)}`;
  if (cause.code === 'LEVEL_LOCKED') {
    return refuse('invalid_input', 'a directory that no other server uses', directory, error);
  }
  if (cause.code === 'LEVEL_CORRUPTION') return refuse('snapshot_mismatch', 'a whole store', got, error);
  return refuse('invalid_input', 'a directory that can be read and written', got, error);
}

/**
 * Opens the store of a directory, or begins one where the directory is empty or not there.
 *
 * @throws PolicyError `invalid_input` where another server uses it, or it is no store; `snapshot_mismatch` where it is
 *   damaged
 */
export async function openStore(directory: string): Promise<Store> {
  const exists = isThere(directory);
  // Loaded only here: its binary is nothing for a server without a state directory.
  const { ClassicLevel: Level } = await import('classic-level');
  const level: ClassicLevel<string, string> = new Level(directory, { createIfMissing: !exists });
  try {
    await level.open();
  } catch (error) {
    return explained(error, directory);
  }
  return {
    write: (operations, sync) => level.batch([...operations], { sync }),
    entries: () => level.iterator(),
    close: () => level.close(),
  };
}
