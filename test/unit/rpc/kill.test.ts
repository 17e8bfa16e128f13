/** A few of the kills of `bench/rpc/kill.ts`: `kill -9` under load, on each transport. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { met, times } from '../../support/basics/runs.ts';
import { entry } from '../../support/command-line/process.ts';
import { killRun } from '../../support/servers/kill-run.ts';
import { stdio, tcp, unixSocket } from '../../support/servers/line-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-kill-'));
afterAll(() => rmSync(folder, { recursive: true }));
const token = 'a token for this test only';
writeFileSync(join(folder, 'token'), token, { mode: 0o600 });

test.each([
  ['standard input and output', stdio, 'always'],
  ['a Unix socket', unixSocket(join(folder, 'socket')), 'interval'],
  ['TCP', tcp(join(folder, 'token'), token), 'always'],
] as const)('kill -9 over %s: nothing answered is lost, nothing is applied twice', async (name, transport, fsync) => {
  const stateDir = join(folder, name);
  const command = [process.execPath, ...entry] as const;
  const figures = await killRun({ command, transport, stateDir, kills: times(4), seed: 3, fsync });
  expect(figures.kills).toBeGreaterThanOrEqual(times(4));
  // A single kill may come before the first answer.
  expect(figures.calls).toBeGreaterThanOrEqual(met(1));
});
