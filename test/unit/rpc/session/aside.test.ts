import { expect, test } from 'vitest';
import { createRegistry } from '../../../../src/core/machine/registry.ts';
import { definePolicy, handlersOf, z } from '../../../../src/index.ts';
import { hostRestarted, timerFired } from '../../../../src/schemas/index.ts';
import { type Reply, WireClient } from '../../../support/servers/clocked.ts';
import { damagedRecord, damagesOfRecords } from '../../../support/servers/damaged-record.ts';
import { MemoryStore, serverOn, settleAll } from '../../../support/servers/memory-store.ts';
import { turnstile } from '../../../support/servers/turnstile.ts';

/** Counts timers; where it is broken, a state with an odd count cannot be read back. */
const counter = (isBroken: boolean) =>
  definePolicy({
    id: 'test/counter',
    version: 1,
    summary: 'Counts timers.',
    source: 'a test',
    config: z.strictObject({}),
    state: z.strictObject({
      count: z.int().refine((count) => !isBroken || count % 2 === 0, { message: 'expected an even count' }),
    }),
    begin: () => ({ count: 0 }),
    handlers: [
      handlersOf<{ count: number }, never>()(timerFired, (state) => {
        state.count += 1;
      }),
      handlersOf<{ count: number }, never>()(hostRestarted, () => undefined),
    ],
    decisions: [],
    ledgers: [],
  });

const fired = { type: 'timer.fired', at: 1, timerId: 't' };
const registryOf = (isBroken: boolean) => createRegistry([counter(isBroken), turnstile(1)] as never);

async function server(store: MemoryStore, isBroken: boolean) {
  const warnings: string[] = [];
  const warn = (line: string) => void warnings.push(line);
  const durable = await serverOn(store, { registry: registryOf(isBroken) as never, warn });
  await settleAll(store);
  const client = new WireClient(durable.server);
  const reply = async (method: string, params?: object): Promise<Reply> => {
    await client.line({ jsonrpc: '2.0', id: 0, method, params });
    await settleAll(store);
    return JSON.parse(client.lines.at(-1)!);
  };
  const call = async (method: string, params?: object) => {
    const { error, result } = await reply(method, params);
    expect(error).toBeUndefined();
    return result!;
  };
  const refused = async (method: string, params: object, data: object): Promise<void> => {
    expect((await reply(method, params)).error).toMatchObject({ data });
  };
  const stop = async () => {
    const closed = durable.close();
    await settleAll(store);
    await closed;
    return new MemoryStore(store.data);
  };
  return { call, refused, stop, warnings, store };
}

test('a snapshot that cannot be read back leaves the steps as they are, and the session comes back by them', async () => {
  const first = await server(new MemoryStore(), true);
  for (const [session, policy] of [
    ['odd', 'test/counter'],
    ['other', 'test/turnstile'],
  ])
    await first.call('session.open', { session, policy, config: {} });
  await first.call('session.send', { session: 'odd', events: [fired] });
  const store = await first.stop();
  expect(first.warnings).toEqual([expect.stringContaining('session "odd": its snapshot could not be read back')]);
  const second = await server(store, true);
  expect(second.warnings).toEqual([]);
  expect(await second.call('session.send', { session: 'odd', events: [fired] })).toMatchObject({ seq: 2 });
  // This snapshot can be read back.
  await second.stop();
  expect(second.warnings).toEqual([]);
});

/** A store in which one of two sessions cannot be restored, as the code that wrote it could. */
async function withBad(): Promise<MemoryStore> {
  const before = await server(new MemoryStore(), false);
  await before.call('session.open', { session: 'bad', policy: 'test/counter', config: {} });
  await before.call('session.open', { session: 'good', policy: 'test/turnstile', config: {} });
  await before.call('session.send', { session: 'bad', events: [fired] });
  return before.stop();
}

test('a session that cannot be restored is set aside by name, and costs no other', async () => {
  const one = await server(await withBad(), true);
  expect(one.warnings).toEqual([
    expect.stringMatching(
      /session "bad" \(test\/counter\).*snapshot_mismatch.*even count.*session.open \{"session":"bad","onExisting":"attach"\}/,
    ),
  ]);
  const aside = { code: 'snapshot_mismatch', message: expect.stringContaining('even count') };
  const { sessions } = (await one.call('session.list')) as { sessions: { session: string }[] };
  expect(sessions.map(({ session }) => session)).toEqual(['bad', 'good']);
  expect(sessions[0]).toMatchObject({ policy: 'test/counter', seq: 1, aside });
  expect(sessions[1]).not.toHaveProperty('aside');
  expect(await one.call('server.info')).toMatchObject({
    sessions: 1,
    aside: [{ session: 'bad', policy: 'test/counter', ...aside }],
  });
  expect(await one.call('session.send', { session: 'good', events: [] })).toMatchObject({ seq: 0 });
  await one.refused('session.send', { session: 'bad', events: [] }, { code: 'snapshot_mismatch', path: 'session' });
  await one.refused(
    'session.open',
    { session: 'bad', policy: 'test/counter', onExisting: 'fail' },
    { code: 'duplicate_id' },
  );
  await one.refused(
    'session.open',
    { session: 'bad', policy: 'test/counter', onExisting: 'attach' },
    { code: 'snapshot_mismatch' },
  );
  // Its state can be taken along, and it is kept as it was.
  const { snapshot } = (await one.call('session.snapshot', { session: 'bad' })) as { snapshot: object };
  expect(snapshot).toMatchObject({ policy: 'test/counter', seq: 1, state: { count: 1 } });
  const mended = await server(await one.stop(), false);
  expect(mended.warnings).toEqual([]);
  expect(await mended.call('session.send', { session: 'bad', events: [fired] })).toMatchObject({ seq: 2 });
});

test('a session that is set aside is replaced, or forgotten', async () => {
  const one = await server(await withBad(), true);
  await one.call('session.open', { session: 'bad', policy: 'test/turnstile', config: {}, onExisting: 'replace' });
  const two = await server(await one.stop(), true);
  expect(two.warnings).toEqual([]);
  expect((await two.call('session.list')).sessions).toHaveLength(2);
  const three = await server(await withBad(), true);
  await three.call('session.close', { session: 'bad' });
  const four = await server(await three.stop(), true);
  expect(four.warnings).toEqual([]);
  expect((await four.call('session.list')).sessions).toHaveLength(1);
});

test('steps of a session that is set aside stay, and are replayed by the code that has made them', async () => {
  const store = new MemoryStore();
  const before = await server(store, false);
  await before.call('session.open', { session: 'gate', policy: 'test/turnstile', config: {} });
  await before.call('session.send', { session: 'gate', events: [{ type: 'test/turn.asked', at: 0, promptId: 'p' }] });
  // A crash, and then a server with other code of the policy, which is stopped in an orderly way.
  const otherRegistry = createRegistry([turnstile(1, 3)] as never) as never;
  const copy = new MemoryStore(store.data);
  const other = await serverOn(copy, { registry: otherRegistry });
  await settleAll(copy);
  const exported = other.server.sessions.snapshot('gate', false);
  expect(exported.steps).toEqual([expect.objectContaining({ kind: 'sent' })]);
  const closed = other.close();
  await settleAll(copy);
  await closed;
  const again = await server(new MemoryStore(copy.data), false);
  expect(again.warnings).toEqual([]);
  expect(await again.call('session.send', { session: 'gate', events: [] })).toMatchObject({ seq: 1 });
});

test.each(damagesOfRecords)('a record that is damaged (%s) sets its session aside, and costs no other', async (how) => {
  const first = await server(new MemoryStore(), false);
  for (const [session, policy] of [
    ['a', 'test/turnstile'],
    ['hurt', 'test/counter'],
    ['z', 'test/turnstile'],
  ])
    await first.call('session.open', { session, policy, config: {} });
  for (const session of ['hurt', 'hurt']) await first.call('session.send', { session, events: [fired] });
  // Its snapshot, and its last step.
  for (const choice of [180, 182]) {
    const hurt = await server(new MemoryStore(damagedRecord(first.store.data, 'hurt', how, choice)), false);
    const { sessions } = (await hurt.call('session.list')) as { sessions: { session: string; aside?: object }[] };
    const aside = sessions.filter((one) => one.aside !== undefined);
    expect(aside).toMatchObject([
      { aside: { code: 'snapshot_mismatch', message: expect.stringContaining('another at s/') } },
    ]);
    const { session } = aside[0]!;
    expect(sessions.map((one) => one.session).filter((one) => one !== session)).toEqual(['a', 'z']);
    expect(await hurt.call('server.info')).toMatchObject({ sessions: 2, aside: [{ session }] });
    expect(hurt.warnings).toEqual([expect.stringContaining('is set aside')]);
    for (const good of ['a', 'z'])
      expect(await hurt.call('session.send', { session: good, events: [] })).toMatchObject({ seq: 0 });
    await hurt.refused('session.send', { session, events: [] }, { code: 'snapshot_mismatch', path: 'session' });
    await hurt.refused(
      'session.open',
      { session, policy: 'test/counter', onExisting: 'attach' },
      { code: 'snapshot_mismatch' },
    );
    // Of a last step, all before it can be taken along.
    if (choice === 182)
      expect(await hurt.call('session.snapshot', { session })).toMatchObject({
        snapshot: { state: { count: 0 } },
        steps: [{}],
      });
    // It stays as it is, also after an orderly stop, until it is forgotten.
    const again = await server(await hurt.stop(), false);
    expect(again.warnings).toEqual(hurt.warnings);
    await again.call('session.close', { session });
    const without = await server(await again.stop(), false);
    expect(without.warnings).toEqual([]);
    expect((await without.call('session.list')).sessions).toHaveLength(2);
  }
});
