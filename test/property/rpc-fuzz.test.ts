/** Nothing that comes over a wire breaks the server, or changes a session that it should not. See also bench/rpc/fuzz.ts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { met, times } from '../support/basics/runs.ts';
import { fuzzLimits } from '../support/wire/fuzz-owed.ts';
import { Fuzzer } from '../support/wire/fuzzer.ts';
import { inProcess, overSocket } from '../support/wire/grounds.ts';
import { mutations } from '../support/wire/mutations.ts';

test('malformed, truncated, oversized, deep, wrong, with __proto__, not UTF-8, half-closed: in process', async () => {
  const fuzzer = new Fuzzer(inProcess({ limits: fuzzLimits }), 1);
  await fuzzer.begin();
  while (fuzzer.inputs < times(4000)) await fuzzer.converse(20);
  for (const name of [...Object.keys(mutations), 'half-closed', 'broken off']) {
    expect(fuzzer.counts[name], name).toBeGreaterThan(met(10));
  }
  // It is of use only where some of it goes deep.
  expect(fuzzer.results).toBeGreaterThan(met(100));
  expect(fuzzer.errors).toBeGreaterThan(met(1000));
});

test('the same over a socket of rollflex serve', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollflex-fuzz-'));
  const served = await overSocket({ limits: fuzzLimits }, folder, 'fuzz');
  try {
    const fuzzer = new Fuzzer(served, 2);
    await fuzzer.begin();
    while (fuzzer.inputs < times(400)) await fuzzer.converse(20);
  } finally {
    await served.end();
    rmSync(folder, { recursive: true });
  }
});
