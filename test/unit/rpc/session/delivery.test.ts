import { describe, expect, test } from 'vitest';
import { completed, HandClock, openingEvents, rpc, tail, type WireClient } from '../../../support/servers/clocked.ts';

const json = (value: unknown) => JSON.parse(JSON.stringify(value));

async function moved(client: WireClient, more: object = {}, to = rpc()) {
  const { snapshot, armed, delivery } = await client.call('session.snapshot', { session: 'x', delivery: true });
  await to.client.call('session.open', { session: 'x', snapshot, armed, delivery: json(delivery), ...more });
  return { ...to, delivery };
}

describe('a session that goes on in another server', () => {
  test('gives the same answers to retries, refusals and long answers too', async () => {
    const { client } = rpc({ limits: { pageDecisions: 2 } });
    await client.call('session.open', { ...tail, session: 'x' });
    const calls = [
      { producer: 'p', firstSeq: 0, events: openingEvents() },
      { producer: 'q', firstSeq: 0, events: [completed('a/0#0'), { type: 'nothing' }, completed('a/1#0')] },
      { producer: 'p', firstSeq: 2, events: [completed('a/1#0')] },
    ].map((one) => ({ session: 'x', ...one }));
    const answers = [];
    for (const one of calls) answers.push(await client.reply('session.send', one));
    expect(answers.map((one) => one.error?.data.index)).toEqual([undefined, 1, undefined]);
    const other = await moved(client, {}, rpc({ limits: { pageDecisions: 2 } }));
    for (const [index, one] of calls.entries()) {
      const { result, error } = await other.client.reply('session.send', one);
      expect({ result, error }).toEqual({ result: answers[index]!.result, error: answers[index]!.error });
    }
    const { more } = answers[0]!.result!;
    expect(more).toBeDefined();
    const page = { session: 'x', more };
    expect(await other.client.call('session.more', page)).toEqual(await client.call('session.more', page));
    const next = { session: 'x', producer: 'q', firstSeq: 1, events: [completed('b/0#0')] };
    expect(await other.client.call('session.send', next)).toEqual(await client.call('session.send', next));
    const gap = { session: 'x', producer: 'p', firstSeq: 9, events: [] };
    await other.client.fails('session.send', gap, { code: 'out_of_order', path: 'firstSeq' });
    const all = { session: 'x', delivery: true };
    expect(await other.client.call('session.snapshot', all)).toEqual(await client.call('session.snapshot', all));
  });

  test('goes on with the numbers of its stream, and with what nobody has acknowledged', async () => {
    const { client } = rpc();
    await client.call('session.open', { ...tail, session: 'x', deliver: 'stream' });
    await client.call('session.subscribe', { session: 'x' });
    await client.call('session.send', { session: 'x', events: openingEvents() });
    const before = client.pushed();
    await client.call('session.ack', { session: 'x', decisionSeq: 2 });
    const other = await moved(client, { deliver: 'stream' });
    expect(await other.client.call('session.subscribe', { session: 'x' })).toEqual({
      decisionSeq: before.length,
      acknowledged: 2,
    });
    await other.client.line('');
    expect(other.client.pushed()).toEqual(before.slice(2));
    const { decisionSeq } = await other.client.call('session.send', { session: 'x', events: [completed('a/0#0')] });
    expect(decisionSeq).toBeGreaterThan(before.length);
  });

  test('goes on with its timers', async () => {
    const { client } = rpc();
    const open = { deliver: 'stream', timers: 'server' };
    const config = { promptsPerRound: 2, responsesPerPrompt: 1, responseTimeoutSeconds: 30 };
    await client.call('session.open', { policy: 'tail-batching', config, session: 'x', ...open });
    await client.call('session.send', { session: 'x', events: openingEvents().map((one) => ({ ...one, at: 1000 })) });
    const other = await moved(client, open);
    const { seq } = other.server.sessions.get('x').policy;
    expect(other.clock).toBeInstanceOf(HandClock);
    other.clock.move(30);
    expect(other.server.sessions.get('x').policy.seq).toBe(seq + 1);
  });

  test('a plain snapshot has nothing of it', async () => {
    const { client } = rpc();
    await client.call('session.open', { ...tail, session: 'x' });
    expect(Object.keys(await client.call('session.snapshot', { session: 'x' }))).toEqual(['snapshot', 'seq']);
  });

  test('refuses what is none, and opens nothing', async () => {
    const { client } = rpc();
    await client.call('session.open', { ...tail, session: 'x' });
    await client.call('session.send', { session: 'x', producer: 'p', events: openingEvents() });
    await client.call('session.send', { session: 'x', producer: 'q', events: [completed('a/0#0')] });
    const { snapshot, delivery } = await client.call('session.snapshot', { session: 'x', delivery: true });
    const other = rpc({ limits: { maxProducers: 1 } });
    const fails = (params: object, expected: object) =>
      other.client.fails('session.open', { session: 'x', snapshot, ...params }, expected as never);
    await fails({ delivery }, { code: 'limit_exceeded', path: 'delivery.producers' });
    await fails({ delivery, deliver: 'stream' }, { code: 'snapshot_mismatch', path: 'delivery.stream' });
    await fails({ delivery: 5 }, { code: 'snapshot_mismatch', path: 'delivery' });
    await fails({ delivery: { ...delivery, more: 1 } }, { code: 'snapshot_mismatch', path: 'delivery.more' });
    const producers = json(delivery.producers);
    producers[0].kept[0].answer = {};
    await fails({ delivery: { ...delivery, producers } }, { code: 'snapshot_mismatch' });
    await fails({ ...tail, snapshot: undefined, delivery }, { code: 'invalid_input', path: 'delivery' });
    expect(other.server.sessions.size).toBe(0);
  });
});
