import { describe, expect, test } from 'vitest';
import { createRegistry } from '../../../src/core/machine/registry.ts';
import { tailBatching } from '../../../src/recipes/tail-batching/index.ts';
import { type Meter, methods, noMeter, serverLimits } from '../../../src/rpc/index.ts';
import { type Reply, rpc, tail, WireClient } from '../../support/servers/clocked.ts';
import { patched } from '../../support/wrong/hand-made.ts';

const call = (id: unknown, method = 'session.list', params?: unknown) => ({ jsonrpc: '2.0', id, method, params });

describe('JSON-RPC 2.0', () => {
  const errorOf = async (line: unknown) => {
    const lines = (await rpc().client.line(line)) as Reply[];
    expect(lines).toHaveLength(1);
    return { id: lines[0]!.id, code: lines[0]!.error!.code };
  };

  test.each<[string, unknown, number]>([
    ['no JSON', '{"jsonrpc": "2.0", "id"', -32700],
    ['a word', 'hello', -32700],
    ['a number', '5', -32600],
    ['null', 'null', -32600],
    ['an empty batch', '[]', -32600],
    ['no version', { id: 1, method: 'session.list' }, -32600],
    ['another version', { jsonrpc: '1.0', id: 1, method: 'session.list' }, -32600],
    ['no method', { jsonrpc: '2.0', id: 1 }, -32600],
    ['an answer', { jsonrpc: '2.0', id: 1, result: {} }, -32600],
    ['a method that is no name', { jsonrpc: '2.0', id: 1, method: 5 }, -32600],
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'session.list' }, -32600],
    ['params that are a string', { jsonrpc: '2.0', id: 1, method: 'session.list', params: 'x' }, -32600],
  ])('%s', async (_, line, code) => {
    expect(await errorOf(line)).toEqual({ id: null, code });
  });

  test.each<[string, unknown, number]>([
    ['no such method', call(7, 'session.steal'), -32601],
    ['a method that objects have', call(7, 'constructor'), -32601],
    ['params by position', call(7, 'session.list', ['x']), -32602],
    ['a field too many', call(7, 'session.list', { x: 1 }), -32602],
    ['a field too few', call(7, 'session.close', {}), -32602],
    ['a field of another type', call(7, 'session.close', { session: 5 }), -32602],
  ])('%s', async (_, line, code) => {
    expect(await errorOf(line)).toEqual({ id: 7, code });
  });

  test('every error says what was expected and what was got', async () => {
    const [reply] = (await rpc().client.line(call(1, 'session.close', {}))) as Reply[];
    expect(reply).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32602,
        message: 'session: expected a string (required), got nothing',
        data: { code: 'invalid_input', path: 'session', expected: 'a string (required)', got: 'nothing' },
      },
    });
  });

  test('an error is short, whatever was sent', async () => {
    const long = 'x'.repeat(100_000);
    for (const one of [
      call(1, long),
      call(1, 'session.list', { [long]: long }),
      call(1, 'session.close', { session: long }),
    ]) {
      const { client } = rpc();
      await client.line(one);
      expect(client.lines[0]!.length).toBeLessThan(1200);
    }
  });

  test('ids come back as they were, null too', async () => {
    for (const id of ['a', 0, 1.5, -1, '', null]) {
      expect(await rpc().client.line(call(id))).toMatchObject([{ id, result: { sessions: [] } }]);
    }
  });

  test('notifications get no answer, whatever is wrong with them', async () => {
    const { client, server } = rpc();
    const notify = (method: string, params: unknown) => client.line({ jsonrpc: '2.0', method, params });
    expect(await notify('session.open', { ...tail, session: 'x' })).toEqual([]);
    expect(server.sessions.size).toBe(1);
    expect(await notify('session.open', {})).toEqual([]);
    expect(await notify('nothing', {})).toEqual([]);
    // Its decisions would be lost.
    const events = [{ type: 'round.requested', roundId: 'r1', weightVersion: 1 }];
    expect(await notify('session.send', { session: 'x', events })).toEqual([]);
    expect(server.sessions.get('x').policy.seq).toBe(0);
  });

  test('batches: in order, answers in a list even if there is one, none for notifications only', async () => {
    const { client } = rpc();
    const open = call(1, 'session.open', { ...tail, session: 'x' });
    const [answers] = (await client.line([open, call(undefined, 'session.list'), 5, call(2)])) as [Reply[]];
    expect(answers.map((one) => [one.id, one.error?.code])).toEqual([
      [1, undefined],
      [null, -32600],
      [2, undefined],
    ]);
    expect(answers[2]!.result!.sessions).toHaveLength(1);
    expect(await client.line([call(3)])).toMatchObject([[{ id: 3 }]]);
    expect(await client.line([call(undefined)])).toEqual([]);
  });

  test('lines: empty ones are passed over, a carriage return is white space, the last needs no line break', async () => {
    const { client } = rpc();
    await client.raw(`\n\r\n \n${JSON.stringify(call(1))}\r\n`);
    expect(client.lines.filter((one) => one.includes('"id":1'))).toHaveLength(1);
    const text = JSON.stringify(call(2));
    await client.raw(text.slice(0, 9));
    await client.raw(text.slice(9));
    await client.connection!.finish();
    expect(client.lines.filter((one) => one.includes('"id":2'))).toHaveLength(1);
  });

  test('a line may come in any pieces, between the bytes of one character too', async () => {
    const { client } = rpc();
    const bytes = new TextEncoder().encode(`${JSON.stringify(call('Überfluß 😀'))}\n`.repeat(3));
    for (const byte of bytes) await client.raw(Uint8Array.of(byte));
    expect(client.lines.map((one) => JSON.parse(one).id)).toEqual(Array(3).fill('Überfluß 😀'));
  });

  test('what is not UTF-8 is refused', async () => {
    const { client } = rpc();
    await client.raw(Uint8Array.of(0x22, 0xff, 0xfe, 0x22, 10));
    expect(JSON.parse(client.lines[0]!).error.code).toBe(-32700);
  });
});

describe('limits', () => {
  const limited = (line: unknown, expected: RegExp, limits: object) => async () => {
    const { client } = rpc({ limits });
    const [reply] = (await client.line(line)) as Reply[];
    expect(reply!.error).toMatchObject({ code: -32000, data: { code: 'limit_exceeded' } });
    expect(reply!.error!.message).toMatch(expected);
    // The connection goes on.
    expect(await client.call('session.list')).toEqual({ sessions: [] });
  };
  const deep = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

  test('bytes of a message', limited(call('x'.repeat(2000)), /at most 1024 bytes/, { maxMessageBytes: 1024 }));
  test('depth', limited(deep(65), /at most 64 levels/, {}));
  test('depth, a bomb', limited('['.repeat(100_000), /at most 64 levels/, {}));
  test('calls of a batch', limited(Array(4).fill(call(1)), /at most 3 calls/, { maxBatchCalls: 3 }));

  test('what stands in strings has no depth', async () => {
    const { client } = rpc({ limits: { maxDepth: 8 } });
    expect(await client.line(call('[{'.repeat(50)))).toMatchObject([{ result: {} }]);
    expect(await client.line(call('\\"[[[[[[[[[[\\\\'))).toMatchObject([{ result: {} }]);
    expect(await client.line(deep(8))).toMatchObject([{ error: { code: -32600 } }]);
    expect(await client.line(deep(9))).toMatchObject([{ error: { code: -32000 } }]);
  });

  test('a long line is dropped as it comes', async () => {
    const { client } = rpc({ limits: { maxMessageBytes: 1024 } });
    for (let n = 0; n < 100; n += 1) await client.raw('x'.repeat(1000));
    expect(client.lines).toEqual([]);
    await client.raw(`\n${JSON.stringify(call(1))}\n`);
    expect(client.lines.map((one) => JSON.parse(one).id)).toEqual([null, 1]);
  });

  test('the answers of a batch: calls that they leave no room for are not made', async () => {
    const { client, server } = rpc({ limits: { maxOutputBytes: 1024 } });
    const open = call(3, 'session.open', tail);
    const [answers] = (await client.line([call(1, 'server.info'), call(undefined, 'session.list'), open])) as [Reply[]];
    expect(answers.map((one) => [one.id, one.error?.data.code])).toEqual([
      [1, undefined],
      [3, 'limit_exceeded'],
    ]);
    expect(server.sessions.size).toBe(0);
  });

  test('connections', () => {
    const { server, client } = rpc({ limits: { maxConnections: 1 } });
    const other = new WireClient(server);
    expect([other.connection, other.destroyed]).toEqual([undefined, true]);
    client.destroy();
    expect(new WireClient(server).connection).toBeDefined();
  });

  test('limits out of bounds are refused', () => {
    expect(serverLimits({ maxSessions: 3 })).toMatchObject({ maxSessions: 3, maxDepth: 64 });
    expect(() => serverLimits({ maxSessions: 0 })).toThrow(/limits.maxSessions/);
    expect(() => serverLimits({ nothing: 1 } as never)).toThrow(/limits.nothing/);
  });
});

describe('defects', () => {
  const broken = patched(tailBatching, {
    id: 'test/broken',
    apply: () => {
      throw new TypeError('a secret');
    },
  });

  test('a policy that breaks is an error, and the server goes on', async () => {
    const { client } = rpc({ registry: createRegistry([broken]) as never });
    const { session } = await client.call('session.open', { ...tail, policy: 'test/broken' });
    const events = [{ type: 'round.requested', roundId: 'r1', weightVersion: 1 }];
    await client.fails('session.send', { session, events }, { code: 'internal', index: 0 });
    await client.fails('session.snapshot', { session }, { code: 'internal' });
    await client.call('session.close', { session });
    expect((await client.call('session.list')).sessions).toEqual([]);
  });

  test('a defect of the server arrives with its message; its stack is told to the host alone, once', async () => {
    const defect = new TypeError('no such table');
    const wrong = patched(tailBatching, {
      id: 'test/wrong',
      init: () => {
        throw defect;
      },
    });
    const told: unknown[] = [];
    const { client } = rpc({ registry: createRegistry([wrong]) as never, defect: (error) => told.push(error) });
    for (let time = 0; time < 2; time += 1) {
      const { error } = await client.reply('session.open', { ...tail, policy: 'test/wrong' });
      expect(error).toMatchObject({ code: -32603, data: { code: 'internal', got: 'TypeError: no such table' } });
      expect(JSON.stringify(error)).not.toContain('protocol.test');
    }
    expect(told).toEqual([defect]);
    expect(defect.stack).toContain('protocol.test');
  });
});

describe('tokens', () => {
  const guarded = () => rpc({ isToken: (token) => token === 'right' });
  const show = (token: unknown) => call(1, 'server.authenticate', { token });

  test('the right one opens the connection', async () => {
    const { client } = guarded();
    expect(await client.line(show('right'))).toMatchObject([{ id: 1, result: {} }]);
    expect(await client.call('session.list')).toEqual({ sessions: [] });
  });

  test.each<[string, unknown]>([
    ['a wrong one', show('wrong')],
    ['none', call(1)],
    ['one that is no string', show({ right: 1 })],
    ['a batch', [show('right')]],
    ['an open before it', [call(1, 'session.open', tail), show('right')]],
    ['no JSON', '{'],
    ['too deep', '['.repeat(100)],
    ['too long', 'x'.repeat(10_000)],
    ['null', 'null'],
    ['params null', '{"jsonrpc":"2.0","id":1,"method":"server.authenticate","params":null}'],
  ])('%s gets nothing', async (_, line) => {
    const { client, server } = guarded();
    expect(await client.line(line)).toEqual([]);
    expect(client.destroyed).toBe(true);
    expect([server.connections, server.sessions.size]).toEqual([0, 0]);
  });

  test('what follows a wrong one in the same bytes is not read', async () => {
    const { client, server } = guarded();
    await client.raw(
      `${JSON.stringify(show('wrong'))}\n${JSON.stringify(show('right'))}\n${JSON.stringify(call(2, 'session.open', tail))}\n`,
    );
    expect([client.lines, server.sessions.size]).toEqual([[], 0]);
  });

  test('who says nothing is closed after ten seconds', async () => {
    const { client, clock } = guarded();
    clock.move(9);
    expect(client.destroyed).toBe(false);
    clock.move(2);
    expect(client.destroyed).toBe(true);
    const late = guarded();
    await late.client.line(show('right'));
    late.clock.move(20);
    expect(late.client.destroyed).toBe(false);
  });

  test('without tokens it is answered all the same', async () => {
    expect(await rpc().client.call('server.authenticate', { token: 'x' })).toEqual({});
  });
});

test('a meter hears of calls and events', async () => {
  const heard: unknown[] = [];
  const meter: Meter = {
    ...noMeter,
    called: (method, code, seconds) => heard.push([method, code, seconds >= 0]),
    applied: (policy, event, decisions) => heard.push([policy, event.type, decisions.length]),
  };
  const { client } = rpc({ meter });
  const { session } = await client.call('session.open', tail);
  await client.reply('session.send', {
    session,
    events: [{ type: 'round.requested', roundId: 'r', weightVersion: 0 }, 5],
  });
  await client.line('{');
  expect(heard).toEqual([
    ['session.open', 0, true],
    ['tail-batching', 'round.requested', 2],
    ['session.send', -32000, true],
    ['', -32700, true],
  ]);
});

test('names of methods stay as they are', () => {
  expect(methods.map((one) => one.name)).toMatchInlineSnapshot(`
    [
      "session.open",
      "session.send",
      "session.more",
      "session.snapshot",
      "session.why",
      "session.close",
      "session.list",
      "session.subscribe",
      "session.ack",
      "session.unsubscribe",
      "plan",
      "rpc.discover",
      "server.info",
      "server.authenticate",
    ]
  `);
});
