/**
 * Shows that wrong input does no harm to the server, against a model of what every line is owed: malformed, truncated,
 * oversized, deep, `__proto__`-carrying, non-UTF-8, half-closed and broken-off input. The run ends with an error that
 * names the line where an answer or a session is another.
 * `npx tsx bench/rpc/fuzz.ts [inputs] [seed]`, 100,000 inputs if nothing else is said: nine tenths in process, the rest
 * over a Unix socket and standard input of `rollflex serve`, and to a server that asks for a token.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fuzzLimits } from '../../test/support/wire/fuzz-owed.ts';
import { corpus, Fuzzer } from '../../test/support/wire/fuzzer.ts';
import { inProcess, overSocket, overStdio } from '../../test/support/wire/grounds.ts';
import { Draw, mutations } from '../../test/support/wire/mutations.ts';

const [inputs = 100_000, seed = 1] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'rollflex-fuzz-'));
const setting = { limits: fuzzLimits };
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const heap = (): number => {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
};
const whole = (value: number): string => value.toLocaleString('en');
const say = (where: string, { inputs, connections, results, errors }: Fuzzer): void =>
  console.log(
    `${where}: ${whole(inputs)} inputs over ${whole(connections)} connections, ${whole(errors)} errors, ${whole(results)} results`,
  );

const counts: Record<string, number> = {};
const add = (fuzzer: Fuzzer): void => {
  for (const [name, count] of Object.entries(fuzzer.counts)) counts[name] = (counts[name] ?? 0) + count;
};

const first = new Fuzzer(inProcess(setting), seed);
await first.begin();
while (first.inputs < inputs * 0.1) await first.converse(20);
const warm = heap();
while (first.inputs < inputs * 0.9) await first.converse(20);
say('in process', first);
console.log(`  heap ${warm.toFixed(1)} MiB after a ninth of them, ${heap().toFixed(1)} MiB after all`);
add(first);

const served = await overSocket(setting, folder, 'fuzz');
const second = new Fuzzer(served, seed + 1);
await second.begin();
while (second.inputs < inputs * 0.06) await second.converse(20);
say('rollflex serve --socket', second);
add(second);
await served.end();

/** Each connection is a process: what it is owed is checked, and that it leaves. */
let third = 0;
for (let turn = 0; third < inputs * 0.01; turn += 1) {
  const process = overStdio(setting, folder);
  const fuzzer = new Fuzzer(process, seed + 100 + turn, { alone: true });
  await fuzzer.converse(200);
  third += fuzzer.inputs;
  add(fuzzer);
}
console.log(`rollflex serve --stdio: ${whole(third)} inputs`);

/** Without the token nothing comes back, whatever is said. */
const guarded = inProcess({ ...setting, token: 'a-token-of-some-length' });
const draw = new Draw(seed + 2);
const pool = corpus().filter((line) => !line.includes('a-token-of-some-length'));
let fourth = 0;
for (; fourth < inputs * 0.03; fourth += 1) {
  const peer = await guarded.connect();
  const name = draw.of(Object.keys(mutations));
  counts[name] = (counts[name] ?? 0) + 1;
  const line = mutations[name]!(draw.of(pool), draw, pool, fuzzLimits.maxMessageBytes);
  peer.send(Buffer.concat([line, Buffer.from('\n')]));
  peer.end();
  await peer.closed();
  const got = (await peer.next('answer')) ?? (await peer.next('notification'));
  if (got !== undefined) throw new Error(`got ${JSON.stringify(got)} for ${line}`);
}
console.log(`without the token: ${whole(fourth)} inputs, nothing came back`);
console.log(
  Object.entries(counts)
    .map(([name, count]) => `${name}: ${whole(count)}`)
    .join('; '),
);
rmSync(folder, { recursive: true });
