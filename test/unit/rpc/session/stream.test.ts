import { describe, expect, test } from 'vitest';
import { create, tailBatching } from '../../../../src/index.ts';
import { completed, openingEvents, rpc, tail, WireClient } from '../../../support/servers/clocked.ts';

async function streaming(limits = {}) {
  const made = rpc({ limits });
  await made.client.call('session.open', { ...tail, session: 'x', deliver: 'stream' });
  return made;
}
const decisionsOf = (events: readonly unknown[]) => {
  const policy = create(tailBatching, tail.config);
  return events.flatMap((one) => policy.send(one as never));
};

describe('streamed decisions', () => {
  test('go to subscribers with numbers, and not into the answer', async () => {
    const { client, server } = await streaming();
    const other = new WireClient(server);
    expect(await other.call('session.subscribe', { session: 'x' })).toEqual({ decisionSeq: 0, acknowledged: 0 });
    const result = await client.call('session.send', { session: 'x', events: openingEvents() });
    const expected = decisionsOf(openingEvents());
    expect(result).toEqual({ seq: 2, decisions: [], decisionSeq: expected.length });
    const pushed = other.pushed();
    expect(pushed.map((one) => one.decision)).toEqual(expected);
    expect(pushed.map((one) => one.decisionSeq)).toEqual(expected.map((_, index) => index + 1));
    expect(client.pushed()).toEqual([]);
    // A notification may send to a stream: there is nothing that its answer would carry.
    await client.line({
      jsonrpc: '2.0',
      method: 'session.send',
      params: { session: 'x', events: [completed('a/0#0')] },
    });
    expect(server.sessions.get('x').policy.seq).toBe(3);
  });

  test('a refused event: the decisions of the earlier ones are streamed', async () => {
    const { client } = await streaming();
    await client.call('session.subscribe', { session: 'x' });
    const data = await client.fails('session.send', { session: 'x', events: [...openingEvents(), 5] }, { index: 2 });
    expect(data.decisions).toEqual([]);
    expect(client.pushed()).toHaveLength(data.decisionSeq as number);
  });

  test('come after the answer to their subscription, also in a batch that sends events', async () => {
    const { client } = await streaming();
    const calls = [
      { method: 'session.subscribe', params: { session: 'x' } },
      { method: 'session.send', params: { session: 'x', events: openingEvents() } },
    ];
    const lines = await client.line(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })));
    expect(lines).toHaveLength(1 + decisionsOf(openingEvents()).length);
    expect(lines[0]).toHaveLength(2);
  });

  test('what all have acknowledged may be acknowledged again, also by who wanted none of it', async () => {
    const { client, server } = await streaming();
    await client.call('session.subscribe', { session: 'x' });
    await client.call('session.send', { session: 'x', events: openingEvents() });
    const { length } = decisionsOf(openingEvents());
    const picky = new WireClient(server);
    await picky.call('session.subscribe', { session: 'x', types: ['request.abort'] });
    const ack = { session: 'x', decisionSeq: length };
    expect(await client.call('session.ack', ack)).toEqual({ acknowledged: length });
    expect(await picky.call('session.ack', ack)).toEqual({ acknowledged: length });
    await picky.fails('session.ack', { ...ack, decisionSeq: length + 1 }, { code: 'out_of_order' });
  });

  test('what is not acknowledged is replayed, to another connection too', async () => {
    const { client, server } = await streaming();
    await client.call('session.send', { session: 'x', events: openingEvents() });
    const all = decisionsOf(openingEvents());
    const first = new WireClient(server);
    await first.call('session.subscribe', { session: 'x' });
    expect(first.pushed()).toHaveLength(all.length);
    expect(await first.call('session.ack', { session: 'x', decisionSeq: 3 })).toEqual({ acknowledged: 3 });
    first.destroy();
    const second = new WireClient(server);
    await second.call('session.subscribe', { session: 'x' });
    expect(second.pushed().map((one) => one.decisionSeq)).toEqual(all.map((_, index) => index + 1).slice(3));
    await second.call('session.subscribe', { session: 'x', after: 5 });
    expect(second.pushed()[0]!.decisionSeq).toBe(6);
    const fails = (params: object) =>
      second.fails('session.subscribe', params, { code: 'out_of_order', path: 'after' });
    await fails({ session: 'x', after: 4 });
    await fails({ session: 'x', after: all.length + 1 });
    await second.fails('session.ack', { session: 'x', decisionSeq: all.length + 1 }, { code: 'out_of_order' });
    // An earlier one says nothing new.
    expect(await second.call('session.ack', { session: 'x', decisionSeq: 0 })).toEqual({ acknowledged: 5 });
  });

  test('all subscribers must have acknowledged, each what it asked for', async () => {
    const { client, server } = await streaming();
    const other = new WireClient(server);
    await client.call('session.subscribe', { session: 'x' });
    await other.call('session.subscribe', { session: 'x', types: ['prompts.request'] });
    await client.call('session.send', { session: 'x', events: openingEvents() });
    expect(other.pushed().map((one) => one.decision.type)).toEqual(['prompts.request']);
    const last = decisionsOf(openingEvents()).length;
    expect(await client.call('session.ack', { session: 'x', decisionSeq: last })).toEqual({ acknowledged: 0 });
    // It has what it wants, and does not hold up the rest.
    expect(await other.call('session.ack', { session: 'x', decisionSeq: 2 })).toEqual({ acknowledged: last });
    await client.call('session.send', { session: 'x', events: [completed('a/0#0')] });
    await other.call('session.unsubscribe', { session: 'x' });
    await other.fails('session.ack', { session: 'x', decisionSeq: 1 }, { code: 'unknown_id' });
  });

  test('a full backlog refuses before anything is applied', async () => {
    const { client, server } = await streaming({ maxBacklog: 5 });
    await client.call('session.send', { session: 'x', events: openingEvents(), producer: 'p', firstSeq: 0 });
    const before = JSON.stringify(server.sessions.get('x').policy.snapshot());
    const next = { session: 'x', events: [completed('a/0#0')], producer: 'p', firstSeq: 2 };
    await client.fails('session.send', next, { code: 'limit_exceeded', path: 'backlog' });
    expect(JSON.stringify(server.sessions.get('x').policy.snapshot())).toBe(before);
    // A retry of what was applied gets its answer all the same.
    await client.call('session.send', { session: 'x', events: openingEvents(), producer: 'p', firstSeq: 0 });
    const { decisionSeq } = await client.call('session.subscribe', { session: 'x' });
    await client.call('session.ack', { session: 'x', decisionSeq });
    expect(await client.call('session.send', next)).toMatchObject({ seq: 3, nextSeq: 3 });
  });

  test('subscriptions are bounded, and are of streaming sessions', async () => {
    const { client, server } = await streaming({ maxSubscriptions: 1 });
    await client.call('session.subscribe', { session: 'x' });
    await client.call('session.subscribe', { session: 'x' });
    const other = new WireClient(server);
    await other.fails('session.subscribe', { session: 'x' }, { code: 'limit_exceeded' });
    await client.call('session.open', { ...tail, session: 'y' });
    await client.fails('session.subscribe', { session: 'y' }, { code: 'invalid_input', path: 'session' });
  });

  test('subscribers hear that a session was closed or replaced', async () => {
    const { client, server } = await streaming();
    const other = new WireClient(server);
    await other.call('session.subscribe', { session: 'x' });
    await client.call('session.open', { ...tail, session: 'x', deliver: 'stream', onExisting: 'replace' });
    expect(JSON.parse(other.lines.at(-1)!)).toEqual({
      jsonrpc: '2.0',
      method: 'session.closed',
      params: { session: 'x', reason: 'replaced' },
    });
    await client.call('session.send', { session: 'x', events: openingEvents() });
    expect(other.pushed()).toEqual([]);
    await other.call('session.subscribe', { session: 'x' });
    await client.call('session.close', { session: 'x' });
    expect(JSON.parse(other.lines.at(-1)!).params.reason).toBe('closed');
  });
});

describe('a client that does not read', () => {
  const round = async (client: WireClient, n: number) =>
    client.reply('session.send', { session: 'x', events: n === 0 ? openingEvents() : [completed('late/0#0'), 5] });

  test('what waits for it is bounded; then it is cut off, and what it did not get is kept', async () => {
    const { client, server, clock } = await streaming({ maxOutputBytes: 1024, stallSeconds: 10 });
    const slow = new WireClient(server);
    await slow.call('session.subscribe', { session: 'x' });
    slow.stalled = true;
    await round(client, 0);
    expect(slow.waiting).toBeGreaterThan(1024);
    expect(slow.waiting).toBeLessThan(2048);
    clock.move(9);
    await new Promise((resolve) => setImmediate(resolve));
    expect(slow.destroyed).toBe(false);
    clock.move(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(slow.destroyed).toBe(true);
    expect(server.connections).toBe(1);
    const again = new WireClient(server);
    await again.call('session.subscribe', { session: 'x' });
    expect(again.pushed().map((one) => one.decision)).toEqual(decisionsOf(openingEvents()));
  });

  const numbers = (messages: { method?: string; params?: { decisionSeq: number } }[]) =>
    messages.filter((one) => one.method === 'session.decision').map((one) => one.params!.decisionSeq);
  const subscribe = (after?: number) =>
    `${JSON.stringify({ jsonrpc: '2.0', id: 'again', method: 'session.subscribe', params: { session: 'x', after } })}\n`;
  const readAll = async (slow: WireClient) => {
    for (let n = 0; n < 20; n += 1) {
      slow.read();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return slow.lines.map((one) => JSON.parse(one));
  };
  const waitedFor = async () => {
    const { client, server } = await streaming({ maxOutputBytes: 1024, stallSeconds: 10 });
    const slow = new WireClient(server);
    await slow.call('session.subscribe', { session: 'x' });
    slow.stalled = true;
    await round(client, 0);
    return { client, slow };
  };

  test('one that subscribes anew from a later number meanwhile gets nothing twice', async () => {
    const { slow } = await waitedFor();
    const last = decisionsOf(openingEvents()).length;
    const again = slow.raw(subscribe(last - 2));
    const given = numbers(await readAll(slow));
    await again;
    expect(given.length).toBeLessThan(last);
    expect(given.slice(-2)).toEqual([last - 1, last]);
    expect(new Set(given).size).toBe(given.length);
  });

  test('one that subscribes to the session that replaced another meanwhile gets nothing of the other', async () => {
    const { client, slow } = await waitedFor();
    await client.call('session.open', { ...tail, session: 'x', deliver: 'stream', onExisting: 'replace' });
    const again = slow.raw(subscribe());
    const messages = await readAll(slow);
    await again;
    const closed = messages.findIndex((one) => one.method === 'session.closed');
    expect(closed).toBeGreaterThan(0);
    expect(numbers(messages.slice(closed))).toEqual([]);
  });

  test('one that reads slowly gets everything', async () => {
    const { client, server, clock } = await streaming({ maxOutputBytes: 1024, stallSeconds: 10 });
    const slow = new WireClient(server);
    await slow.call('session.subscribe', { session: 'x' });
    slow.stalled = true;
    await round(client, 0);
    for (let n = 0; n < 20; n += 1) {
      clock.move(8);
      slow.read();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(slow.pushed().map((one) => one.decision)).toEqual(decisionsOf(openingEvents()));
  });

  test('one that ends its input is no longer waited for: no timer is left, and it may read the rest later', async () => {
    const { client, server, clock } = await streaming({ maxOutputBytes: 1024, stallSeconds: 10 });
    const slow = new WireClient(server);
    await slow.call('session.subscribe', { session: 'x' });
    slow.stalled = true;
    await round(client, 0);
    expect([slow.waiting > 1024, clock.waiting]).toEqual([true, 1]);
    await slow.connection!.finish();
    await new Promise((resolve) => setImmediate(resolve));
    expect([server.connections, clock.waiting]).toEqual([1, 0]);
    clock.move(11);
    await new Promise((resolve) => setImmediate(resolve));
    expect(slow.destroyed).toBe(false);
  });

  test('no further call is read while answers wait', async () => {
    const { client, server, clock } = await streaming({ maxOutputBytes: 1024, stallSeconds: 10 });
    client.stalled = true;
    const call = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server.info' })}\n`;
    const done = client.raw(call.repeat(1000));
    for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(client.lines.length).toBeLessThan(5);
    clock.move(11);
    await done;
    expect(client.destroyed).toBe(true);
    expect(server.connections).toBe(0);
  });
});
