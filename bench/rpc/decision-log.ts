/**
 * Shows what a decision log costs, against none: the same calls to a server with a log and to one without, turn by
 * turn, in one process.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileDecisionLog, RpcServer } from '../../src/rpc/index.ts';
import { machine, median } from '../support.ts';
import { config, groupsOf } from './workload.ts';

const runs = 5;
const roundCount = 15;
const encoder = new TextEncoder();

/** A client that reads everything at once. */
class Client {
  readonly #connection;
  #id = 0;

  constructor(decisionLog: FileDecisionLog | undefined) {
    const server = new RpcServer(decisionLog === undefined ? {} : { decisionLog });
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
}

/** Sends the events of some rounds, so many a call. */
async function pace(client: Client, size: number): Promise<Pace> {
  const open = { policy: 'tail-batching', config, session: 'x', onExisting: 'replace' };
  await client.send(client.line('session.open', open));
  const groups = groupsOf(size, roundCount);
  const lines = groups.map((events) => client.line('session.send', { session: 'x', events }));
  const took: number[] = [];
  const begun = performance.now();
  for (const line of lines) {
    const from = performance.now();
    await client.send(line);
    took.push(performance.now() - from);
    // As between two messages of a connection: the log is written meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const seconds = (performance.now() - begun) / 1000;
  const events = groups.reduce((sum, one) => sum + one.length, 0);
  return { rate: events / seconds, middle: median(took) * 1000, slowest: Math.max(...took) };
}

const directory = mkdtempSync(join(tmpdir(), 'rollflex-bench-'));
const dropped = { lines: 0 };
const options = { logDir: directory };
const log = new FileDecisionLog(options, { dropped: (_, lines) => (dropped.lines += lines) });
const [plain, logged] = [new Client(undefined), new Client(log)];

console.log(`decision log, tail batching in one process; ${machine()}`);
for (const size of [256, 1]) {
  const [times, shares]: [number[], number[]] = [[], []];
  const [without, having]: [Pace[], Pace[]] = [[], []];
  for (let run = 0; run <= runs; run += 1) {
    const one = await pace(plain, size);
    const other = await pace(logged, size);
    // The first run is for the compilers.
    if (run === 0) continue;
    without.push(one);
    having.push(other);
    times.push(other.middle / one.middle);
    shares.push(other.rate / one.rate);
  }
  const of = (field: keyof Pace, all: readonly Pace[]): number => median(all.map((one) => one[field]));
  const both = (field: keyof Pace, digits: number): string =>
    `${of(field, having).toFixed(digits)} with a log, ${of(field, without).toFixed(digits)} without`;
  console.log(`calls of ${size}, µs of a call: ${both('middle', 1)}: ${median(times).toFixed(2)} times it`);
  console.log(`calls of ${size}, events/s, writing included: ${both('rate', 0)}: ${median(shares).toFixed(2)} of it`);
  console.log(`calls of ${size}, ms of the slowest call: ${both('slowest', 1)}`);
}
await log.close();
const bytes = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
console.log(`${readdirSync(directory).length} files, ${(bytes / 1e6).toFixed(1)} MB, ${dropped.lines} lines dropped`);
rmSync(directory, { recursive: true });
