/**
 * Shows what `rollflex explain` and `rollflex debug` cost on a long log of a server: how fast the index is made, what log and index
 * weigh, how long an answer takes afterwards, process start included, and a step to any event, the next one, the one before. Beside the time stands the CPU time, which says more
 * on a busy machine. The log is made first, in a folder of your choice (third argument) where it is kept for the next run.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registry } from '../../src/index.ts';
import { LogIndex } from '../../src/logs/index/log-index.ts';
import { FileDecisionLog } from '../../src/rpc/index.ts';
import { uniform } from '../../src/sim/workload/random.ts';
import { builtCli, machine, median } from '../support.ts';
import { job } from './job.ts';

const events = Number(process.argv[2] ?? 1_000_000);
const [runs, steps] = [5, 40];
const folder = mkdtempSync(join(tmpdir(), 'rollflex-explain-'));
const kept = process.argv[3];
const logDir = kept ?? join(folder, 'log');

/** Writes the log of a server on which the job runs. Returns the number of lines that were dropped. */
async function write(): Promise<number> {
  let dropped = 0;
  const log = new FileDecisionLog({ logDir, logFiles: 100 }, { dropped: (_, lines) => (dropped += lines) });
  const { policy, play } = job({ promptsPerRound: 128, responsesPerPrompt: 8 });
  const lines = log.of({ id: 'job', deliver: 'reply', timers: 'host', shadow: false, inFlight: 2000, policy });
  policy.observe((event, decisions) => lines.applied(event, decisions, undefined));
  for (let count = 0; count < events; count += 1) {
    lines.before();
    play(1);
    if (count % 1000 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
  }
  await log.close();
  return dropped;
}

/** Seconds on the clock, and of the CPU. */
interface Took {
  readonly wall: number;
  readonly cpu: number;
}

function took(work: () => unknown): Took {
  const [begun, before] = [performance.now(), process.cpuUsage()];
  work();
  const { user, system } = process.cpuUsage(before);
  return { wall: (performance.now() - begun) / 1000, cpu: (user + system) / 1e6 };
}

/** Runs the command, and returns the times of its process. */
function command(...args: string[]): Took {
  const begun = performance.now();
  // `times` of the shell tells the CPU time of its children.
  const shell = [
    '-c',
    '"$@" >/dev/null && times',
    'sh',
    process.execPath,
    builtCli(),
    'explain',
    logDir,
    '--index',
    join(folder, 'other'),
  ];
  const { status, stdout, stderr } = spawnSync('sh', [...shell, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const [user, system] = [...stdout.split('\n')[1]!.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, m, sec]) => 60 * Number(m) + Number(sec),
  );
  return { wall: (performance.now() - begun) / 1000, cpu: user! + system! };
}

const both = (all: readonly Took[], digits: number, times = 1): string =>
  `${(times * median(all.map(({ wall }) => wall))).toFixed(digits)} (CPU ${(times * median(all.map(({ cpu }) => cpu))).toFixed(digits)})`;
const bytesIn = (path: string): number =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0);
console.log(`explain, a log of tail batching, 128 x 8; ${machine(runs)}`);
const isThere = kept !== undefined && existsSync(kept);
const dropped = isThere ? 0 : await write();
const logBytes = bytesIn(logDir);
console.log(`log: ${events} events, ${(logBytes / 1e6).toFixed(0)} MB, ${dropped} lines dropped`);

// As the command does: the trace of an error costs more than an event.
Error.stackTraceLimit = 0;
const cache = join(folder, 'index');
const options = {
  restore: (snapshot: unknown) => registry.restore(snapshot, { validate: false }),
  writer: 'bench',
  cache,
};
const made = took(() => new LogIndex([logDir], options).close());
console.log(
  `index: ${both([made], 1)} s, ${(events / made.wall).toFixed(0)} events/s (CPU ${(events / made.cpu).toFixed(0)}), ${(bytesIn(cache) / 1e6).toFixed(0)} MB`,
);

const index = new LogIndex([logDir], options);
const anywhere = (seed: number, draw: number): number => Math.floor(uniform(seed, draw) * events);
for (const [name, seqOf] of [
  ['any event, just started', (draw) => anywhere(3, draw)],
  ['any event', (draw) => anywhere(4, draw)],
  ['the next one', (draw) => events / 2 + draw],
  ['the one before', (draw) => events / 2 - draw],
] as readonly (readonly [string, (draw: number) => number])[]) {
  const all = Array.from({ length: steps }, (_, draw) => took(() => index.stateAt('job', { seq: seqOf(draw) })));
  const longest = all.reduce((a, b) => (b.cpu > a.cpu ? b : a));
  console.log(`a step to ${name}, ms: median ${both(all, 1, 1000)}, longest of ${steps} ${both([longest], 0, 1000)}`);
}
index.close();

console.log(`the first command, index included: ${both([command()], 1)} s`);
for (const [name, args] of [
  ['the session', []],
  ['a prompt', ['--prompt', 'prompt-17', '--chain']],
  ['an engine', ['--engine', 'engine-3', '--chain']],
  ['in the middle', ['--at', String(events / 2)]],
] as const) {
  const all = Array.from({ length: runs }, () => command(...args));
  console.log(`explain ${name}, s: ${both(all, 2)}`);
}
rmSync(folder, { recursive: true });
