/**
 * Shows the policies in QuickJS within Python, against Node.js: likely events of every policy, and plans, go to both as
 * the same messages, and the answers are compared to the byte. Exit code 1 where one differs.
 * `npx tsx bench/python/same-decisions.ts [--events 100000] [--seed 1]`, after `npm run build:python`; `PYTHON` says
 * which Python (default `python3`).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { embed } from '../../src/embedded/index.ts';
import { registry } from '../../src/registry.ts';
import { uniform } from '../../src/sim/workload/random.ts';
import { likelyEvents } from '../../src/testing/index.ts';
import { exampleConfigs } from '../../test/support/examples/configs.ts';

const { values } = parseArgs({
  options: { events: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const [wanted, seed] = [Number(values.events), Number(values.seed)];
const mostPerTape = 800;
const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

const python = spawn(process.env.PYTHON ?? 'python3', [path('python/bench/answers.py')], {
  stdio: ['pipe', 'pipe', 'inherit'],
  env: { ...process.env, PYTHONPATH: path('python/src') },
});
const theirs = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
const node = embed('0.1.0', '{}');
/** Whether the last message was not refused. */
let isApplied = false;

/** The answers of both to a message. Those of Python come in order. */
async function differs(message: string): Promise<boolean> {
  const mine = node.call(message);
  isApplied = mine.startsWith('{"jsonrpc":"2.0","id":1,"result"');
  if (!python.stdin.write(`${message}\n`)) await once(python.stdin, 'drain');
  const { value, done } = await theirs.next();
  if (done) throw new Error('Python has ended');
  if (value === mine) return false;
  console.log(
    `${message.slice(0, 500)}\n  Node.js: ${mine.slice(0, 2000)}\n  QuickJS: ${String(value).slice(0, 2000)}`,
  );
  return true;
}

const callOf = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

/** Counts events, refused ones too, and answers that differ. */
async function compare(
  definition: AnyPolicyDefinition,
): Promise<{ events: number; applied: number; different: number }> {
  const { id } = definition;
  let [events, applied, different] = [0, 0, 0];
  const configs = exampleConfigs[id] ?? [{}];
  // However few events are asked for, each configuration has its share.
  const perTape = Math.min(mostPerTape, Math.ceil(wanted / configs.length));
  for (let turn = 0; events < wanted; turn += 1) {
    const config = configs[turn % configs.length];
    const tape = Array.from({ length: 397 }, (_, at) => Math.floor(uniform(seed, turn, at) * 999_983));
    const session = `${id}-${turn}`;
    if (await differs(callOf('session.open', { session, policy: id, config }))) different += 1;
    let sent = 0;
    for (const event of likelyEvents(definition, config, tape, perTape)) {
      // As the client of Python numbers them.
      const message = callOf('session.send', { session, producer: 'p', firstSeq: sent, events: [event] });
      if (await differs(message)) different += 1;
      if (isApplied) sent += 1;
      events += 1;
    }
    const info = JSON.parse(node.call(callOf('session.snapshot', { session }))) as { result: { seq: number } };
    applied += info.result.seq;
    for (const method of ['session.snapshot', 'session.close']) {
      if (await differs(callOf(method, { session }))) different += 1;
    }
  }
  return { events, applied, different };
}

let failed = 0;
for (const definition of registry.policies as readonly AnyPolicyDefinition[]) {
  const { events, applied, different } = await compare(definition);
  console.log(`${definition.id}: ${events} events, ${applied} applied, ${different} answers differ`);
  failed += different;
}
const plans = Math.ceil(wanted / 1000);
let different = 0;
for (let turn = 0; turn < plans; turn += 1) {
  const lengths = Array.from(
    { length: 8 + (turn % 60) },
    (_, at) => 1 + Math.floor(uniform(seed, turn, at) ** 3 * 60_000),
  );
  for (const strategy of ['paper', 'search']) {
    const input = { lengths, devices: [4, 8, 16][turn % 3], strategy };
    if (await differs(callOf('plan', { planner: 'flex-ulysses', input }))) different += 1;
  }
  const input = { groups: [{ rewards: lengths.map((one) => one / 7) }] };
  if (await differs(callOf('plan', { planner: 'grpo-advantages', input }))) different += 1;
}
console.log(`plans: ${plans * 3}, ${different} answers differ`);
python.stdin.end();
process.exitCode = failed + different === 0 ? 0 : 1;
