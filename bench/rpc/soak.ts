/**
 * Shows decisions, times and memory of a server under load for minutes, against the same policy in process. 64 clients
 * with 1,000 sessions each call `rollflex serve --socket`, a process of its own, without a pause; the memory of the
 * server is measured after collections of garbage. `npx tsx bench/rpc/soak.ts [seconds] [clients] [sessions of each]`
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { entry, root } from '../../test/support/command-line/process.ts';
import { Fleet } from '../../test/support/servers/soak.ts';
import { bytesFor, slowReader, withoutToken } from '../../test/support/servers/soak-trouble.ts';
import { machine } from '../support.ts';

const [seconds = 300, clients = 64, sessions = 1000] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'rollflex-soak-'));
const whole = (value: number): string => Math.round(value).toLocaleString('en');
const begun = performance.now();
const say = (text: string): void =>
  console.log(`${((performance.now() - begun) / 1000).toFixed(0).padStart(4)} s  ${text}`);

async function serve(...args: string[]): Promise<{ readonly child: ChildProcess; readonly said: string }> {
  const memory = ['--expose-gc', '--import', fileURLToPath(new URL('soak-memory.mjs', import.meta.url))];
  const child = spawn(process.execPath, [...memory, ...entry, 'serve', ...args], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const said = await new Promise<string>((resolve) => {
    let text = '';
    child.stderr!.on('data', (more) => {
      text += more;
      if (text.includes('listening')) resolve(text);
    });
  });
  return { child, said };
}

interface Memory {
  readonly seconds: number;
  /** Bytes. */
  readonly rss: number;
  readonly heapUsed: number;
}

const memoryOf = (child: ChildProcess): Promise<Memory> =>
  new Promise((resolve) => {
    child.once('message', (message) => {
      resolve({ seconds: (performance.now() - begun) / 1000, ...(message as Omit<Memory, 'seconds'>) });
    });
    child.send('memory');
  });

/** Bytes a second, by least squares. */
function slope(samples: readonly Memory[], of: 'rss' | 'heapUsed'): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
  const [x, y] = [mean(samples.map((one) => one.seconds)), mean(samples.map((one) => one[of]))];
  const products = samples.map((one) => (one.seconds - x) * (one[of] - y));
  const squares = samples.map((one) => (one.seconds - x) ** 2);
  return mean(products) / mean(squares);
}

const quantile = (values: readonly number[], q: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))] ?? 0;
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Seconds in which the slow reader must read; the load goes on meanwhile. */
const stall = Math.min(10, seconds / 6);
const path = join(folder, 'soak.sock');
const { child } = await serve('--socket', path, '--stall-seconds', String(stall), '--max-output-bytes', '1048576');
const fleet = new Fleet();
try {
  say(machine().replace(/; medians.*/, ''));
  say(`empty: ${mib((await memoryOf(child)).rss)}`);
  await fleet.open(path, clients, sessions);
  say(`${whole(fleet.sessions)} sessions open: ${mib((await memoryOf(child)).heapUsed)} of heap`);
  // Every session is several rounds old, and every producer has as many answers as are kept.
  await fleet.rounds(12);
  const samples = [await memoryOf(child)];
  say(`warm after ${whole(fleet.calls)} calls: ${mib(samples[0]!.heapUsed)} of heap, RSS ${mib(samples[0]!.rss)}`);
  const [callsBefore, eventsBefore] = [fleet.calls, fleet.events];
  const from = performance.now();
  const until = from + seconds * 1000;
  fleet.took = [];
  const running = fleet.run(() => performance.now() >= until);
  await sleep((seconds * 1000) / 3);
  const before = fleet.took;
  fleet.took = [];
  const slow = await slowReader(path);
  await sleep(stall * 2000);
  const [during, came] = [fleet.took, await slow.read()];
  fleet.took = [];
  if (came >= slow.due) throw new Error(`the slow reader was sent all of ${came} decisions`);
  say(`a reader that stopped was cut off with ${whole(came)} of ${whole(slow.due)} decisions`);
  for (const [name, took] of [
    ['before', before],
    ['with it', during],
  ] as const) {
    say(
      `  calls of the others ${name}: median ${quantile(took, 0.5).toFixed(1)} ms, 99 % ${quantile(took, 0.99).toFixed(1)} ms`,
    );
  }
  while (performance.now() < until - 1000) {
    samples.push(await memoryOf(child));
    say(`${mib(samples.at(-1)!.heapUsed)} of heap, RSS ${mib(samples.at(-1)!.rss)}, ${whole(fleet.calls)} calls`);
    await sleep(Math.max(0, Math.min((seconds * 1000) / 10, until - performance.now())));
  }
  await running;
  const took = (performance.now() - from) / 1000;
  samples.push(await memoryOf(child));
  const [first, last] = [samples[0]!, samples.at(-1)!];
  say(`${whole((fleet.events - eventsBefore) / took)} events/s, ${whole((fleet.calls - callsBefore) / took)} calls/s`);
  say(
    `heap ${mib(first.heapUsed)} when warm, ${mib(last.heapUsed)} at the end; RSS ${mib(first.rss)}, ${mib(last.rss)}`,
  );
  say(`slope: heap ${mib(slope(samples, 'heapUsed') * 60)} a minute, RSS ${mib(slope(samples, 'rss') * 60)} a minute`);
  const { sessions: checked, decisions } = fleet.check();
  say(
    `${whole(checked)} sessions, ${whole(decisions)} decisions are those in process; ${whole(fleet.retries)} retries`,
  );

  const token = 'a-token-of-some-length';
  writeFileSync(join(folder, 'token'), token, { mode: 0o600 });
  const guarded = await serve('--port', '0', '--token-file', join(folder, 'token'));
  const port = Number(/:(\d+)/.exec(guarded.said)![1]);
  const tries = Array.from({ length: 20 }, () => withoutToken(token)).flat();
  const bytes = await Promise.all(tries.map((one) => bytesFor(port, one)));
  const leaked = bytes.reduce((sum, one) => sum + one, 0);
  guarded.child.kill('SIGTERM');
  say(`${tries.length} connections without the token got ${leaked} bytes`);
  if (leaked > 0) process.exitCode = 1;
} finally {
  fleet.close();
  const exit = new Promise((resolve) => child.on('exit', resolve));
  child.kill('SIGTERM');
  await exit;
  rmSync(folder, { recursive: true });
}
