/**
 * Shows that a Python process whose policies run in it keeps what it has answered, against Node.js: `kill -9` at random
 * moments under load, with sessions in a directory. Nothing is lost, nothing is applied twice, every decision is the
 * same.
 * `npm run build:python && npx tsx bench/python/kill.ts [KILLS] [SEED]`; `PYTHON` says which Python (default
 * `python3`).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killRun } from '../../test/support/servers/kill-run.ts';
import { stdio } from '../../test/support/servers/line-client.ts';

const [kills = 500, seed = 1] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'rollflex-kill-'));
const path = (name: string): string => fileURLToPath(new URL(`../../python/${name}`, import.meta.url));
process.env.PYTHONPATH = path('src');

const begun = performance.now();
const command = [process.env.PYTHON ?? 'python3', path('tests/embedded_server.py')] as const;
const figures = await killRun({ command, transport: stdio, stateDir: join(folder, 'state'), kills, seed });
const { calls, events, retries, applied, sessions } = figures;
const seconds = ((performance.now() - begun) / 1000).toFixed(0);
console.log(
  `${figures.kills} kills, ${sessions} sessions, ${calls} calls, ${events} events; ${retries} times answers were lost, ${applied} retries found their call applied; nothing lost, nothing twice (${seconds} s)`,
);
rmSync(folder, { recursive: true });
