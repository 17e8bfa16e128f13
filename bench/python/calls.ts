/**
 * Shows what calls of the Python client cost, against an echo: the policies in its process, beside a server, a function
 * of the engine that returns its text, and an echo server in Node with the same framing and the same messages, all
 * called in turn by the same Python code (single events, calls of 64 and 256, large calls, loading and memory). Then
 * the server and the echo alone: batches of 256 events, also with a state directory, single events, and single events
 * of asyncio. `PYTHON` says which Python (default `python3`), `--embedded` leaves the second part out.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answersOf, batch, config, echo, groupsOf } from '../rpc/workload.ts';
import { builtCli, machine, median } from '../support.ts';

interface Pace {
  readonly eventsPerSecond: number;
  /** A call in the median. */
  readonly microseconds: number;
}
interface Run {
  readonly server: Pace;
  readonly echo: Pace;
}
const ways = {
  embedded: 'embedded',
  server: 'server (spawned)',
  function: 'function in the engine',
  echo: 'echo (spawned)',
} as const;
type Way = keyof typeof ways;
interface Engines {
  /** By size of the call, then by turn. */
  readonly paces: readonly (readonly Readonly<Record<Way, Pace & { readonly late: number }>>[])[];
  readonly large: readonly Readonly<
    Record<'embedded' | 'server', Readonly<Record<'launching' | 'completing', number>>>
  >[];
  readonly loading: Readonly<Partial<Record<Way, { readonly seconds: number; readonly mebibytes: number }>>>;
}

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'rollflex-bench-'));
const python = process.env.PYTHON ?? 'python3';

/** What a program of `python/bench` prints. */
function measured(program: string, work: unknown, ...args: string[]): unknown {
  const file = join(folder, 'workload.json');
  writeFileSync(file, JSON.stringify(work));
  writeFileSync(join(folder, 'echo.js'), echo);
  const { status, stdout, stderr } = spawnSync(python, [path(`python/bench/${program}`), file, ...args], {
    encoding: 'utf8',
    env: { ...process.env, PYTHONPATH: path('python/src') },
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
const commands = () => [
  JSON.stringify([process.execPath, join(folder, 'echo.js')]),
  JSON.stringify([process.execPath, builtCli()]),
];
function workOf(size: number, most: number) {
  const groups = groupsOf(size).slice(0, most);
  return { config, groups, answers: answersOf(groups) };
}

function paces(size: number, most: number, client: string, ...options: string[]): Run[] {
  return measured('rpc.py', workOf(size, most), client, ...commands(), ...options) as Run[];
}

/** The policies in the process of Python, beside a server and what comes and goes alone. */
function embedded(): void {
  const sizes = [
    [1, 3000],
    [64, 300],
    [256, 100],
  ] as const;
  const works = sizes.map(([size, most]) => workOf(size, most));
  const { paces, large, loading } = measured('engines.py', works, ...commands()) as Engines;
  const [single, some, many] = paces as [Engines['paces'][0], Engines['paces'][0], Engines['paces'][0]];
  console.log('| | median µs | 99th percentile µs | events/s in calls of 64 | of 256 | loads in s | MiB |');
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  for (const way of Object.keys(ways) as Way[]) {
    const found = loading[way];
    const row = [
      ways[way],
      middle(single, (run) => run[way].microseconds).toFixed(1),
      whole(middle(single, (run) => run[way].late)),
      whole(middle(some, (run) => run[way].eventsPerSecond)),
      whole(middle(many, (run) => run[way].eventsPerSecond)),
      found?.seconds.toFixed(2) ?? '',
      found === undefined ? '' : whole(found.mebibytes),
    ];
    console.log(`| ${row.join(' | ')} |`);
  }
  const share = middle(single, (run) => run.embedded.microseconds / run.server.microseconds);
  console.log(`a single event, embedded: ${share.toFixed(2)} of a call to the server`);
  for (const way of ['embedded', 'server'] as const) {
    const milliseconds = (call: 'launching' | 'completing') =>
      (middle(large, (run) => run[way][call]) * 1000).toFixed(1);
    console.log(
      `${ways[way]}: prompts.supplied with 640 launches ${milliseconds('launching')} ms, round.completed with 160 prompts ${milliseconds('completing')} ms`,
    );
  }
}

const middle = <R>(runs: readonly R[], of: (run: R) => number): number => median(runs.map(of));
const whole = (value: number): string => Math.round(value).toLocaleString('en');

/** The server and the echo, called in turn. */
function serverAlone(): void {
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
}

const version = spawnSync(python, ['--version'], { encoding: 'utf8' }).stdout.trim();
console.log(`rpc from Python, tail batching over standard input and output; ${version}; ${machine()}`);

embedded();
if (!process.argv.includes('--embedded')) serverAlone();
rmSync(folder, { recursive: true });
