/**
 * Shows what a decision log costs, and what the watchdogs of a server cost, against neither: the same calls to three
 * servers, turn by turn, in one process.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileDecisionLog, RpcServer, type ServerOptions } from '../../src/rpc/index.ts';
import { machine, median } from '../support.ts';
import { config, groupsOf } from './workload.ts';

const runs = 5;
const roundCount = 15;
const encoder = new TextEncoder();

/** A client that reads everything at once. */
class Client {
  readonly #connection;
  /** Ends its timers. */
  readonly close: () => void;
  #id = 0;

  constructor(options: ServerOptions) {
    const server = new RpcServer(options);
    this.close = () => server.close();
    const link = { write: () => undefined, waiting: 0, drained: () => Promise.resolve(), destroy: () => undefined };
    this.#connection = server.connect(link)!;
  }

  line(method: string, params: object): Uint8Array {
    this.#id += 1;
    return encoder.encode(`${JSON.stringify({ jsonrpc: '2.0', id: this.#id, method, params })}\n`);
  }

  send(line: Uint8Array): Promise<void> {
    return this.#connection.receive(line);
  }
}

interface Pace {
  readonly rate: number;
  /** Of a call: the middle in microseconds, the slowest in milliseconds. */
  readonly middle: number;
  readonly slowest: number;
  /** Microseconds of processor time for each event, which other programs on the machine change little. */
  readonly processor: number;
}

/** Sends the events of some rounds, so many a call. */
async function pace(client: Client, size: number): Promise<Pace> {
  const open = { policy: 'tail-batching', config, session: 'x', onExisting: 'replace' };
  await client.send(client.line('session.open', open));
  const groups = groupsOf(size, roundCount);
  const lines = groups.map((events) => client.line('session.send', { session: 'x', events }));
  const took: number[] = [];
  const begun = performance.now();
  const used = process.cpuUsage();
  for (const line of lines) {
    const from = performance.now();
    await client.send(line);
    took.push(performance.now() - from);
    // As between two messages of a connection: the log is written meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(used);
  const events = groups.reduce((sum, one) => sum + one.length, 0);
  return {
    rate: events / seconds,
    middle: median(took) * 1000,
    slowest: Math.max(...took),
    processor: (user + system) / events,
  };
}

const directory = mkdtempSync(join(tmpdir(), 'rollflex-bench-'));
const dropped = { lines: 0 };
const options = { logDir: directory };
const log = new FileDecisionLog(options, { dropped: (_, lines) => (dropped.lines += lines) });
const plain = new Client({});
const others = { log: new Client({ decisionLog: log }), watchdog: new Client({ watch: {} }) };

console.log(`decision log and watchdog, tail batching in one process; ${machine()}`);
for (const size of [256, 1]) {
  const paces: Record<string, [other: Pace, plain: Pace][]> = { log: [], watchdog: [] };
  for (let run = 0; run <= runs; run += 1) {
    for (const [name, client] of Object.entries(others)) {
      const without = await pace(plain, size);
      const having = await pace(client, size);
      // The first run is for the compilers.
      if (run > 0) paces[name]!.push([having, without]);
    }
  }
  for (const [name, pairs] of Object.entries(paces)) {
    const told = (field: keyof Pace, digits: number, unit: string): void => {
      const [having, without] = [0, 1].map((side) => median(pairs.map((pair) => pair[side]![field])).toFixed(digits));
      const ratio = median(pairs.map(([one, other]) => one[field] / other[field])).toFixed(2);
      console.log(`calls of ${size}, ${unit}: ${having} with a ${name}, ${without} without: ${ratio} of it`);
    };
    told('middle', 1, 'µs of a call');
    told('processor', 1, 'µs of processor time an event');
    told('rate', 0, 'events/s, writing included');
    told('slowest', 1, 'ms of the slowest call');
  }
}
for (const one of [plain, ...Object.values(others)]) one.close();
await log.close();
const bytes = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
console.log(`${readdirSync(directory).length} files, ${(bytes / 1e6).toFixed(1)} MB, ${dropped.lines} lines dropped`);
rmSync(directory, { recursive: true });
