/**
 * Shows events a second and round trips of the server, against an echo server with the same framing and the same
 * messages, both in processes of their own: what a session costs over JSON-RPC, in memory and with a state directory,
 * and what the dispatch library costs. With `npx tsx bench/rpc/calls.ts OTHER`, the folder of another checkout that is built, its
 * server answers the same calls in turn with ours, and ratios say how ours compares.
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
const [otherBuild] = process.argv.slice(2);
const serve = (...options: string[]) => new Client([builtCli(), 'serve', '--stdio', ...options]);
const rival = (...options: string[]) =>
  otherBuild === undefined ? undefined : new Client([join(otherBuild, 'dist/cli.js'), 'serve', '--stdio', ...options]);
const logDir = mkdtempSync(join(tmpdir(), 'rollflex-bench-log-'));
const servers = [
  ['in memory', serve(), rival()],
  [
    'with a state directory',
    serve('--state-dir', join(stateDir, 'ours')),
    rival('--state-dir', join(stateDir, 'other')),
  ],
  ['with a decision log', serve('--log-dir', join(logDir, 'ours')), rival('--log-dir', join(logDir, 'other'))],
] as const;
const echoing = new Client(['-e', echo]);

async function compare(server: Client, other: Client | undefined, size: number, most: number) {
  const groups = groupsOf(size).slice(0, most);
  const answers = answersOf(groups);
  const ratios: number[] = [];
  const overOther: number[] = [];
  const ours: Pace[] = [];
  const theirs: Pace[] = [];
  const run = async (client: Client) => {
    const { session } = await client.call('session.open', { policy: 'tail-batching', config });
    const found = await pace(client, session, groups);
    await client.call('session.close', { session });
    return found;
  };
  // The first turn is for the compilers. Another build needs more turns: the difference is small.
  for (let turn = 0; turn <= (other === undefined ? runs : 4 * runs); turn += 1) {
    await echoing.call('answers', { answers });
    // Who is first takes turns, too.
    const before = other !== undefined && turn % 2 === 0 ? await run(other) : undefined;
    const one = await run(server);
    const rivals = before ?? (other && (await run(other)));
    const echo = await pace(echoing, '', groups);
    if (turn === 0) continue;
    ours.push(one);
    theirs.push(echo);
    const ratio = (than: Pace): number =>
      size === 1 ? one.microseconds / than.microseconds : one.eventsPerSecond / than.eventsPerSecond;
    ratios.push(ratio(echo));
    if (rivals !== undefined) overOther.push(ratio(rivals));
  }
  return { ours, theirs, ratio: median(ratios), overOther };
}

const whole = (value: number): string => Math.round(value).toLocaleString('en');
const middle = (paces: readonly Pace[], of: keyof Pace): string => whole(median(paces.map((one) => one[of])));

/** Median, and the middle half. */
function spread(ratios: readonly number[]): string {
  const sorted = ratios.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(3);
  return ratios.length === 0 ? '' : `; ${at(0.5)} (${at(0.25)} to ${at(0.75)}) of the other build`;
}

const results = [];
for (const [name, one, other] of servers) {
  results.push({
    name,
    batches: await compare(one, other, batch, 200),
    singles: await compare(one, other, 1, 3000),
  });
  one.end();
  other?.end();
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
    `${name}, batches of ${batch}: ${middle(batches.ours, 'eventsPerSecond')} events/s, echo ${middle(batches.theirs, 'eventsPerSecond')}: ${batches.ratio.toFixed(2)} of it${spread(batches.overOther)}`,
  );
  console.log(
    `${name}, single events: median round trip ${middle(singles.ours, 'microseconds')} µs, echo ${middle(singles.theirs, 'microseconds')}: ${singles.ratio.toFixed(2)} times it${spread(singles.overOther)}`,
  );
}
console.log(`dispatch of a call: ${withLibrary.toFixed(2)} µs with json-rpc-2.0, ${without.toFixed(2)} with a map`);
