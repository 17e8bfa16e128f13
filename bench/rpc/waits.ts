/**
 * What single events of 64 clients wait while others ask for much, against the same clients alone: `thorough` plans, calls of 10,000
 * events, JSON-RPC batches of 1,000 calls, events of 6,528 ids. Servers of several checkouts, each built, are measured in turn:
 * `npx tsx bench/rpc/waits.ts [seconds of each] [folder]...`
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { machine } from '../support.ts';
import { config, groupsOf } from './workload.ts';

const clients = 64;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
const line = (id: number | string, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
const lengths = Array.from({ length: 1000 }, (_, at) => (at % 10 === 0 ? 20_000 + 97 * at : 100 + 3 * at));
const thorough = { planner: 'flex-ulysses', input: { lengths, devices: 128, effort: 'thorough' } };
const small = { planner: 'flex-ulysses', input: { lengths: [32_768, 16_384, 4096, 4096], devices: 4 } };

/** A client that sends text, and reads as many lines; it looks into none of them. */
function client(path: string): (text: string, lines?: number) => Promise<void> {
  const socket = connect(path);
  let [left, done] = [0, (): void => undefined];
  socket.on('data', (bytes) => {
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) left -= 1;
    if (left === 0) done();
  });
  // The server is stopped while loads are under way.
  socket.on('error', () => undefined);
  return (text, lines = 1) =>
    new Promise((answered) => {
      [left, done] = [lines, answered];
      socket.write(text);
    });
}

const opened = (session: string, of: object = config) =>
  line(0, 'session.open', { session, policy: 'tail-batching', config: of });
const closed = (session: string) => line(0, 'session.close', { session });
const sent = (session: string, events: readonly object[]) => line(1, 'session.send', { session, events });
const wide = { promptsPerRound: 128, responsesPerPrompt: 50, promptSpeculation: 1, responseSpeculation: 1 };
const prompts = Array.from({ length: 128 }, (_, at) => ({ promptId: `p${at}` }));

/** What each load sends again and again: texts, each with the number of its answers. */
const loads: Readonly<Record<string, (session: string) => readonly (readonly [text: string, lines: number])[]>> = {
  alone: () => [],
  'thorough plans': () => [[line(1, 'plan', thorough), 1]],
  'calls of 10,000 events': (session) => [
    [opened(session), 1],
    ...groupsOf(10_000).map((events) => [sent(session, events), 1] as const),
    [closed(session), 1],
  ],
  'batches of 1,000 calls': (session) => [
    [opened(session), 1],
    ...groupsOf(1000).map(
      (events) => [`[${events.map((one) => sent(session, [one]).trim()).join(',')}]\n`, 1] as const,
    ),
    [closed(session), 1],
  ],
  'events of 6,528 ids': (session) => [
    [opened(session, wide), 1],
    [
      sent(session, [
        { type: 'round.requested', roundId: 'r', weightVersion: 1 },
        { type: 'prompts.supplied', roundId: 'r', prompts },
      ]),
      1,
    ],
    [closed(session), 1],
  ],
};
const all = 'all of these';

/** In a process of its own: two clients of each load, until they are stopped. */
async function load(path: string, name: string): Promise<void> {
  const names = name === all ? Object.keys(loads) : [name];
  const turns = names.flatMap((one) =>
    [1, 2].map((number) => ({ texts: loads[one]!(`${one} ${number}`), send: client(path) })),
  );
  process.send!('ready');
  await once(process, 'message');
  for (const { texts, send } of turns) {
    void (async () => {
      while (texts.length > 0) for (const [text, lines] of texts) await send(text, lines);
    })();
  }
}

/** Milliseconds that single events waited, about 50 a second of each client; with every hundredth comes a small plan, not timed. */
async function waits(path: string, seconds: number): Promise<number[]> {
  const took: number[] = [];
  let isOver = false;
  const eventsOf = async (number: number): Promise<void> => {
    const [send, plan, session] = [client(path), client(path), `s${number}`];
    let isPlanning = false;
    await send(opened(session, { promptsPerRound: 2, responsesPerPrompt: 2 }));
    for (let round = 0; !isOver; round += 1) {
      if (round % 100 === 99 && !isPlanning) {
        isPlanning = true;
        void plan(line(1, 'plan', small)).then(() => (isPlanning = false));
      }
      // Every second event is refused: the round before it still runs. Both are answered on the thread of events.
      const text = sent(session, [{ type: 'round.requested', roundId: `r${round}`, weightVersion: round }]);
      const from = performance.now();
      await send(text);
      took.push(performance.now() - from);
      await pause(10 + ((number * 7 + round * 13) % 20));
    }
  };
  const every = Promise.all(Array.from({ length: clients }, (_, number) => eventsOf(number)));
  await pause(1000 * seconds);
  isOver = true;
  // A server that plans on the thread of events answers when the plan is done.
  await Promise.race([every, pause(60_000)]);
  return took.sort((a, b) => a - b);
}

async function measure(folder: string, name: string, seconds: number): Promise<void> {
  const state = mkdtempSync(join(tmpdir(), 'waits-'));
  const path = join(state, 'socket');
  const children: ChildProcess[] = [];
  try {
    const server = spawn(process.execPath, [resolve(folder, 'dist/cli.js'), 'serve', '--socket', path], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    children.push(server);
    await once(server.stderr!, 'data');
    const args = [...process.execArgv, fileURLToPath(import.meta.url), '--load', path, name];
    const loading = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    children.push(loading);
    await once(loading, 'message');
    loading.send('go');
    const took = await waits(path, seconds);
    if (took.length === 0) return console.log(`${name}, ${folder}: no event was answered in ${seconds + 60} s`);
    const at = (share: number) => took[Math.min(took.length - 1, Math.floor(share * took.length))]!.toFixed(1);
    console.log(
      `${name}, ${folder}: ${took.length} events, median ${at(0.5)} ms, 99 % ${at(0.99)} ms, longest ${at(1)} ms`,
    );
  } finally {
    for (const child of children) child.kill('SIGKILL');
    rmSync(state, { recursive: true });
  }
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--load') await load(rest[0]!, rest[1]!);
else {
  console.log(machine());
  for (const name of [...Object.keys(loads), all]) {
    for (const folder of rest.length > 0 ? rest : ['.']) await measure(folder, name, Number(first ?? 10));
  }
  process.exit();
}
