/** Transports that are really opened, by the server in this process and by `rollflex serve`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { JSONRPCClient } from 'json-rpc-2.0';
import { afterAll, describe, expect, test } from 'vitest';
import { listenOn, prometheus, RpcServer, serveStdio, tokenFromFile } from '../../../src/rpc/index.ts';
import { rollflex as runInProcess } from '../../support/command-line/in-process.ts';
import { asUsersModule, entry, rollflex, rollflexOn, root } from '../../support/command-line/process.ts';
import { completed, openingEvents, tail } from '../../support/servers/clocked.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-rpc-'));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

interface Wire {
  readonly client: JSONRPCClient;
  readonly lines: Interface;
  readonly notified: { method: string; params: Record<string, unknown> }[];
}

/** A client that is not ours, over any pair of streams. */
function thirdParty(input: Readable, output: Writable): Wire {
  const client = new JSONRPCClient((request) => void output.write(`${JSON.stringify(request)}\n`));
  const notified: Wire['notified'] = [];
  const lines = createInterface({ input });
  lines.on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined) client.receive(message);
    else notified.push(message);
  });
  return { client, lines, notified };
}

const open = (address: { path: string } | { port: number; host?: string }) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect(address as never, () => resolve(socket));
    socket.on('error', reject);
  });
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.on('close', () => resolve()));
const until = async (what: () => boolean) => {
  const deadline = Date.now() + 60_000;
  while (!what()) {
    if (Date.now() > deadline) throw new Error('it did not happen in 60 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

async function drives({ client }: Wire): Promise<void> {
  const { session } = await client.request('session.open', tail);
  const { decisions } = await client.request('session.send', { session, events: openingEvents() });
  expect(decisions.filter((one: { type: string }) => one.type === 'request.launch')).toHaveLength(9);
  const next = await client.request('session.send', { session, events: [completed('a/0#0')] });
  expect(next.seq).toBe(3);
  await expect(client.request('session.send', { session, events: [{}] })).rejects.toThrow(/expected an event of/);
  await client.request('session.close', { session });
}

test('a third-party client drives a session over standard input and output', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveStdio(new RpcServer(), { input, output });
  await drives(thirdParty(output, input));
  input.end();
  await served;
});

describe('sockets', () => {
  test('a Unix socket: for its owner only; sessions are shared; what a killed server left is no obstacle', async () => {
    const path = join(folder, 'unix.sock');
    const listening = await listenOn(new RpcServer(), { path });
    expect([listening.address, listening.port]).toEqual([path, undefined]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await expect(listenOn(new RpcServer(), { path })).rejects.toThrow(/where a server listens/);
    const sockets = [await open({ path }), await open({ path })];
    const [one, two] = sockets.map((socket) => thirdParty(socket, socket)) as [Wire, Wire];
    await drives(one);
    await one.client.request('session.open', { ...tail, session: 'shared', deliver: 'stream' });
    await two.client.request('session.subscribe', { session: 'shared' });
    await one.client.request('session.send', { session: 'shared', events: openingEvents() });
    await until(() => two.notified.length >= 11);
    expect(one.notified).toEqual([]);
    const ends = sockets.map(closed);
    await listening.close();
    await Promise.all(ends);
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, 'a file');
    await expect(listenOn(new RpcServer(), { path })).rejects.toThrow(/which is no socket/);
  });

  test('a client that closes its half gets the answers to what it sent', async () => {
    const path = join(folder, 'half.sock');
    const server = new RpcServer();
    const listening = await listenOn(server, { path });
    const socket = await open({ path });
    const chunks: Buffer[] = [];
    socket.on('data', (bytes) => chunks.push(bytes));
    const end = closed(socket);
    const call = (id: number) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'server.info' })}\n`;
    socket.end(Array.from({ length: 200 }, (_, id) => call(id)).join(''));
    await end;
    const answers = Buffer.concat(chunks).toString().trim().split('\n');
    expect(answers.map((one) => JSON.parse(one).id)).toEqual(Array.from({ length: 200 }, (_, id) => id));
    await until(() => server.connections === 0);
    await listening.close();
  });

  test('TCP needs a token; a wrong one or none gets nothing', async () => {
    const file = join(folder, 'token');
    writeFileSync(file, 'a-token-of-some-length\n', { mode: 0o600 });
    await expect(listenOn(new RpcServer(), { port: 0 })).rejects.toThrow(/a server with a token/);
    writeFileSync(join(folder, 'short'), 'short', { mode: 0o600 });
    expect(() => tokenFromFile(join(folder, 'short'))).toThrow(/at least 16 characters/);
    const server = new RpcServer({ isToken: tokenFromFile(file) });
    const listening = await listenOn(server, { port: 0 });
    const port = listening.port!;
    expect(listening.address).toBe(`127.0.0.1:${port}`);
    const right = await open({ port });
    const wire = thirdParty(right, right);
    await wire.client.request('server.authenticate', { token: 'a-token-of-some-length' });
    await drives(wire);
    for (const first of [
      { jsonrpc: '2.0', id: 1, method: 'server.authenticate', params: { token: 'another-token-of-some' } },
      { jsonrpc: '2.0', id: 1, method: 'session.list' },
    ]) {
      const socket = await open({ port });
      let bytes = 0;
      socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
      const end = closed(socket);
      socket.write(
        `${JSON.stringify(first)}\n${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'session.open', params: tail })}\n`,
      );
      await end;
      expect(bytes).toBe(0);
    }
    expect(server.sessions.size).toBe(0);
    await expect(listenOn(server, { port })).rejects.toThrow(/an address that is free/);
    await listening.close();
  });

  test('a slow reader is cut off at its limit', async () => {
    const path = join(folder, 'slow.sock');
    const server = new RpcServer({ limits: { maxOutputBytes: 65_536, stallSeconds: 0.3, maxBacklog: 2000 } });
    const listening = await listenOn(server, { path });
    const sockets = [await open({ path }), await open({ path })] as const;
    const wire = thirdParty(sockets[0], sockets[0]);
    const slow = thirdParty(sockets[1], sockets[1]);
    await wire.client.request('session.open', {
      ...tail,
      session: 'x',
      deliver: 'stream',
      config: { promptsPerRound: 3000, responsesPerPrompt: 1 },
    });
    await slow.client.request('session.subscribe', { session: 'x' });
    slow.lines.pause();
    sockets[1].pause();
    const prompts = Array.from({ length: 3750 }, (_, index) => ({ promptId: `prompt-${index}`, ref: 'r'.repeat(200) }));
    const [first] = openingEvents();
    const supplied = { type: 'prompts.supplied', at: 0, roundId: 'r1' };
    await wire.client.request('session.send', {
      session: 'x',
      events: [first, ...[0, 1250, 2500].map((from) => ({ ...supplied, prompts: prompts.slice(from, from + 1250) }))],
    });
    // It has more to read than the system takes and than it is allowed; nobody is to pay for that.
    await until(() => server.connections === 1);
    await expect(wire.client.request('session.send', { session: 'x', events: [] })).rejects.toThrow(/acknowledged/);
    await listening.close();
    sockets[1].destroy();
  });
});

test('metrics and health', async () => {
  const metrics = await prometheus();
  const server = new RpcServer({ meter: metrics.meter });
  const serving = await metrics.listen(server, { port: 0 });
  const get = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${serving.port}${path}`, { method });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveStdio(server, { input, output });
  const { client } = thirdParty(output, input);
  const { session } = await client.request('session.open', tail);
  await client.request('session.send', { session, events: openingEvents() });
  await client.request('made.up', undefined).then(
    () => undefined,
    () => undefined,
  );
  expect(await (await get('/healthz')).text()).toBe('ok\n');
  const text = await (await get('/metrics')).text();
  expect(text).toContain('rollflex_rpc_calls_total{method="session.send",code="0"} 1');
  expect(text).toContain('rollflex_rpc_calls_total{method="unknown",code="-32601"} 1');
  expect(text).toContain('rollflex_events_total{policy="tail-batching"} 2');
  expect(text).toMatch(/rollflex_sessions 1\n/);
  expect(text).toMatch(/rollflex_connections 1\n/);
  expect(text).not.toContain('made.up');
  expect((await get('/other')).status).toBe(404);
  expect((await get('/metrics', 'POST')).status).toBe(404);
  input.end();
  await served;
  await serving.close();
});

describe('rollflex serve', () => {
  const call = (id: number, method: string, params?: unknown) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

  test('--stdio answers all that came, and leaves when its input ends', async () => {
    const run = await rollflexOn(
      call(1, 'session.open', tail) + call(2, 'server.info') + call(3, 'rpc.discover'),
      'serve',
      '--stdio',
    );
    expect([run.code, run.err]).toEqual([0, '']);
    expect(
      run.out
        .trim()
        .split('\n')
        .map((one) => JSON.parse(one).id),
    ).toEqual([1, 2, 3]);
  });

  test('--policies serves definitions of your own; what they print does not get between the messages', async () => {
    const written = join(folder, 'mine.mjs');
    writeFileSync(
      written,
      `import { definePolicy, z } from 'rollflex';
console.log('loaded');
export const mine = definePolicy({
  id: 'acme/queue',
  version: 1,
  summary: 'It does nothing.',
  source: 'acme',
  config: z.strictObject({ promptsPerRound: z.int() }),
  state: z.strictObject({}),
  begin: () => ({}),
  handlers: [],
  decisions: [],
  ledgers: [],
});
export default [mine];
`,
    );
    const file = asUsersModule(mkdtempSync(join(folder, 'user-')), written);
    const open = call(1, 'session.open', { policy: 'acme/queue', config: { promptsPerRound: 2 } });
    const run = await rollflexOn(open, 'serve', '--stdio', '--policies', file, '--max-sessions', '7');
    expect([run.code, run.err]).toEqual([0, 'loaded\n']);
    expect(JSON.parse(run.out).result).toMatchObject({ session: 's1', policy: 'acme/queue' });
  });

  test('--port says where it listens, and stops at a signal', async () => {
    const file = join(folder, 'serve-token');
    writeFileSync(file, 'a-token-of-some-length', { mode: 0o600 });
    const child = spawn(
      process.execPath,
      [...entry, 'serve', '--port', '0', '--token-file', file, '--metrics-port', '0'],
      {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    children.push(child);
    let said = '';
    child.stderr.on('data', (text) => {
      said += text;
    });
    await until(() => said.includes('listening'));
    const port = Number(/listening at 127\.0\.0\.1:(\d+)/.exec(said)![1]);
    const health = /metrics at (http:\S+)\/metrics/.exec(said)![1]!;
    expect(await (await fetch(`${health}/healthz`)).text()).toBe('ok\n');
    const socket = await open({ port });
    const wire = thirdParty(socket, socket);
    await wire.client.request('server.authenticate', { token: 'a-token-of-some-length' });
    await drives(wire);
    const ended = new Promise((resolve) => child.on('exit', resolve));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  const noPolicies = join(folder, 'no-policies.mjs');
  writeFileSync(noPolicies, 'export const none = 0;\n');
  const openToken = join(folder, 'open-token');
  writeFileSync(openToken, 'a-token-of-some-length');
  chmodSync(openToken, 0o644);
  test.each<[string, string[], RegExp]>([
    ['no transport', [], /one of --stdio, --socket PATH, --port N/],
    ['two transports', ['--stdio', '--port', '1'], /one of --stdio/],
    ['TCP without a token', ['--port', '0'], /--token-file beside --port/],
    ['a token that cannot be read', ['--port', '0', '--token-file', '/nowhere'], /nowhere: there is no such file/],
    ['a token that others may read', ['--port', '0', '--token-file', openToken], /chmod 600 .*got "mode 644"/],
    ['a port out of range', ['--port', '70000'], /from 0 to 65535/],
    ['a limit out of range', ['--stdio', '--max-depth', '1'], /from 8 to 512/],
    ['a module without definitions', ['--stdio', '--policies', noPolicies], /exports definitions/],
    ['a module that is not there', ['--stdio', '--policies', './nowhere.js'], /nowhere\.js/],
  ])('wrong use exits with 2: %s', async (_, args, message) => {
    // A module is loaded by Node.
    const how = args.includes('--policies') ? rollflex : runInProcess;
    const run = await how('serve', ...args);
    expect(run.err).toMatch(message);
    expect([run.code, run.out]).toEqual([2, '']);
  });
});
