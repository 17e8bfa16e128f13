/**
 * What the policy costs in the router of example 13: 600 agents at once before 8 mock engines, against the same router
 * with round robin, by turns in one run; each of engines, routers and agents in a process of its own. Prefills cost
 * nothing here, so that a better placement gains nothing.
 *
 * `npx tsx bench/agentic-router.ts [seconds of a part] [repetitions]`
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { create, programScheduling } from '../src/index.ts';
import { machine } from './support.ts';

const seconds = Number(process.argv[2] ?? 8);
const repetitions = Number(process.argv[3] ?? 3);
const programs = 600;
const turnsOfProgram = 12;
const engineCount = 8;
const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const children: ChildProcess[] = [];

/** Starts a process, and returns its first line and what tells its CPU seconds. */
async function start(...args: string[]): Promise<{ line: string; cpuSeconds: () => number }> {
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  // Clock ticks of user and system, of which a second has 100.
  const ticks = (): number[] =>
    readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13).map(Number);
  return { line, cpuSeconds: () => (ticks()[0]! + ticks()[1]!) / 100 };
}

const agent = new Agent({ keepAlive: true, maxSockets: 2 * programs });
let made = 0;

/** One turn, streamed; its milliseconds to the first byte, and to the last. */
function turn(url: string, name: string, content: string): Promise<[number, number]> {
  const messages = [{ role: 'user', content }];
  const more = { stream: true, stream_options: { include_usage: true }, vllm_xargs: { response_tokens: 16 } };
  const headers = { 'content-type': 'application/json', 'x-program-id': name };
  return new Promise((resolve, reject) => {
    const from = performance.now();
    let first = 0;
    const call = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${answer.statusCode}`));
      answer.on('data', () => {
        first ||= performance.now() - from;
      });
      answer.on('end', () => resolve([first, performance.now() - from]));
      answer.on('error', reject);
    });
    call.on('error', reject);
    call.end(JSON.stringify({ messages, ...more }));
  });
}

/** What was measured: turns a second, all turns, and milliseconds of each. */
interface Load {
  readonly perSecond: number;
  readonly turns: number;
  readonly first: number[];
  readonly last: number[];
}

/** All programs for a while; turns begun in that time, once all have begun one. */
async function load(url: string, toolMs: number): Promise<Load> {
  const from = performance.now() + 1000;
  const until = from + seconds * 1000;
  const [first, last]: number[][] = [[], []];
  let [ended, turns] = [0, 0];
  const one = async (): Promise<void> => {
    // So that not all ask at once.
    await sleep(Math.random() * Math.max(toolMs, 100));
    while (performance.now() < until) {
      made += 1;
      const name = `p${made}`;
      for (let number = 0; number < turnsOfProgram && performance.now() < until; number += 1) {
        const begun = performance.now();
        turns += 1;
        const [head, whole] = await turn(url, name, `${name} `.padEnd(4000 + 800 * number, '.'));
        if (begun >= from) {
          first!.push(head);
          last!.push(whole);
        }
        if (performance.now() >= from && performance.now() < until) ended += 1;
        if (toolMs > 0) await sleep(toolMs * (0.5 + Math.random()));
      }
      await fetch(`${url}/programs/${name}`, { method: 'DELETE' });
    }
  };
  await Promise.all(Array.from({ length: programs }, one));
  return { perSecond: ended / seconds, turns, first: first!, last: last! };
}

const at = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;

/** Microseconds of the policy for each turn, in this process: it is asked for, it ends, and a tool begins. */
function measureDecisions(): void {
  const policy = create(programScheduling, {});
  let now = 0;
  for (let engine = 0; engine < engineCount; engine += 1)
    policy.send({ type: 'engine.added', at: now, engineId: `e${engine}` });
  const all = Array.from({ length: programs }, (_, number) => ({ id: `p${number}`, context: 0, tokens: 0, turns: 99 }));
  let next = programs;
  const spent: number[] = [];
  let cpu = process.cpuUsage();
  for (let count = 0; count < 60_000; count += 1) {
    const one = all[count % programs]!;
    now += 0.002;
    if (one.turns >= turnsOfProgram) {
      if (one.context > 0) policy.send({ type: 'program.closed', at: now, requestId: one.id });
      Object.assign(one, { id: `p${next++}`, context: 2000, tokens: 0, turns: 0 });
      policy.send({ type: 'program.opened', at: now, requestId: one.id });
    }
    one.turns += 1;
    if (count === 20_000) cpu = process.cpuUsage();
    const from = performance.now();
    policy.send({ type: 'turn.requested', at: now, requestId: one.id, contextTokens: one.context });
    one.tokens += 64;
    policy.send({ type: 'turn.finished', at: now + 0.001, requestId: one.id, tokens: one.tokens });
    policy.send({ type: 'tool.started', at: now + 0.001, requestId: one.id, tool: 'shell' });
    if (count >= 20_000) spent.push((performance.now() - from) * 1000);
    one.context += 300;
  }
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `policy in process, a turn: ${((user + system) / spent.length).toFixed(1)} µs of CPU; p50 ${at(spent, 0.5).toFixed(1)} µs, p99 ${at(spent, 0.99).toFixed(1)} µs\n`,
  );
}

console.log(`${programs} programs, ${engineCount} engines; ${machine().replace(/; medians.*/, '')}\n`);
measureDecisions();
try {
  const mock = await start(
    file('../src/cli/bin.ts'),
    'mock-engine',
    '--json',
    '--api',
    'vllm',
    '--engines',
    `${engineCount}`,
    '--speed',
    '10',
    '--no-prefix-caching',
  );
  const { engineUrls } = JSON.parse(mock.line) as { engineUrls: string[] };
  const serve = file('../examples/13-agentic-router/serve.ts');
  const routers = {
    policy: await start(serve, '--port', '0', ...engineUrls),
    'round robin': await start(serve, '--port', '0', '--round-robin', ...engineUrls),
  };
  const cell = (value: number, width: number, digits = 0): string => value.toFixed(digits).padStart(width);
  for (const toolMs of [0, 4000]) {
    const parts = Object.entries(routers).map(([name, router]) => ({
      name,
      router,
      loads: [] as Load[],
      cpu: 0,
      turns: 0,
    }));
    for (let repetition = 0; repetition < 2 * repetitions; repetition += 1) {
      // In the order a b, b a.
      const part = parts[(repetition + (repetition >> 1)) % 2]!;
      const before = part.router.cpuSeconds();
      const one = await load(part.router.line, toolMs);
      part.cpu += part.router.cpuSeconds() - before;
      part.turns += one.turns;
      part.loads.push(one);
    }
    const tools = toolMs === 0 ? 'no tools: as fast as it goes' : `tools of ${toolMs / 1000} s`;
    console.log(`${tools.padEnd(30)}turns/s      first byte: p50, p99 ms     whole turn: p50, p99 ms   CPU ms a turn`);
    for (const { name, loads, cpu, turns } of parts) {
      const [first, last] = [loads.flatMap((one) => one.first), loads.flatMap((one) => one.last)];
      const rates = loads.map(({ perSecond }) => perSecond.toFixed(0)).join(' ');
      const times = [first, last].map((one) => `${cell(at(one, 0.5), 18)}${cell(at(one, 0.99), 9)}`).join('');
      console.log(`  ${name.padEnd(14)}${rates.padStart(21)}${times}${cell((1000 * cpu) / turns, 16, 2)}`);
    }
  }
} finally {
  agent.destroy();
  for (const child of children) child.kill('SIGTERM');
}
