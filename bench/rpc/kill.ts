/**
 * Shows that a server with a state directory keeps what it has answered, against the same policy in process: `kill -9`
 * at random moments under load, on each transport. Nothing is lost, nothing is applied twice, and every decision is the
 * same.
 * `npx tsx bench/rpc/kill.ts [KILLS] [SEED]`
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killRun } from '../../test/support/servers/kill-run.ts';
import { stdio, tcp, unixSocket } from '../../test/support/servers/line-client.ts';
import { builtCli } from '../support.ts';

const [kills = 334, seed = 1] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'rollflex-kill-'));
const token = 'a token for this run only';
writeFileSync(join(folder, 'token'), token);

for (const [name, transport] of [
  ['stdio', stdio],
  ['unix socket', unixSocket(join(folder, 'socket'))],
  ['tcp', tcp(join(folder, 'token'), token)],
] as const) {
  const begun = performance.now();
  const stateDir = join(folder, name.replace(' ', '-'));
  const figures = await killRun({ command: [process.execPath, builtCli()], transport, stateDir, kills, seed });
  const { calls, events, retries, applied, sessions } = figures;
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  console.log(
    `${name}: ${figures.kills} kills, ${sessions} sessions, ${calls} calls, ${events} events; ${retries} times answers were lost, ${applied} retries found their call applied; nothing lost, nothing twice (${seconds} s)`,
  );
}
rmSync(folder, { recursive: true });
