/** The file from which a run goes on. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import type { z } from 'zod';
import { parse } from '../../src/core/machine/validate.ts';
import { PolicyError } from '../../src/errors.ts';

/** Writes a record, whole or not at all; nothing without a path. */
export function save(path: string | undefined, record: unknown): void {
  if (path === undefined) return;
  const next = `${path}.next`;
  const file = openSync(next, 'w');
  writeSync(file, JSON.stringify(record));
  fsyncSync(file);
  closeSync(file);
  renameSync(next, path);
}

/** Reads a record. Throws `invalid_input` for a file of something else. */
export function readRecord<T>(path: string, schema: z.ZodType<T>, expected: string): T {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw new PolicyError('invalid_input', { expected, got: path, path });
  }
  return parse(schema, value, 'invalid_input', path);
}
