/**
 * Shows what the mock engine costs, against a bare HTTP server that writes as many bytes in as many pieces: requests,
 * the simulation and the made-up tokens. 10,000 responses of the bundled trace, at most 1,024 at a time, each server in
 * a process of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { machine } from '../support.ts';

const responses = Number(process.argv[2] ?? 10_000);
const concurrency = 1024;
const cli = fileURLToPath(new URL('../../src/cli/bin.ts', import.meta.url));

/** Writes what it is told: events of a stream of so many bytes, or one body. */
const bare = `
const { createServer } = require('node:http');
const server = createServer((request, response) => {
  let text = '';
  request.on('data', (part) => (text += part));
  request.on('end', () => {
    const { events, bytes } = JSON.parse(text);
    if (events === 1) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('x'.repeat(bytes));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const piece = 'x'.repeat(Math.ceil(bytes / events));
    for (let event = 1; event < events; event += 1) response.write(piece);
    response.end(piece);
  });
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ url: 'http://127.0.0.1:' + server.address().port })));`;

async function start(args: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  return { child, url: (JSON.parse(line) as { url: string }).url };
}

interface Got {
  readonly bytes: number;
  readonly events: number;
  readonly tokens: number;
}

/** All of the responses, as many at a time as may be; the seconds that they took. */
async function load(
  url: string,
  path: string,
  bodyOf: (index: number) => object,
): Promise<Got & { seconds: number; each: Got[] }> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const each: Got[] = [];
  let next = 0;
  const one = (index: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const call = request(new URL(path, url), { method: 'POST', agent, headers }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => {
          const text = Buffer.concat(parts).toString();
          const tokens = Number(
            /"completion_tokens":(\d+)/.exec(text.slice(text.lastIndexOf('"completion_tokens"')))?.[1] ?? 0,
          );
          each[index] = { bytes: text.length, events: text.split('\n\n').length - 1 || 1, tokens };
          resolve();
        });
        response.on('error', reject);
      });
      call.on('error', reject);
      call.end(JSON.stringify(bodyOf(index)));
    });
  const startedAt = performance.now();
  const worker = async (): Promise<void> => {
    while (next < responses) await one(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  agent.destroy();
  const sum = (part: keyof Got): number => each.reduce((all, got) => all + got[part], 0);
  return { bytes: sum('bytes'), events: sum('events'), tokens: sum('tokens'), seconds, each };
}

const text = (index: number): string => `prompt ${index >> 3}`;
const sglang = (stream: boolean) => (index: number) => ({
  text: text(index),
  stream,
  sampling_params: { sampling_seed: index & 7, max_new_tokens: 16_000 },
});
const chat = (index: number) => ({
  messages: [{ role: 'user', content: text(index) }],
  seed: index & 7,
  stream: true,
  stream_options: { include_usage: true },
});
const cases = [
  { name: 'SGLang, whole', args: [], path: '/generate', body: sglang(false) },
  {
    name: 'SGLang, what is new',
    args: ['--incremental-streaming', '--stream-interval', '64'],
    path: '/generate',
    body: sglang(true),
  },
  { name: 'SGLang, all so far', args: ['--stream-interval', '64'], path: '/generate', body: sglang(true) },
  {
    name: 'vLLM, chat stream',
    args: ['--api', 'vllm', '--stream-interval', '64'],
    path: '/v1/chat/completions',
    body: chat,
  },
];

console.log(`${responses} responses, ${concurrency} at a time; ${machine().replace(/; medians.*/, '')}\n`);
console.log(
  '                       responses/s    tokens/s  events  MB    wall s  simulated s   bare HTTP: share of its rate',
);
for (const { name, args, path, body } of cases) {
  const speed = ['--speed', 'max', '--settle-ms', '0', '--engines', '4'];
  const mock = await start(['--import', 'tsx', cli, 'mock-engine', '--json', ...speed, ...args]);
  const got = await load(mock.url, path, body);
  const { seconds: simulated } = (await (await fetch(`${mock.url}/clock`)).json()) as { seconds: number };
  mock.child.kill('SIGTERM');
  await once(mock.child, 'exit');
  const other = await start(['-e', bare]);
  const plain = await load(other.url, '/', (index) => ({
    events: got.each[index]!.events,
    bytes: got.each[index]!.bytes,
  }));
  other.child.kill('SIGKILL');
  const cell = (value: number, width: number, digits = 0) => value.toFixed(digits).padStart(width);
  console.log(
    name.padEnd(22) +
      cell(responses / got.seconds, 12) +
      cell(got.tokens / got.seconds, 12) +
      cell(got.events, 8) +
      cell(got.bytes / 1e6, 6) +
      cell(got.seconds, 8, 1) +
      cell(simulated, 13, 1) +
      `${cell((100 * plain.seconds) / got.seconds, 12)} %`,
  );
}
