/**
 * Shows what the page of running jobs costs: the rate of the same events over Unix sockets, to servers without the page, with it, and
 * with somebody who looks at it (a client that asks as the page does; a real Chromium where there is one), in short slices by turns.
 * A second server without the page shows what the machine alone makes of such a comparison. `npm run build` first, then
 * `npx tsx bench/rpc/dashboard.ts [seconds] [events a call]`. With `--attack` first it shows the same beside clients that mean harm.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bootstrap } from '../../src/sim/comparison/statistics.ts';
import { uniform } from '../../src/sim/workload/random.ts';
import { chromiumPath, launchChromium } from '../../test/support/browser/chromium.ts';
import { builtCli, machine, median } from '../support.ts';
import { batch, config, groupsOf } from './workload.ts';

/** Milliseconds of a slice, about; so many turns of slices make a round, long enough for the page to have asked in each. */
const [sliceMs, turns] = [60, 25];

/** Somebody who looks: only while the slices of this server run, so that the others are not slowed by it. */
interface Watcher {
  resume(): void;
  pause(): void;
  close(): Promise<unknown>;
}

class Server {
  readonly name: string;
  readonly url: string;
  watcher: Watcher | undefined;
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  #left = 0;
  #done = (): void => undefined;

  constructor(name: string, child: ChildProcess, socket: Socket, url: string) {
    [this.name, this.#child, this.#socket, this.url] = [name, child, socket, url];
    socket.on('data', (bytes) => {
      if (bytes.includes('"error"')) throw new Error(`${name}: ${bytes.toString().slice(0, 500)}`);
      for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) this.#left -= 1;
      if (this.#left === 0) this.#done();
    });
  }

  static async start(name: string, folder: string, ...options: string[]): Promise<Server> {
    const path = join(folder, name.replace(/\W/g, '-'));
    const child = spawn(process.execPath, [builtCli(), 'serve', '--socket', path, ...options], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let url = '';
    for await (const line of createInterface({ input: child.stderr! })) {
      url = /(http:\S+)/.exec(line)?.[1] ?? url;
      if (line.includes('listening at')) break;
    }
    const socket = connect(path);
    await once(socket, 'connect');
    return new Server(name, child, socket, url);
  }

  /** Sends lines at once, and waits for as many. */
  say(lines: readonly string[]): Promise<void> {
    return new Promise((resolve) => {
      [this.#left, this.#done] = [lines.length, resolve];
      this.#socket.write(lines.join(''));
    });
  }

  /** Seconds on the processor so far. */
  get cpu(): number {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  async close(): Promise<void> {
    const said = await this.watcher?.close();
    if (typeof said === 'string' && said !== '') console.log(`${this.name}: ${said}`);
    this.#child.kill('SIGKILL');
  }
}

/** Questions of the page about the only session, and the milliseconds between two times that it asks them. */
const questions = ['job', 'session?session=job', 'timeline?session=job&level=1', 'requests?session=job'];
const everyMs = 1000;

/** What clients do who look, or who mean harm, in a process of their own while they are told to. */
const manners = {
  /** As the page does. */
  async asked(get: Get, isOn: () => boolean) {
    for (;;) {
      if (isOn()) for (const one of questions) await get(one);
      await sleep(isOn() ? everyMs : 1);
    }
  },
  /** As fast as it can, on 16 connections. */
  async flood(get: Get, isOn: () => boolean) {
    const one = async (number: number) => {
      for (let at = number; ; at += 1) await (isOn() ? get(questions[at % questions.length]!) : sleep(1));
    };
    await Promise.all(Array.from({ length: 16 }, (_, number) => one(number)));
  },
  /** The same without the key. */
  async 'flood, no key'(get: Get, isOn: () => boolean) {
    const one = async () => {
      for (;;) await (isOn() ? get(questions[0]!, '') : sleep(1));
    };
    await Promise.all(Array.from({ length: 16 }, one));
  },
  /** 400 connections that ask for the longest answers and read nothing, and are opened again when they are cut off. */
  async 'no readers'(_: Get, isOn: () => boolean, url: URL, key: string) {
    const one = async () => {
      for (;;) {
        if (!isOn()) {
          await sleep(1);
          continue;
        }
        const socket = connect(Number(url.port), url.hostname);
        socket.pause();
        socket.on('error', () => undefined);
        for (const path of questions)
          socket.write(`GET /api/${path} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
        await Promise.race([new Promise((resolve) => socket.once('close', resolve)), sleep(2000)]);
        socket.destroy();
      }
    };
    await Promise.all(Array.from({ length: 400 }, one));
  },
};
type Manner = keyof typeof manners;
type Get = (question: string, key?: string) => Promise<void>;

async function behave(manner: Manner, address: string): Promise<void> {
  const url = new URL(address);
  const key = url.hash.slice('#key='.length);
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  let isOn = false;
  const counts: Record<string, number> = {};
  process.on('message', (told) => {
    if (told === 'counts') process.send!(counts);
    else isOn = told === 'resume';
  });
  const get: Get = (question, shown = key) =>
    new Promise((resolve) => {
      const of = { agent, headers: { authorization: `Bearer ${shown}` } };
      const sent = request(`${url.origin}/api/${question}`, of, (response) => {
        counts[response.statusCode!] = (counts[response.statusCode!] ?? 0) + 1;
        response.resume().on('close', resolve);
      });
      sent.on('error', () => {
        counts.failed = (counts.failed ?? 0) + 1;
        resolve();
      });
      sent.end();
    });
  process.send!('ready');
  await manners[manner](get, () => isOn, url, key);
}

async function behaving(manner: Manner, url: string): Promise<Watcher> {
  const child = fork(fileURLToPath(import.meta.url), ['--as', manner, url], { execArgv: process.execArgv });
  await once(child, 'message');
  return {
    resume: () => void child.send('resume'),
    pause: () => void child.send('pause'),
    async close() {
      child.send('counts');
      const [counts] = await once(child, 'message');
      child.kill();
      return Object.entries(counts as object)
        .map(([status, count]) => `${count} ${status}`)
        .join(', ');
    },
  };
}

/** All processes that a process has started. */
function descendants(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((one) => /^\d+$/.test(one))
    .flatMap((one) => {
      try {
        const fields = readFileSync(`/proc/${one}/stat`, 'utf8').split(') ')[1]!.split(' ');
        return [[Number(one), Number(fields[1])] as const];
      } catch {
        return [];
      }
    });
  const of = (parent: number): number[] =>
    parents.filter((one) => one[1] === parent).flatMap(([one]) => [one, ...of(one)]);
  return of(pid);
}

/** A browser that stands still in between: what it has missed it does at once when it goes on. */
async function looking(url: string): Promise<Watcher> {
  const before = new Set(descendants(process.pid));
  const browser = await launchChromium();
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(url);
  await page.waitForSelector('main:not([hidden])');
  const own = descendants(process.pid).filter((one) => !before.has(one));
  const signal = (name: NodeJS.Signals): void => {
    for (const one of own) {
      try {
        process.kill(one, name);
      } catch {
        // A process of the browser that has left.
      }
    }
  };
  return {
    resume: () => signal('SIGCONT'),
    pause: () => signal('SIGSTOP'),
    close: () => {
      signal('SIGCONT');
      return browser.close();
    },
  };
}

const call = (method: string, params: object): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { session: 'job', ...params } })}\n`;

const shuffled = <T>(all: readonly T[], seed: number): T[] =>
  all
    .map((one, at) => ({ one, key: uniform(seed, at) }))
    .sort((a, b) => a.key - b.key)
    .map(({ one }) => one);

async function measure(seconds: number, size: number, isAttack: boolean): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
  const servers = [await Server.start('off', folder), await Server.start('off, again', folder)];
  const dashboard = ['--dashboard', '0'];
  servers.push(await Server.start('on', folder, ...dashboard));
  const names = isAttack
    ? Object.keys(manners).slice(1)
    : ['asked', ...(chromiumPath === undefined ? [] : ['in Chromium'])];
  for (const name of names) servers.push(await Server.start(name, folder, ...dashboard));
  try {
    const sends = groupsOf(size).map((events) => [call('session.send', { events }), events.length] as const);
    const opened = call('session.open', { policy: 'tail-batching', config, onExisting: 'replace' });
    for (const one of servers) await one.say([opened]);
    for (const one of servers) {
      if (one.name === 'in Chromium') one.watcher = await looking(one.url);
      else if (one.name in manners) one.watcher = await behaving(one.name as Manner, one.url);
      one.watcher?.pause();
    }

    let [at, perSlice] = [0, 1];
    const spent = new Map(servers.map((one) => [one.name, { events: 0, seconds: 0, cpu: 0 }]));
    /** One slice of each server, in an order by chance. Returns the seconds of each. */
    const turn = async (number: number, isCounted: boolean): Promise<Map<string, number>> => {
      if (at + perSlice > sends.length) {
        for (const one of servers) await one.say([opened]);
        at = 0;
      }
      const slice = sends.slice(at, at + perSlice);
      at += perSlice;
      const lines = slice.map(([line]) => line);
      const took = new Map<string, number>();
      for (const one of shuffled(servers, number)) {
        one.watcher?.resume();
        const cpu = one.cpu;
        const from = performance.now();
        await one.say(lines);
        const lasted = (performance.now() - from) / 1000;
        one.watcher?.pause();
        took.set(one.name, lasted);
        if (!isCounted) continue;
        const sum = spent.get(one.name)!;
        sum.events += slice.reduce((all, [, events]) => all + events, 0);
        sum.seconds += lasted;
        sum.cpu += one.cpu - cpu;
      }
      return took;
    };

    // The first pass is for the compilers, and says how many calls make a slice.
    let warm = 0;
    for (let number = 0; number < sends.length || warm < 3; number += 1) {
      const took = (await turn(number, false)).get('off')!;
      perSlice = Math.max(1, Math.min(sends.length, Math.round((perSlice * sliceMs) / 1000 / took)));
      warm += took;
      if (warm > 4) break;
    }
    const rounds: Map<string, number>[] = [];
    for (const end = performance.now() + 1000 * seconds; performance.now() < end; ) {
      const sum = new Map(servers.map((one) => [one.name, 0]));
      for (let number = 0; number < turns; number += 1)
        for (const [name, lasted] of await turn(number, true)) sum.set(name, sum.get(name)! + lasted);
      rounds.push(sum);
    }
    console.log(
      `calls of ${size} events, ${perSlice} a slice, ${turns} slices of each server a round, ${rounds.length} rounds`,
    );
    console.log(`the page     events/s   loss of rate: median, 95 %      µs of processor an event`);
    for (const { name } of servers) {
      const { events, seconds: lasted, cpu } = spent.get(name)!;
      const losses = rounds.map((one) => 1 - one.get('off')! / one.get(name)!);
      const { value, low, high } = bootstrap(losses, median, { seed: 1 });
      const loss = name === 'off' ? '' : `${percent(value)}  ${percent(low)} to ${percent(high)}`;
      console.log(
        `${name.padEnd(12)} ${Math.round(events / lasted)
          .toLocaleString('en')
          .padStart(8)}   ${loss.padEnd(30)}  ${((1e6 * cpu) / events).toFixed(2)}`,
      );
    }
  } finally {
    for (const one of servers) await one.close();
    rmSync(folder, { recursive: true });
  }
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`.padStart(7);

const [first, second, third] = process.argv.slice(2);
if (first === '--as') await behave(second as Manner, third!);
else {
  const isAttack = first === '--attack';
  const [seconds = 60, size] = process.argv.slice(isAttack ? 3 : 2).map(Number);
  console.log(machine().replace(/; .*/, ''));
  for (const one of size === undefined ? [batch, 1] : [size]) await measure(seconds, one, isAttack);
  process.exit();
}
