import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { afterAll, describe, expect, test } from 'vitest';
import { createRegistry } from '../../../src/core/machine/registry.ts';
import { create, definePolicy, longPromptQueue, registry, type tailBatching, z } from '../../../src/index.ts';
import { type DurableServer, openDurableServer } from '../../../src/rpc/index.ts';
import type { Store } from '../../../src/rpc/journal/store.ts';
import { completed, HandClock, openingEvents, tail, WireClient } from '../../support/servers/clocked.ts';
import { MemoryStore, serverOn, settleAll, turn } from '../../support/servers/memory-store.ts';
import { turnstile } from '../../support/servers/turnstile.ts';

const root = mkdtempSync(join(tmpdir(), 'rollflex-durable-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;
const newDirectory = (): string => join(root, String(++made));

/** A client whose calls settle with their answers. */
class Caller extends WireClient {
  #at = 0;
  override async line(value: unknown): Promise<unknown[]> {
    await this.raw(`${JSON.stringify(value)}\n`);
    for (let tries = 0; this.lines.length === this.#at && !this.destroyed && tries < 400; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const from = this.#at;
    this.#at = this.lines.length;
    return this.lines.slice(from).map((one) => JSON.parse(one));
  }
}

const open = (stateDir: string, options = {}) => openDurableServer({ stateDir, version: '1', ...options });
const client = ({ server }: DurableServer) => new Caller(server);
/** What `kill -9` would leave: the files as they are now. */
function killed(directory: string): string {
  const copy = newDirectory();
  cpSync(directory, copy, { recursive: true });
  return copy;
}

/** A directory with two steps of a session since its snapshot, as a crash leaves it. */
async function crashed(session = 'x'): Promise<string> {
  const directory = newDirectory();
  const durable = await open(directory);
  const caller = client(durable);
  await caller.call('session.open', { ...tail, session });
  for (const event of openingEvents()) await caller.call('session.send', { session, events: [event] });
  const copy = killed(directory);
  await durable.close();
  return copy;
}
const logOf = (directory: string): string =>
  join(directory, readdirSync(directory).find((one) => one.endsWith('.log'))!);
const noteOf = (directory: string): string => join(directory, 'SEALED');

describe('a state directory', () => {
  test('brings sessions back after a crash, with their retries', async () => {
    const directory = newDirectory();
    const first = await open(directory);
    const send = { session: 'x', producer: 'p', firstSeq: 0, events: openingEvents() };
    await client(first).call('session.open', { ...tail, session: 'x' });
    const answer = await client(first).call('session.send', send);
    const second = await open(killed(directory));
    expect(await client(second).call('session.send', send)).toEqual(answer);
    const other = { ...send, events: [openingEvents()[0], completed('a/0#0')] };
    await client(second).fails('session.send', other, { code: 'out_of_order', path: 'firstSeq' });
    const all = await Promise.all([first, second].map((one) => client(one).call('session.snapshot', { session: 'x' })));
    expect(all[1]).toEqual(all[0]);
    await first.close();
    await second.close();
  });

  test('goes on after an orderly stop, with any version', async () => {
    const directory = await crashed();
    await (await open(directory)).close();
    const later = await open(directory, { version: '2' });
    expect(later.server.sessions.get('x').policy.seq).toBe(2);
    await later.close();
  });

  test('belongs to one server at a time', async () => {
    const directory = newDirectory();
    const first = await open(directory);
    await expect(open(directory)).rejects.toMatchObject({ code: 'invalid_input', path: 'stateDir' });
    await first.close();
    await (await open(directory)).close();
  });

  test('closed and replaced sessions leave nothing behind; ids are not given twice', async () => {
    const directory = newDirectory();
    const first = await open(directory);
    const caller = client(first);
    expect((await caller.call('session.open', tail)).session).toBe('s1');
    await caller.call('session.send', { session: 's1', events: openingEvents() });
    await caller.call('session.open', { ...tail, session: 's1', onExisting: 'replace' });
    const replaced = await open(killed(directory));
    expect(replaced.server.sessions.get('s1').policy.seq).toBe(0);
    await replaced.close();
    await caller.call('session.close', { session: 's1' });
    const second = await open(killed(directory));
    expect(second.server.sessions.size).toBe(0);
    expect((await client(second).call('session.open', tail)).session).toBe('s2');
    await first.close();
    await second.close();
  });

  test('timers of the server go on, and a timer that has fired does not fire again', async () => {
    const config = { promptsPerRound: 2, responsesPerPrompt: 1, responseTimeoutSeconds: 30 };
    const policy = { policy: 'speculative-admission', config, session: 'x', deliver: 'stream', timers: 'server' };
    const prompts = [{ promptId: 'a' }, { promptId: 'b' }];
    const opened = { type: 'round.opened', roundId: 'r1', kind: 'long', weightVersion: 1, prompts };
    const directory = newDirectory();
    const clock = new HandClock();
    const first = await open(directory, { clock });
    const caller = client(first);
    await caller.call('session.open', policy);
    await caller.call('session.send', { session: 'x', events: [opened] });
    const before = killed(directory);
    clock.move(30);
    await turn();
    await caller.call('session.list');
    const after = killed(directory);
    await first.close();
    for (const [copy, seq] of [
      [before, 1],
      [after, 2],
    ] as const) {
      const later = new HandClock();
      const second = await open(copy, { clock: later });
      const session = second.server.sessions.get('x');
      expect(session.policy.seq).toBe(seq);
      later.move(30);
      expect(session.policy.seq).toBe(2);
      await second.close();
    }
  });

  test('timers of the server go on after an orderly stop, also where only a snapshot is left', async () => {
    const config = { promptsPerRound: 1, responsesPerPrompt: 1, responseTimeoutSeconds: 30 };
    const policy = { policy: 'speculative-admission', config, session: 'x', deliver: 'stream', timers: 'server' };
    const prompts = [{ promptId: 'a' }];
    const opened = { type: 'round.opened', roundId: 'r1', kind: 'long', weightVersion: 1, prompts };
    const directory = newDirectory();
    const first = await open(directory, { clock: new HandClock() });
    await client(first).call('session.open', policy);
    await client(first).call('session.send', { session: 'x', events: [opened] });
    const { armed } = await client(first).call('session.snapshot', { session: 'x' });
    expect(armed).toHaveLength(1);
    await first.close();
    const clock = new HandClock();
    const second = await open(directory, { clock, version: '2' });
    expect(await client(second).call('session.snapshot', { session: 'x' })).toMatchObject({ seq: 1, armed });
    clock.move(31);
    expect(second.server.sessions.get('x').policy.seq).toBe(2);
    await second.close();
  });

  test('a session whose policy is not there any more is set aside, and is back when the policy is', async () => {
    const directory = await crashed();
    const without = createRegistry(registry.definitions.filter(({ id }) => id !== 'tail-batching'));
    const first = await open(directory, { registry: without });
    const aside = { session: 'x', policy: 'tail-batching', code: 'unknown_id' };
    expect(await client(first).call('server.info')).toMatchObject({ sessions: 0, aside: [aside] });
    await first.close();
    const second = await open(directory);
    expect(second.server.sessions.get('x').policy.seq).toBe(2);
    await second.close();
  });
});

describe('a state directory that is no whole store', () => {
  test('writes that were on the disk and are cut off are missed, now and ever after, until somebody accepts the loss', async () => {
    const whole = await crashed();
    const { length } = readFileSync(logOf(whole));
    // The writes are the version of the server, a snapshot and two steps.
    for (const [bytes, lost, steps] of [
      [length - 9, 'the last 1 of 4 writes', 1],
      [length >> 1, 'the last 3 of 4 writes', undefined],
      [0, 'the last 4 of 4 writes', undefined],
    ] as const) {
      const directory = killed(whole);
      truncateSync(logOf(directory), bytes);
      for (let tries = 0; tries < 2; tries += 1) await expect(open(directory)).rejects.toThrow(lost);
      rmSync(join(directory, 'DAMAGED'));
      const durable = await open(directory);
      expect([...durable.server.sessions].map(({ policy }) => policy.seq)).toEqual(steps === undefined ? [] : [steps]);
      await durable.close();
      await (await open(directory)).close();
    }
  });

  test('a write that a crash of the machine has cut off is as if it had never been', async () => {
    const directory = newDirectory();
    const durable = await open(directory);
    const caller = client(durable);
    await caller.call('session.open', { ...tail, session: 'x' });
    const [first, second] = openingEvents();
    await caller.call('session.send', { session: 'x', events: [first] });
    const note = readFileSync(noteOf(directory));
    await caller.call('session.send', { session: 'x', events: [second] });
    const whole = killed(directory);
    await durable.close();
    // The note of the last write was not on the disk either, or only a part of it.
    for (const part of [0, 9, 20]) {
      const copy = killed(whole);
      const torn = readFileSync(noteOf(copy));
      const at = [0, 512].find((from) => !torn.subarray(from, from + 512).equals(note.subarray(from, from + 512)))!;
      note.copy(torn, at + part, at + part, at + 512);
      writeFileSync(noteOf(copy), torn);
      truncateSync(logOf(copy), readFileSync(logOf(copy)).length - 9);
      const next = await open(copy);
      expect(next.server.sessions.get('x').policy.seq).toBe(1);
      await next.close();
    }
  });

  test('a note that is missing, unreadable, or of another write', async () => {
    const whole = await crashed();
    const other = await crashed('y');
    const changes: Record<string, (note: string) => void> = {
      'missing or unreadable': (note) => rmSync(note),
      unreadable: (note) => writeFileSync(note, readFileSync(note).fill(55)),
      'write 4 is another': (note) => writeFileSync(note, readFileSync(noteOf(other))),
    };
    for (const [what, change] of Object.entries(changes)) {
      const directory = killed(whole);
      change(noteOf(directory));
      for (let tries = 0; tries < 2; tries += 1) await expect(open(directory)).rejects.toThrow(what);
      rmSync(join(directory, 'DAMAGED'));
      await (await open(directory)).close();
    }
  });

  test('a note that cannot be written', async () => {
    const directory = await crashed();
    rmSync(noteOf(directory));
    mkdirSync(noteOf(directory));
    const expected = { code: 'invalid_input', expected: 'a directory that can be read and written' };
    await expect(open(directory)).rejects.toMatchObject(expected);
    rmSync(noteOf(directory), { recursive: true });
    await expect(open(directory)).rejects.toThrow('missing or unreadable');
  });

  test('a store of an earlier format has no note, and gets one', async () => {
    const directory = await crashed();
    const level = new ClassicLevel(directory);
    const { writes: _, ...meta } = JSON.parse((await level.get('meta'))!);
    await level.put('meta', JSON.stringify({ ...meta, format: 1 }));
    await level.close();
    rmSync(noteOf(directory));
    await (await open(directory)).close();
    rmSync(noteOf(directory));
    await expect(open(directory)).rejects.toThrow('missing or unreadable');
  });

  test('damage is reported, now and ever after, until somebody accepts the loss', async () => {
    const whole = await crashed();
    const length = readFileSync(logOf(whole)).length;
    for (const at of [3, length >> 2, length >> 1, length - 20]) {
      const directory = killed(whole);
      const bytes = readFileSync(logOf(directory));
      bytes[at]! ^= 1;
      writeFileSync(logOf(directory), bytes);
      for (let tries = 0; tries < 2; tries += 1) {
        await expect(open(directory)).rejects.toMatchObject({ code: 'snapshot_mismatch', path: 'stateDir' });
      }
      rmSync(join(directory, 'DAMAGED'));
      const durable = await open(directory);
      expect(durable.server.sessions.size).toBeLessThan(2);
      await durable.close();
    }
  });

  test.each(['', 'CURRENT', '.log', 'MANIFEST'])('a crash before the first write, which leaves no %s', async (lost) => {
    const directory = newDirectory();
    const level = new ClassicLevel(directory);
    await level.open();
    await level.close();
    for (const name of readdirSync(directory)) if (lost !== '' && name.includes(lost)) rmSync(join(directory, name));
    await (await open(directory)).close();
    await (await open(directory)).close();
  });

  test.each(['CURRENT', '.log'])('a file that is missing: %s', async (end) => {
    const directory = await crashed();
    for (const name of readdirSync(directory)) if (name.endsWith(end)) rmSync(join(directory, name));
    const files = readdirSync(directory);
    await expect(open(directory)).rejects.toMatchObject({ code: 'snapshot_mismatch' });
    expect(readdirSync(directory)).toEqual(files);
  });

  test('a directory of something else, or a file', async () => {
    const directory = newDirectory();
    await (await open(directory)).close();
    const other = newDirectory();
    cpSync(directory, other, { recursive: true });
    for (const name of readdirSync(other)) rmSync(join(other, name));
    writeFileSync(join(other, 'thesis.txt'), 'x');
    await expect(open(other)).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(open(join(other, 'thesis.txt'))).rejects.toMatchObject({ code: 'invalid_input', path: 'stateDir' });
    expect(existsSync(join(other, 'CURRENT'))).toBe(false);
    const python = newDirectory();
    mkdirSync(python);
    writeFileSync(join(python, 'embedded.sqlite'), '');
    await expect(open(python)).rejects.toThrow('this one is of rollflex.Client.embedded() in Python');
  });
});

describe('after a crash', () => {
  const registryOf = (definition: unknown) => createRegistry([definition as typeof tailBatching]) as never;
  /** A store with two steps of version 0.3.1. */
  async function written(): Promise<MemoryStore> {
    const store = new MemoryStore();
    const { server } = await serverOn(store, { version: '0.3.1', registry: registryOf(turnstile(1)) });
    const caller = new WireClient(server);
    const ask = (at: number) => ({ session: 'x', events: [{ type: 'test/turn.asked', at, promptId: `p${at}` }] });
    const calls = [
      { method: 'session.open', params: { policy: 'test/turnstile', config: {}, session: 'x' } },
      ...[1, 2].map((at) => ({ method: 'session.send', params: ask(at) })),
    ];
    for (const call of calls) {
      await caller.line({ jsonrpc: '2.0', id: 0, ...call });
      await settleAll(store);
    }
    return store;
  }
  // Besides them there are a snapshot, and what the store says of itself.
  const steps = ({ data }: MemoryStore) => data.size - 2;
  const opens = (data: MemoryStore['data'], version: string, definition: unknown = turnstile(2)) =>
    serverOn(new MemoryStore(data), { version, registry: registryOf(definition) });

  test.each(['0.3.1', '0.3.2', '0.4.0'])('version %s goes on', async (version) => {
    const store = new MemoryStore((await written()).data);
    const { server } = await serverOn(store, { version, registry: registryOf(turnstile(2)) });
    expect(server.sessions.get('x').policy.snapshot()).toMatchObject({ version: 2, state: { turns: 2, last: 'p2' } });
    // Before its first write, the store is that of the old version; after it, there are no steps of another one.
    expect(store.data.get('meta')).toContain('"version":"0.3.1"');
    await opens(store.data, '0.3.1');
    expect(steps(store)).toBe(2);
    await settleAll(store);
    expect(steps(store)).toBe(version === '0.3.1' ? 2 : 0);
    expect((await opens(store.data, '0.4.0')).server.sessions.get('x').policy.seq).toBe(2);
  });

  test.each(['0.3.0', '0.5.0', '1.0.0', '0.4.0-rc.1', 'unknown'])('version %s is refused', async (version) => {
    const { data } = await written();
    await expect(opens(data, version)).rejects.toMatchObject({
      code: 'snapshot_mismatch',
      expected: expect.stringContaining('version 0.3.1 or a compatible later one'),
      got: expect.stringContaining(`version ${version}: start and stop version 0.3.1 once`),
    });
  });

  test('steps of an earlier format have no digests: the same version goes on, and leaves none', async () => {
    const { data } = await written();
    const meta = JSON.parse(data.get('meta')!);
    const earlier = new MemoryStore(data);
    earlier.data.set('meta', JSON.stringify({ ...meta, format: 1, writes: undefined }));
    await expect(opens(earlier.data, '0.3.2')).rejects.toMatchObject({
      expected: expect.stringContaining('0.3.1, because'),
    });
    await serverOn(earlier, { version: '0.3.1', registry: registryOf(turnstile(1)) });
    await settleAll(earlier);
    expect(steps(earlier)).toBe(0);
  });

  test('a later version that refuses an event, or decides otherwise, is refused with the step', async () => {
    const { data } = await written();
    const deaf = definePolicy({ ...turnstile(1), state: z.looseObject({}), begin: () => ({}), handlers: [] } as never);
    for (const [definition, how] of [
      [deaf, 'it is refused now \\(invalid_event'],
      [turnstile(2, 3), 'its decisions are others now'],
    ] as const) {
      await expect(opens(data, '0.4.0', definition)).rejects.toMatchObject({
        code: 'snapshot_mismatch',
        expected: expect.stringMatching(`step 1 of 2 of session x \\(test/turnstile\\) as version 0.3.1 .*${how}`),
        got: expect.stringContaining('start and stop version 0.3.1 once'),
      });
    }
    const other = await opens(data, '0.3.1', turnstile(1, 3));
    expect(() => other.server.sessions.get('x')).toThrow('other code of the policy');
  });
});

describe('a journal', () => {
  test('calls that come together share one write', async () => {
    const store = new MemoryStore();
    const { server } = await serverOn(store);
    await settleAll(store);
    const caller = new WireClient(server);
    const before = store.synced;
    const opens = Array.from({ length: 20 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'session.open', params: tail }));
    await caller.raw(opens.map((one) => `${JSON.stringify(one)}\n`).join(''));
    await turn();
    expect(caller.lines).toEqual([]);
    await settleAll(store);
    // The first goes at once, the others while it is written.
    expect(store.synced).toBe(before + 2);
    expect(caller.lines).toHaveLength(20);
  });

  test('a snapshot takes the place of steps, so that what must be done again is bounded', async () => {
    const store = new MemoryStore();
    const { server } = await serverOn(store, { snapshotEvents: 20 });
    const caller = new WireClient(server);
    const policy = { policy: 'long-prompt-queue', config: { promptsPerRound: 2 }, session: 'x' };
    await caller.line({ jsonrpc: '2.0', id: 0, method: 'session.open', params: policy });
    const model = create(longPromptQueue, { promptsPerRound: 2 });
    let most = 0;
    for (let round = 0; round < 200; round += 1) {
      const event = { type: 'round.requested', at: round, roundId: `r${round}`, weightVersion: round } as const;
      model.send(event);
      await caller.line({ jsonrpc: '2.0', id: 1, method: 'session.send', params: { session: 'x', events: [event] } });
      await settleAll(store);
      most = Math.max(most, store.data.size);
    }
    // A snapshot, the steps since, and what the store says of itself.
    expect(most).toBeLessThan(60);
    const again = await serverOn(new MemoryStore(store.data));
    expect(again.server.sessions.get('x').policy.snapshot()).toEqual(model.snapshot());
  });

  test('a store that fails answers nobody from then on', async () => {
    const store = new MemoryStore();
    const failing: Store = {
      write: () => Promise.reject(new Error('disk full')),
      entries: () => store.entries(),
      close: () => store.close(),
    };
    const { server, failed } = await serverOn(failing);
    const caller = new WireClient(server);
    await caller.line({ jsonrpc: '2.0', id: 0, method: 'session.open', params: tail });
    await turn();
    expect(caller.lines).toEqual([]);
    expect(caller.destroyed).toBe(true);
    await expect(failed).rejects.toThrow('disk full');
    const next = new WireClient(server);
    await next.line({ jsonrpc: '2.0', id: 0, method: 'session.list' });
    await turn();
    expect(next.lines).toEqual([]);
    expect(next.destroyed).toBe(true);
  });

  test('--fsync interval: answers do not wait for the disk, which has everything a second later', async () => {
    const store = new MemoryStore();
    const { server, clock, close } = await serverOn(store, { fsync: 'interval' });
    const caller = new WireClient(server);
    await caller.line({ jsonrpc: '2.0', id: 0, method: 'session.open', params: tail });
    await settleAll(store);
    expect(caller.lines).toHaveLength(1);
    expect(store.synced).toBe(0);
    clock.move(1);
    await settleAll(store);
    expect(store.synced).toBe(1);
    await caller.line({ jsonrpc: '2.0', id: 0, method: 'session.open', params: tail });
    await settleAll(store);
    expect(store.synced).toBe(1);
    // Nothing is left to the system at an orderly stop.
    const closed = close();
    await settleAll(store);
    await closed;
    expect(store.synced).toBe(2);
    expect(clock.waiting).toBe(0);
  });
});
