/**
 * Shows events a second and round trips of the server, against an echo server with the same framing and the same
 * messages, both in processes of their own: what a session costs over JSON-RPC, in memory and with a state directory,
 * and what the dispatch library costs.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { JSONRPCServer } from 'json-rpc-2.0';
import { builtCli, machine, median } from '../support.ts';
import { answersOf, batch, config, type Events, echo, groupsOf } from './workload.ts';

const runs = 5;

class Client {
  readonly #child: ChildProcess;
  readonly #waiting: ((line: string) => void)[] = [];
  #id = 0;

  constructor(args: readonly string[]) {
    this.#child = spawn(process.execPath, [...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#waiting.shift()!(line));
  }

  async call(method: string, params: unknown): Promise<{ session: string; decisions: unknown[] }> {
    this.#id += 1;
    const line = `${JSON.stringify({ jsonrpc: '2.0', id: this.#id, method, params })}\n`;
    const answer = await new Promise<string>((resolve) => {
      this.#waiting.push(resolve);
      this.#child.stdin!.write(line);
    });
    const { result, error } = JSON.parse(answer);
    if (error !== undefined) throw new Error(error.message);
    return result;
  }

  end(): void {
    this.#child.stdin!.end();
  }
}

interface Pace {
  readonly eventsPerSecond: number;
  readonly microseconds: number;
}

/** Sends calls one after the other. */
async function pace(client: Client, session: string, groups: readonly Events[]): Promise<Pace> {
  const took: number[] = [];
  const begun = performance.now();
  for (const events of groups) {
    const from = performance.now();
    await client.call('session.send', { session, events });
    took.push(performance.now() - from);
  }
  const seconds = (performance.now() - begun) / 1000;
  const events = groups.reduce((sum, one) => sum + one.length, 0);
  return { eventsPerSecond: events / seconds, microseconds: median(took) * 1000 };
}

const stateDir = mkdtempSync(join(tmpdir(), 'rollflex-bench-'));
const serve = (...options: string[]) => new Client([builtCli(), 'serve', '--stdio', ...options]);
const server = serve();
const durable = serve('--state-dir', stateDir);
const logDir = mkdtempSync(join(tmpdir(), 'rollflex-bench-log-'));
const logged = serve('--log-dir', logDir);
const echoing = new Client(['-e', echo]);

async function compare(server: Client, size: number, most: number) {
  const groups = groupsOf(size).slice(0, most);
  const answers = answersOf(groups);
  const ratios: number[] = [];
  const ours: Pace[] = [];
  const theirs: Pace[] = [];
  for (let run = 0; run <= runs; run += 1) {
    await echoing.call('answers', { answers });
    const { session } = await server.call('session.open', { policy: 'tail-batching', config });
    const one = await pace(server, session, groups);
    const other = await pace(echoing, session, groups);
    await server.call('session.close', { session });
    // The first run is for the compilers.
    if (run === 0) continue;
    ours.push(one);
    theirs.push(other);
    ratios.push(size === 1 ? one.microseconds / other.microseconds : one.eventsPerSecond / other.eventsPerSecond);
  }
  return { ours, theirs, ratio: median(ratios) };
}

const whole = (value: number): string => Math.round(value).toLocaleString('en');
const middle = (paces: readonly Pace[], of: keyof Pace): string => whole(median(paces.map((one) => one[of])));

const results = [];
for (const [name, one] of [
  ['in memory', server],
  ['with a state directory', durable],
  ['with a decision log', logged],
] as const) {
  results.push({ name, batches: await compare(one, batch, 200), singles: await compare(one, 1, 3000) });
  one.end();
}
echoing.end();
for (const folder of [stateDir, logDir]) rmSync(folder, { recursive: true });

/** Microseconds of a call that does nothing, through the library and without it. */
async function dispatch(): Promise<[number, number]> {
  const library = new JSONRPCServer();
  library.addMethodAdvanced('x', (request) => Promise.resolve({ jsonrpc: '2.0', id: request.id!, result: 1 }));
  const own = new Map([
    ['x', (request: { id: number }) => Promise.resolve({ jsonrpc: '2.0', id: request.id, result: 1 })],
  ]);
  const calls = 100_000;
  const timed = async (call: (id: number) => PromiseLike<unknown>): Promise<number> => {
    const begun = performance.now();
    for (let id = 0; id < calls; id += 1) await call(id);
    return ((performance.now() - begun) * 1000) / calls;
  };
  const withLibrary: number[] = [];
  const without: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    withLibrary.push(await timed((id) => library.receive({ jsonrpc: '2.0', id, method: 'x' })));
    without.push(await timed((id) => own.get('x')!({ id })));
  }
  return [median(withLibrary), median(without)];
}

const [withLibrary, without] = await dispatch();
console.log(`rpc, tail batching over standard input and output; ${machine()}`);
for (const { name, batches, singles } of results) {
  console.log(
    `${name}, batches of ${batch}: ${middle(batches.ours, 'eventsPerSecond')} events/s, echo ${middle(batches.theirs, 'eventsPerSecond')}: ${batches.ratio.toFixed(2)} of it`,
  );
  console.log(
    `${name}, single events: median round trip ${middle(singles.ours, 'microseconds')} µs, echo ${middle(singles.theirs, 'microseconds')}: ${singles.ratio.toFixed(2)} times it`,
  );
}
console.log(`dispatch of a call: ${withLibrary.toFixed(2)} µs with json-rpc-2.0, ${without.toFixed(2)} with a map`);
