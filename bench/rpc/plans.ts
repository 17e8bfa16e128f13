/**
 * What events of 64 clients wait while another client asks for `thorough` plans: `npx tsx bench/rpc/plans.ts [folder of the built
 * package] [seconds]`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const [dist = 'dist', seconds = '20'] = process.argv.slice(2);
const clients = 64;
const path = join(mkdtempSync(join(tmpdir(), 'plans-')), 'socket');
const server = spawn(process.execPath, [resolve(dist, 'cli.js'), 'serve', '--socket', path], {
  stdio: ['ignore', 'ignore', 'pipe'],
});
await once(server.stderr!, 'data');

/** A client that waits for each answer. */
function client(): { call: (method: string, params: object) => Promise<unknown>; socket: Socket } {
  const socket = connect(path);
  const waiting = new Map<number, (answer: unknown) => void>();
  createInterface({ input: socket }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line);
    waiting.get(id)?.(result ?? error);
    waiting.delete(id);
  });
  let id = 0;
  const call = (method: string, params: object) =>
    new Promise<unknown>((done) => {
      id += 1;
      waiting.set(id, done);
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  return { call, socket };
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
const lengths = Array.from({ length: 1000 }, (_, at) => (at % 10 === 0 ? 20_000 + 97 * at : 100 + 3 * at));
const small = { lengths: [32_768, 16_384, 4096, 4096], devices: 4 };
const waits: number[] = [];
let [plans, isOver] = [0, false];

/** Sends single events, about 50 a second; every hundredth call is a small plan, which is not timed. */
async function eventsOf(number: number): Promise<void> {
  const { call, socket } = client();
  const session = `s${number}`;
  const config = { promptsPerRound: 2, responsesPerPrompt: 2 };
  await call('session.open', { session, policy: 'tail-batching', config });
  for (let round = 0; !isOver; round += 1) {
    if (round % 100 === 99) await call('plan', { planner: 'flex-ulysses', input: small });
    // Every second event is refused: the round before it still runs. Both are answered on the thread of events.
    const event = { type: 'round.requested', roundId: `r${round}`, weightVersion: round };
    const from = performance.now();
    await call('session.send', { session, events: [event] });
    waits.push(performance.now() - from);
    await pause(10 + ((number * 7 + round * 13) % 20));
  }
  socket.destroy();
}

async function thorough(): Promise<void> {
  const { call, socket } = client();
  while (!isOver) {
    const plan = call('plan', { planner: 'flex-ulysses', input: { lengths, devices: 128, effort: 'thorough' } });
    await Promise.race([plan.then(() => (plans += 1)), pause(1000 * Number(seconds))]);
  }
  socket.destroy();
}

function report(what: string): void {
  waits.sort((a, b) => a - b);
  const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(share * waits.length))]!.toFixed(1);
  console.log(
    `${what}: ${waits.length} events, median ${at(0.5)} ms, 99 % ${at(0.99)} ms, longest ${at(1)} ms, ${plans} plans done`,
  );
}

for (const isPlanned of [false, true]) {
  [isOver, plans] = [false, 0];
  waits.length = 0;
  const all = [...Array.from({ length: clients }, (_, number) => eventsOf(number)), ...(isPlanned ? [thorough()] : [])];
  await pause(1000 * Number(seconds));
  isOver = true;
  // A server that plans on the thread of events answers when the plan is done.
  await Promise.race([Promise.all(all), pause(60_000)]);
  report(isPlanned ? 'beside thorough plans' : 'alone');
}
server.kill('SIGKILL');
process.exit();
