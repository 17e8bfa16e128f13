/** The program that writes the golden traces. It changes its directory, which no thread of a mutation run can. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { program } from '../support/command-line/in-process.ts';

test('make.ts writes the traces that are named, and no others', async () => {
  const into = mkdtempSync(join(tmpdir(), 'rollflex-golden-'));
  const make = (id: string) => program('test/golden/make.ts', id, '--into', into);
  try {
    await expect(make('sandbox-timeouts')).rejects.toThrow('did you mean "sandbox-timeout"?');
    expect(readdirSync(into)).toEqual([]);
    await make('sandbox-timeout');
    expect(readdirSync(into)).toEqual(['sandbox-timeout.jsonl']);
  } finally {
    rmSync(into, { recursive: true, force: true });
  }
});
