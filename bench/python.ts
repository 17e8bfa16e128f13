/**
 * The Python client against the server and against an echo server in Node with the same framing and the same messages,
 * both over standard input and output, called in turn by the same Python code. Batches of 256 events, also with a state
 * directory, single events, and single events of asyncio. `PYTHON` says which Python (default `python3`).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answersOf, batch, config, echo, groupsOf } from './rpc-workload.ts';
import { builtCli, machine, median } from './support.ts';

interface Pace {
  readonly eventsPerSecond: number;
  readonly microseconds: number;
}
interface Run {
  readonly server: Pace;
  readonly echo: Pace;
}

const path = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'rollflex-bench-'));
const python = process.env.PYTHON ?? 'python3';

function paces(size: number, most: number, client: 'threads' | 'asyncio', ...options: string[]): Run[] {
  const groups = groupsOf(size).slice(0, most);
  const file = join(folder, 'workload.json');
  writeFileSync(file, JSON.stringify({ config, groups, answers: answersOf(groups) }));
  writeFileSync(join(folder, 'echo.js'), echo);
  const command = [process.execPath, builtCli()];
  const { status, stdout, stderr } = spawnSync(
    python,
    [
      path('python/bench/rpc.py'),
      file,
      client,
      JSON.stringify([process.execPath, join(folder, 'echo.js')]),
      JSON.stringify(command),
      ...options,
    ],
    { encoding: 'utf8', env: { ...process.env, PYTHONPATH: path('python/src') }, maxBuffer: 1 << 26 },
  );
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Run[];
}

const whole = (value: number): string => Math.round(value).toLocaleString('en');

const version = spawnSync(python, ['--version'], { encoding: 'utf8' }).stdout.trim();
console.log(`rpc from Python, tail batching over standard input and output; ${version}; ${machine()}`);
const middle = (runs: readonly Run[], of: (run: Run) => number): number => median(runs.map(of));
for (const [name, ...options] of [[''], ['with a state directory, ', join(folder, 'state')]]) {
  const batches = paces(batch, 200, 'threads', ...options);
  const ratio = middle(batches, (run) => run.server.eventsPerSecond / run.echo.eventsPerSecond);
  console.log(
    `${name}batches of ${batch}: ${whole(middle(batches, (run) => run.server.eventsPerSecond))} events/s, echo ${whole(middle(batches, (run) => run.echo.eventsPerSecond))}: ${ratio.toFixed(2)} of it`,
  );
}
for (const client of ['threads', 'asyncio'] as const) {
  const singles = paces(1, 3000, client);
  const times = middle(singles, (run) => run.server.microseconds / run.echo.microseconds);
  console.log(
    `single events, ${client}: median round trip ${whole(middle(singles, (run) => run.server.microseconds))} µs, echo ${whole(middle(singles, (run) => run.echo.microseconds))}: ${times.toFixed(2)} times it`,
  );
}
rmSync(folder, { recursive: true });
