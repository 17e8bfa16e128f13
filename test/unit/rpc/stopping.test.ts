/** Sockets at their ends: what was answered arrives, and who does not read it holds up nobody. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { type Listening, listenOn, RpcServer } from '../../../src/rpc/index.ts';
import { entry, root } from '../../support/command-line/process.ts';
import { openingEvents, tail } from '../../support/servers/clocked.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-stop-'));
afterAll(() => rmSync(folder, { recursive: true }));
/** From now on timers wait for a clock that the test moves; what sockets do takes real time, as does `sleep`. */
const ownClock = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
afterEach(() => void vi.useRealTimers());
let sockets = 0;

async function listening(limits = {}): Promise<{ server: RpcServer; at: Listening; open(): Promise<Socket> }> {
  const path = join(folder, `${++sockets}.sock`);
  const server = new RpcServer({ limits });
  const at = await listenOn(server, { path });
  return { server, at, open: () => opened(path) };
}
const opened = (path: string) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true }, () => resolve(socket.pause()));
    socket.on('error', reject);
  });
const call = (id: number, method = 'server.info', params?: unknown) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
/** All that comes until the server has closed, as messages. */
async function read(socket: Socket): Promise<{ id?: number; method?: string; error?: { code: number } }[]> {
  let text = '';
  socket.setEncoding('utf8').on('data', (more) => {
    text += more;
  });
  socket.resume();
  await new Promise<void>((resolve) => socket.once('end', () => resolve()));
  socket.end();
  expect(text.endsWith('\n') || text === '').toBe(true);
  return text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
const until = async (what: () => boolean) => {
  const deadline = Date.now() + 60_000;
  while (!what()) {
    if (Date.now() > deadline) throw new Error('it did not happen in 60 s');
    await sleep(5);
  }
};
/** More than the system takes for a client that does not read. */
const many = 120;
const calls = Array.from({ length: many }, (_, id) => call(id)).join('');
const ids = Array.from({ length: many }, (_, id) => id);

describe('a server that stops', () => {
  test('has every client read what it was answered, and hear of its sessions', async () => {
    const { at, server, open } = await listening();
    const socket = await open();
    socket.write(call(1000, 'session.open', { ...tail, session: 'x', deliver: 'stream' }));
    socket.write(call(1001, 'session.subscribe', { session: 'x' }) + calls);
    await until(() => socket.bytesWritten > 0 && server.sessions.size === 1);
    await sleep(300);
    const closed = at.close();
    await sleep(50);
    const messages = await read(socket);
    expect(messages.map((one) => one.id)).toEqual([1000, 1001, ...ids, undefined]);
    expect(messages.at(-1)).toMatchObject({ method: 'session.closed', params: { session: 'x', reason: 'closed' } });
    await closed;
    expect([server.connections, server.sessions.size]).toEqual([0, 0]);
  });

  test('reads no further call, and does not answer half a line', async () => {
    const { at, server, open } = await listening();
    const socket = await open();
    socket.write(call(1) + call(2).slice(0, 20));
    await until(() => server.connections === 1);
    await sleep(100);
    const closed = at.close();
    socket.write(call(2).slice(20) + call(3, 'session.open', tail));
    expect((await read(socket)).map((one) => one.id)).toEqual([1]);
    await closed;
  });

  test('does not wait long for who does nothing, nor for ever for who does not read', async () => {
    const { at, open } = await listening();
    await open();
    const from = Date.now();
    await at.close();
    expect(Date.now() - from).toBeLessThan(4900);
    ownClock();
    const other = await listening();
    const deaf = await other.open();
    deaf.write(calls.repeat(3));
    await until(() => other.server.connections === 1);
    await sleep(300);
    const closed = other.at.close();
    await vi.advanceTimersByTimeAsync(4900);
    await sleep(50);
    expect(other.server.connections).toBe(1);
    await vi.advanceTimersByTimeAsync(100);
    await closed;
    expect(other.server.connections).toBe(0);
    deaf.destroy();
  });

  test('rollflex serve, at a signal', async () => {
    const path = join(folder, 'signal.sock');
    const child = spawn(process.execPath, [...entry, 'serve', '--socket', path], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const exit = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
    await new Promise<void>((resolve) => child.stderr.once('data', () => resolve()));
    const socket = await opened(path);
    socket.write(calls);
    await sleep(2000);
    child.kill('SIGTERM');
    await sleep(100);
    expect((await read(socket)).map((one) => one.id)).toEqual(ids);
    expect(await exit).toBe(0);
  });
});

describe('a client that has closed its half', () => {
  test('gets all that it asked for, at whatever pace it reads', async () => {
    const { at, server, open } = await listening();
    // Of some answers a part is left that is too small for the stream to say when it has gone.
    const one = async (count: number): Promise<void> => {
      const socket = await open();
      socket.end(
        ids
          .slice(0, count)
          .map((id) => call(id))
          .join(''),
      );
      await sleep(10);
      expect((await read(socket)).map((one) => one.id)).toEqual(ids.slice(0, count));
    };
    for (let from = 1; from <= many; from += 20) await Promise.all(ids.slice(0, 20).map((at) => one(from + at)));
    await until(() => server.connections === 0);
    await at.close();
  });

  test('and does not read is cut off in time', async () => {
    ownClock();
    const { at, open } = await listening({ stallSeconds: 30 });
    const socket = await open();
    socket.end(calls);
    await until(() => vi.getTimerCount() > 0);
    await sleep(300);
    await vi.advanceTimersByTimeAsync(30_000);
    // What the system has taken may still be read; then it ends.
    const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    let text = '';
    socket.setEncoding('utf8').on('data', (more) => {
      text += more;
    });
    socket.resume();
    await ended;
    expect(text).toContain('"id":0,');
    expect(text).not.toContain(`"id":${many - 1},`);
    await at.close();
  });

  test('subscribes to nothing any more', async () => {
    const { at, server, open } = await listening();
    const socket = await open();
    socket.end(
      call(1, 'session.open', { ...tail, session: 'x', deliver: 'stream' }) +
        call(2, 'session.subscribe', { session: 'x' }) +
        call(3, 'session.send', { session: 'x', events: openingEvents() }),
    );
    expect((await read(socket)).filter((one) => one.method === undefined)).toHaveLength(3);
    expect([...server.sessions.get('x').stream.readers]).toEqual([]);
    await at.close();
  });
});
