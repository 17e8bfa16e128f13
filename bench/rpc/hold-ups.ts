/**
 * Shows how long the largest calls that a server takes by default hold up all others, against the time that they take in all: the
 * longest time on the processor between two turns of the event loop. Best with `node --single-threaded --import tsx`.
 */
import { JsonText, type Planning, RpcServer } from '../../src/rpc/index.ts';
import { machine } from '../support.ts';
import { config, groupsOf } from './workload.ts';

const spent = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** The longest turn while something is done, in milliseconds, and all turns together. */
async function turnsOf(work: () => Promise<void>): Promise<{ readonly longest: number; readonly all: number }> {
  let [longest, isOver] = [0, false];
  const from = spent();
  let last = from;
  const tick = (): void => {
    const now = spent();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  isOver = true;
  return { longest, all: spent() - from };
}

const lineOf = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const session = 's';
const send = (events: readonly object[]) => lineOf('session.send', { session, events });
const round = { type: 'round.requested', roundId: 'r', weightVersion: 1 };
const open = (policy: string, of: object) => lineOf('session.open', { session, policy, config: of });
const single = { promptsPerRound: 1_000_000, responsesPerPrompt: 1, promptSpeculation: 1, responseSpeculation: 1 };
const prompts = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ promptId: `prompt-${from + at}` }));
const supplied = (count: number, from = 0) => ({
  type: 'prompts.supplied',
  roundId: 'r',
  prompts: prompts(count, from),
});
/** A round whose requests are in flight. */
const flying = (count: number) => [
  send([round]),
  ...Array.from({ length: count / 2000 }, (_, at) => send([supplied(2000, 2000 * at)])),
];
const node = { type: 'node.added', nodeId: 'n', hostMemoryBytes: 1e15, weight: 1, slots: 64 };
const samples = (count: number) =>
  Array.from({ length: count }, (_, at) => {
    const resolution = { width: 224, height: 224 };
    return { sampleId: `sample-${at}`, kind: 'video', path: `/data/${at}`, frames: 8, resolution, bytes: 1000 };
  });

type Case = readonly [name: string, before: readonly object[], calls: object | readonly object[]];
const cases: readonly Case[] = [
  ['session.send of 10,000 events', [open('tail-batching', config)], send(groupsOf(10_000)[0]!)],
  ['a batch of 1,000 calls', [open('tail-batching', config)], groupsOf(1).slice(0, 1000).map(send)],
  ['prompts.supplied with 8,192 ids', [open('tail-batching', single), send([round])], send([supplied(2730)])],
  [
    'samples.drawn with 8,192 ids',
    [open('shadow-loader', {}), send([node])],
    send([{ type: 'samples.drawn', stepId: 's', samples: samples(8192) }]),
  ],
  [
    'plan of 2 MiB',
    [],
    lineOf('plan', {
      planner: 'micro-batches',
      input: { lengths: Array.from({ length: 400_000 }, (_, at) => 1000 + (at % 900)), ranks: 0 },
    }),
  ],
  [
    'host.restarted, 20,000 requests in flight',
    [open('tail-batching', single), ...flying(20_000)],
    send([{ type: 'host.restarted', idPrefix: 'h1-' }]),
  ],
  [
    'session.snapshot, 20,000 requests in flight',
    [open('tail-batching', single), ...flying(20_000)],
    lineOf('session.snapshot', { session }),
  ],
  ...[{}, { id: 'r' }, { id: 'prompt-x' }].map((asked): Case => {
    const name = `session.why ${JSON.stringify(asked)}, 100,000 requests in flight`;
    return [name, [open('tail-batching', single), ...flying(100_000)], lineOf('session.why', { session, ...asked })];
  }),
];

/** Errors that are part of a case. */
const isExpected = (answer: string): boolean => answer.includes('prompt-x');

/** What a plan costs the thread of events: its input is copied for another thread. */
const planning: Planning = {
  plan({ input }) {
    structuredClone(input);
    return Promise.resolve(new JsonText('{}'));
  },
  close: () => undefined,
};

const only = process.argv[2];
console.log(machine().replace(/medians of .*/, 'least of 5 runs'));
for (const [name, before, calls] of cases) {
  if (only !== undefined && !name.includes(only)) continue;
  const found: { longest: number; all: number }[] = [];
  let bytes = 0;
  for (let run = 0; run < 5; run += 1) {
    const server = new RpcServer({ planning });
    let answer = '';
    const link = { waiting: 0, drained: () => Promise.resolve(), destroy: () => undefined };
    const connection = server.connect({ ...link, write: (text) => void (answer = text) })!;
    const say = (value: object) => new TextEncoder().encode(`${JSON.stringify(value)}\n`);
    for (const one of before) {
      await connection.receive(say(one));
      if (answer.includes('"error"')) throw new Error(`${name}: ${answer.slice(0, 300)}`);
    }
    const line = say(calls);
    bytes = line.length;
    found.push(await turnsOf(() => connection.receive(line)));
    if (answer.includes('"error"') && !isExpected(answer)) throw new Error(`${name}: ${answer.slice(0, 300)}`);
    server.close();
  }
  const least = (of: 'longest' | 'all') => Math.min(...found.map((one) => one[of])).toFixed(1);
  console.log(`${name} (${bytes} bytes): longest turn ${least('longest')} ms of ${least('all')} ms`);
}
