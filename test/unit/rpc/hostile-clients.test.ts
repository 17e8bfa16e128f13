/** Clients that mean harm: they take places, room and time, and nobody else may pay for it. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { listenOn, RpcServer, tokenFromFile } from '../../../src/rpc/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { rpc, tail, WireClient } from '../../support/servers/clocked.ts';
import { LineClient } from '../../support/servers/line-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-hostile-'));
afterAll(() => rmSync(folder, { recursive: true }));
const token = 'a-token-of-some-length';
const guarded = (limits: object) => rpc({ limits, isToken: (given) => given === token });
const silent = (server: RpcServer, count: number) => Array.from({ length: count }, () => new WireClient(server));

describe('connections without the token', () => {
  test('take no places of others, and of their own the oldest gives way', async () => {
    const { server } = guarded({ maxConnections: 2, maxUnauthenticated: 3 });
    const before = silent(server, 50);
    const trainer = new WireClient(server);
    await trainer.call('server.authenticate', { token });
    const after = silent(server, 50);
    expect(await trainer.call('session.list')).toEqual({ sessions: [] });
    // Three of their own, and the trainer.
    expect(server.connections).toBe(4);
    expect([...before, ...after].filter((one) => !one.destroyed)).toEqual(after.slice(-3));
    await after.at(-1)!.call('server.authenticate', { token });
    expect(await after.at(-1)!.call('session.list')).toEqual({ sessions: [] });
  });

  test('live for ten seconds, whatever they send', async () => {
    const { server, clock } = guarded({});
    const [quiet, slow, busy] = silent(server, 3) as [WireClient, WireClient, WireClient];
    for (let second = 0; second < 10; second += 1) {
      expect([quiet.destroyed, slow.destroyed, busy.destroyed]).toEqual([false, false, false]);
      await slow.raw('{');
      await busy.raw('\n');
      clock.move(1);
    }
    expect([quiet.destroyed, slow.destroyed, busy.destroyed]).toEqual([true, true, true]);
    expect([server.connections, clock.waiting]).toEqual([0, 0]);
  });

  test('where all places are taken, one that shows the token is closed', async () => {
    const { server, client } = guarded({ maxConnections: 1 });
    await client.call('server.authenticate', { token });
    const other = new WireClient(server);
    await other.raw(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server.authenticate', params: { token } })}\n`);
    expect([other.destroyed, other.lines]).toEqual([true, []]);
    client.destroy();
    const next = new WireClient(server);
    await next.call('server.authenticate', { token });
    expect(server.connections).toBe(1);
  });
});

describe('messages that do not end', () => {
  const limits = { maxMessageBytes: 1024, maxUnfinishedBytes: 4096 };
  const call = `${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'session.list' })}\n`;

  test('share their room; the oldest gives way, is refused when it ends, and its connection goes on', async () => {
    const { server } = rpc({ limits });
    const clients = silent(server, 20);
    for (const one of clients) await one.raw(`"${'x'.repeat(900)}`);
    for (const one of clients) await one.raw('"\n');
    const codes = clients.map((one) => JSON.parse(one.lines[0]!).error);
    // A string is no request; of those that gave way nothing is known but that.
    expect(codes.slice(-4).map((one) => one.code)).toEqual(Array(4).fill(-32600));
    for (const { code, data } of codes.slice(0, -4)) {
      expect(code).toBe(-32000);
      expect(data).toMatchObject({ code: 'limit_exceeded', expected: expect.stringMatching(/^at most 4096 bytes of/) });
    }
    for (const one of clients) expect(await one.call('session.list')).toEqual({ sessions: [] });
  });

  test('do not hinder a client whose message comes in pieces', async () => {
    const { server, client } = rpc({ limits });
    const begin = async () => {
      for (const one of silent(server, 1)) await one.raw('x'.repeat(100));
    };
    for (let others = 0; others < 100; others += 1) await begin();
    for (const [index, piece] of [...call].entries()) {
      await client.raw(piece);
      if (index % 2 === 0) await begin();
    }
    expect(client.lines.map((one) => JSON.parse(one).id)).toEqual([7]);
  });

  test('of clients that have gone take no room', async () => {
    const { server, client } = rpc({ limits });
    await client.raw(call.slice(0, 20));
    for (let turn = 0; turn < 100; turn += 1) {
      const other = new WireClient(server);
      await other.raw('x'.repeat(1000));
      other.destroy();
      await other.raw('x'.repeat(1000));
    }
    await client.raw(call.slice(20));
    expect(JSON.parse(client.lines[0]!)).toMatchObject({ id: 7, result: {} });
  });

  test('one of the longest fits always', async () => {
    const { client } = rpc({ limits: { maxMessageBytes: 4096, maxUnfinishedBytes: 1024 } });
    const long = JSON.stringify({ jsonrpc: '2.0', id: 'x'.repeat(3000), method: 'session.list' });
    for (const piece of [long.slice(0, 2000), long.slice(2000), '\n']) await client.raw(piece);
    expect(JSON.parse(client.lines[0]!).result).toEqual({ sessions: [] });
  });
});

test('over TCP: a trainer comes in and works while others crowd the door', async () => {
  const file = join(folder, 'token');
  writeFileSync(file, token, { mode: 0o600 });
  const limits = { maxConnections: 4, maxUnauthenticated: 8, maxMessageBytes: 1024, maxUnfinishedBytes: 4096 };
  const server = new RpcServer({ limits, isToken: tokenFromFile(file) });
  const listening = await listenOn(server, { port: 0 });
  const sockets: Socket[] = [];
  const open = () =>
    new Promise<Socket>((resolve) => {
      const socket = connect({ port: listening.port! }, () => resolve(socket));
      sockets.push(socket.on('error', () => undefined));
    });
  const crowd = () => Promise.all(Array.from({ length: 20 }, open));
  try {
    for (const socket of await crowd()) socket.write('{"half":"of a line');
    const socket = await open();
    const trainer = new LineClient(socket, socket);
    await trainer.call('server.authenticate', { token });
    const [{ session }] = await Promise.all([trainer.call('session.open', tail), crowd()]);
    expect((await trainer.call('session.list', {})).sessions).toMatchObject([{ session }]);
    expect(server.connections).toBeLessThanOrEqual(4 + 8);
  } finally {
    for (const socket of sockets) socket.destroy();
    await listening.close();
  }
});

test.skipIf(process.platform === 'win32')('a token file that others may read is refused', () => {
  const file = join(folder, 'open-token');
  writeFileSync(file, token);
  for (const mode of [0o644, 0o640, 0o604, 0o620, 0o602, 0o666]) {
    chmodSync(file, mode);
    expect(refusal(() => tokenFromFile(file))).toMatchObject({
      code: 'invalid_input',
      path: file,
      expected: `a file that only its owner may read (chmod 600 ${file})`,
      got: `"mode ${mode.toString(8)}"`,
    });
  }
  for (const mode of [0o600, 0o400]) {
    chmodSync(file, mode);
    expect(tokenFromFile(file)(token)).toBe(true);
  }
});
