/** Calls that take long: they pause, others come in between, and what concerns their session waits for their end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { create, tailBatching } from '../../../../src/index.ts';
import { listenOn, RpcServer } from '../../../../src/rpc/index.ts';
import { completed, type Reply, rpc, tail, WireClient } from '../../../support/servers/clocked.ts';
import { LineClient, opened } from '../../../support/servers/line-client.ts';
import { MemoryStore, serverOn, settleAll, turn } from '../../../support/servers/memory-store.ts';

const { config } = tail;
/** Events of a round that its requests never end, so many. */
const events = (count: number) => [
  { type: 'round.requested', at: 0, roundId: 'r', weightVersion: 1 },
  ...Array.from({ length: count - 1 }, (_, at) => ({
    type: 'prompts.supplied',
    at: at + 1,
    roundId: 'r',
    prompts: [{ promptId: `p${at}` }],
  })),
];
const many = 12;
const sent = { session: 'x', producer: 'p', firstSeq: 0, events: events(many) };
const decisionsOf = (all: readonly object[]) => {
  const policy = create(tailBatching, config);
  return JSON.parse(JSON.stringify(all.flatMap((one) => policy.send(one as never))));
};
const step = { seq: many, nextSeq: many, decisions: decisionsOf(sent.events) };
const lineOf = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

async function inTheMiddle(server: RpcServer): Promise<void> {
  while (!server.sessions.get('x').isPaused) await new Promise((resolve) => setImmediate(resolve));
}

/** A session `x` whose clock moves when it is looked at, and a client whose call is in the middle. */
async function paused(open: object = {}, options: object = {}) {
  const server = rpc(options);
  await server.client.call('session.open', { ...tail, session: 'x', ...open });
  server.clock.perLook = 0.002;
  const one = new WireClient(server.server);
  const done = one.raw(lineOf(1, 'session.send', sent));
  await inTheMiddle(server.server);
  return { ...server, one, done, other: new WireClient(server.server) };
}
const answer = ({ lines }: WireClient, id = 1): Reply =>
  lines.map((line) => JSON.parse(line)).find((one) => one.id === id);
const settled = async () => {
  for (let turns = 0; turns < 20; turns += 1) await turn();
};

describe('a call that takes long', () => {
  test('is answered after calls of others that came later, with the answer of one go', async () => {
    const { one, done, other, server } = await paused();
    await other.call('session.open', { ...tail, session: 'y' });
    await other.call('session.send', { session: 'y', events: events(1) });
    expect(one.lines).toEqual([]);
    await done;
    expect(answer(one).result).toEqual(step);
    expect(server.sessions.get('x').seq).toBe(many);
  });

  test('that is refused in the middle keeps the events before', async () => {
    const { other } = await paused();
    const wrong = { session: 'y', events: [...events(many), { type: 'no-such' }, ...events(1)] };
    await other.call('session.open', { ...tail, session: 'y' });
    const { error } = await other.reply('session.send', wrong);
    expect(error!.data).toMatchObject({ index: many, seq: many, decisions: step.decisions });
  });

  test('goes on when its connection is gone, and a retry gets its answer', async () => {
    const { one, other } = await paused();
    one.destroy();
    expect(await other.call('session.send', sent)).toEqual(step);
    expect(one.lines).toEqual([]);
  });

  test('is applied once where a retry comes before its end', async () => {
    const { one, done, other } = await paused();
    expect(await other.call('session.send', sent)).toEqual(step);
    await done;
    expect(answer(one).result).toEqual(step);
    expect((await other.call('session.snapshot', { session: 'x' })).seq).toBe(many);
  });

  test('is not seen from its middle', async () => {
    const { other } = await paused();
    expect((await other.call('session.list')).sessions).toMatchObject([{ session: 'x', seq: 0 }]);
    const snapshot = other.call('session.snapshot', { session: 'x' });
    const attached = other.call('session.open', { ...tail, session: 'x', onExisting: 'attach' });
    expect((await snapshot).seq).toBe(many);
    expect((await attached).seq).toBe(many);
    expect((await other.call('session.list')).sessions).toMatchObject([{ seq: many }]);
  });

  test('ends before its session is closed or replaced; what comes later finds the next one', async () => {
    for (const [method, params, seq] of [
      ['session.close', { session: 'x' }, undefined],
      ['session.open', { ...tail, session: 'x', onExisting: 'replace' }, 1],
    ] as const) {
      const { one, done, other, server } = await paused();
      const third = new WireClient(server);
      const ended = other.call(method, params);
      const late = third.reply('session.send', { session: 'x', events: events(1) });
      await Promise.all([done, ended]);
      expect(answer(one).result).toEqual(step);
      if (seq === undefined) expect((await late).error!.data).toMatchObject({ code: 'unknown_id' });
      else expect((await late).result).toMatchObject({ seq });
    }
  });

  test('is answered, or its retry is, where the server stops', async () => {
    const { one, other, server } = await paused();
    const late = other.raw(lineOf(7, 'session.send', { session: 'x', events: events(1) }));
    await turn();
    server.sessions.closeAll();
    await settled();
    expect(answer(one).result).toEqual(step);
    // It came too late, and may be sent to the next server.
    expect(other.lines).toEqual([]);
    void late;
  });

  test('lets a timer that is due wait', async () => {
    const { clock, server, client } = rpc();
    const timed = { promptsPerRound: 1, responsesPerPrompt: 8, responseTimeoutSeconds: 30 };
    const open = { policy: 'speculative-admission', config: timed, deliver: 'stream', timers: 'server', session: 'x' };
    await client.call('session.open', open);
    await client.call('session.subscribe', { session: 'x' });
    const opened = {
      type: 'round.opened',
      roundId: 'r1',
      kind: 'long',
      weightVersion: 1,
      prompts: [{ promptId: 'a' }],
    };
    await client.call('session.send', { session: 'x', events: [opened] });
    const launched = client.pushed().filter((one) => one.decision.type === 'request.launch');
    const ends = launched.slice(0, 4).map(({ decision }) => completed(String(decision.requestId), clock.time));
    clock.perLook = 0.002;
    const done = client.raw(lineOf(99, 'session.send', { session: 'x', events: ends }));
    await inTheMiddle(server);
    const { policy } = server.sessions.get('x');
    const before = policy.seq;
    clock.perLook = 0;
    clock.move(31);
    expect(policy.seq).toBe(before);
    await done;
    await settled();
    expect(policy.seq).toBe(1 + 4 + 1);
    const types = client.pushed().map((one) => one.decision.type);
    expect(types.filter((one) => one === 'request.abort')).toHaveLength(4);
  });
});

describe('a call that takes long, in a server with a state directory', () => {
  const rounds = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => ({
      type: 'round.requested',
      at: from + at,
      roundId: `r${from + at}`,
      weightVersion: 0,
    }));
  const seqOf = async (store: MemoryStore) => {
    const { server } = await serverOn(new MemoryStore(store.data));
    return server.sessions.get('x').seq;
  };
  const long = { session: 'x', producer: 'p', firstSeq: 40, events: rounds(40, 60) };

  /** Its session has steps enough for a snapshot, a write is under way, and its last call is in the middle. */
  async function durablyPaused() {
    const store = new MemoryStore();
    const durable = await serverOn(store, { snapshotEvents: 1 });
    const client = new WireClient(durable.server);
    const open = { policy: 'long-prompt-queue', config: { promptsPerRound: 2 }, session: 'x' };
    await client.raw(lineOf(1, 'session.open', open));
    await settleAll(store);
    for (let at = 0; at < 40; at += 1) {
      await client.raw(
        lineOf(2, 'session.send', { session: 'x', producer: 'p', firstSeq: at, events: rounds(at, at + 1) }),
      );
    }
    durable.clock.perLook = 0.002;
    const done = client.raw(lineOf(3, 'session.send', long));
    await inTheMiddle(durable.server);
    return { store, durable, client, done };
  }

  test('is lost whole at a crash in its middle, and is not in a snapshot', async () => {
    const { store, durable } = await durablyPaused();
    store.settle();
    await turn();
    store.apply();
    expect(durable.server.sessions.get('x').isPaused).toBe(true);
    expect(await seqOf(store)).toBe(40);
  });

  test('is there whole after its end, and its retry gets its answer', async () => {
    const { store, client, done } = await durablyPaused();
    for (let turns = 0; turns < 20; turns += 1) await settleAll(store);
    await done;
    expect(await seqOf(store)).toBe(60);
    // The snapshot that waited for it has taken the place of the steps: its record, and that of the store.
    expect(store.data.size).toBeLessThan(5);
    const next = new MemoryStore(store.data);
    const again = new WireClient((await serverOn(next)).server);
    await settleAll(next);
    expect((await again.reply('session.send', long)).result).toEqual(answer(client, 3).result);
  });

  test('is there whole after an orderly stop in its middle', async () => {
    const { store, durable } = await durablyPaused();
    const session = durable.server.sessions.get('x');
    const closed = durable.close();
    expect(session.seq).toBe(60);
    for (let turns = 0; turns < 5; turns += 1) await settleAll(store);
    await closed;
    expect(await seqOf(store)).toBe(60);
  });
});

describe('over sockets, one client that asks for much', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollflex-turns-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const queue = (session: string) => ({ policy: 'long-prompt-queue', config: { promptsPerRound: 2 }, session });
  const sends = Array.from({ length: 40 }, (_, call) => ({
    jsonrpc: '2.0',
    id: call,
    method: 'session.send',
    params: {
      session: 'x',
      events: Array.from({ length: 1000 }, (__, at) => ({
        type: 'round.requested',
        at: 0,
        roundId: `r${1000 * call + at}`,
        weightVersion: 0,
      })),
    },
  }));

  test.each([
    ['in a batch of long calls', `${JSON.stringify(sends)}\n`, 1],
    ['in many lines', sends.map((one) => `${JSON.stringify(one)}\n`).join(''), sends.length],
  ])('%s is overtaken by single events of others', async (name, text, lines) => {
    const path = join(folder, `${lines}.sock`);
    const server = new RpcServer({ limits: { maxCallBytes: 1 << 23 } });
    const listening = await listenOn(server, { path });
    try {
      const sockets = [await opened({ path }), await opened({ path })] as const;
      const single = new LineClient(sockets[1], sockets[1]);
      for (const session of ['x', 'y']) await single.call('session.open', queue(session));
      let answered = 0;
      const done = new Promise<void>((resolve) => {
        sockets[0].on('data', (bytes) => {
          for (const byte of bytes) if (byte === 10) answered += 1;
          if (answered === lines) resolve();
        });
      });
      sockets[0].write(text);
      while (server.sessions.get('x').policy.seq === 0) await turn();
      for (let at = 0; at < 5; at += 1) {
        const [event] = sends[at]!.params.events;
        await single.call('session.send', { session: 'y', events: [event] });
      }
      expect(server.sessions.get('x').policy.seq, name).toBeLessThan(40_000);
      await done;
      expect(server.sessions.get('x').seq).toBe(40_000);
      for (const socket of sockets) socket.destroy();
    } finally {
      await listening.close();
    }
  });
});

describe('much of one connection', () => {
  const calls = Array.from({ length: 50 }, (_, at) => ({ jsonrpc: '2.0', id: at, method: 'session.list', params: {} }));

  test.each([
    ['lines', calls.map((one) => `${JSON.stringify(one)}\n`).join('')],
    ['a batch', `${JSON.stringify(calls)}\n`],
  ])('%s let others in, and are answered in order', async (_, text) => {
    const { server, client, clock } = rpc();
    clock.perLook = 0.001;
    const done = client.raw(text);
    const other = new WireClient(server);
    await other.call('session.list');
    expect(client.lines.length).toBeLessThan(25);
    await done;
    expect(client.lines.flatMap((line) => JSON.parse(line)).map((one) => one.id)).toEqual(calls.map(({ id }) => id));
  });

  test('decisions that are pushed let others in, come before the answer to their step, and all come before the end', async () => {
    const { server, client, clock } = rpc();
    await client.call('session.open', { ...tail, session: 'x', deliver: 'stream' });
    await client.call('session.subscribe', { session: 'x' });
    const decisions = decisionsOf(events(many));
    clock.perLook = 0.001;
    const done = client.raw(lineOf(9, 'session.send', sent));
    const other = new WireClient(server);
    while (client.lines.length < 3) await new Promise((resolve) => setImmediate(resolve));
    expect(client.lines.length).toBeLessThan(decisions.length);
    await other.call('session.list');
    await done;
    const lines = client.lines.map((line) => JSON.parse(line));
    expect(lines.findIndex((one) => one.id === 9)).toBeGreaterThanOrEqual(decisions.length);
    expect(client.pushed().map((one) => one.decision)).toEqual(decisions);
    // Another subscriber is sent the whole backlog, though its input ends at once.
    const late = new WireClient(server);
    void late.raw(lineOf(1, 'session.subscribe', { session: 'x' }));
    await late.connection!.finish();
    expect(late.pushed()).toHaveLength(decisions.length);
  });
});
