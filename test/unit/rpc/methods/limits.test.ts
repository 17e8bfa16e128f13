/** Limits by connection and in all, and what the server says of what it has refused. */
import { describe, expect, test } from 'vitest';
import { prometheus, RpcServer } from '../../../../src/rpc/index.ts';
import { JsonText, type PlanJob, type Planning } from '../../../../src/rpc/methods/planning.ts';
import { openingEvents, rpc, tail, WireClient } from '../../../support/servers/clocked.ts';
import { turn } from '../../../support/servers/memory-store.ts';

const refusedIn = async (client: WireClient) => (await client.call('server.info')).refused;
const prompts = (count: number, from = 0) => Array.from({ length: count }, (_, at) => ({ promptId: `p${from + at}` }));
const round = { type: 'round.requested', at: 0, roundId: 'r', weightVersion: 1 };
const supplied = (count: number, from = 0) => ({
  type: 'prompts.supplied',
  at: 1,
  roundId: 'r',
  prompts: prompts(count, from),
});

describe('the ids of one event', () => {
  // A prompt counts itself, and the two requests of each of its responses.
  test('are bounded, with those that are minted for them; several events may bring more', async () => {
    const { client } = rpc({ limits: { maxEventIds: 10 } });
    await client.call('session.open', { ...tail, session: 'x' });
    await client.call('session.send', { session: 'x', events: [round] });
    const expected = /^at most 10 ids in an event, with those that the policy mints: send several events$/;
    const data = { code: 'limit_exceeded', expected: expect.stringMatching(expected), seq: 1 };
    await client.fails('session.send', { session: 'x', events: [supplied(6)] }, data);
    await client.call('session.send', { session: 'x', events: [supplied(2), supplied(2, 2)] });
    expect(await refusedIn(client)).toEqual([{ code: 'limit_exceeded', limit: 'maxEventIds', count: 1 }]);
  });
});

describe('the ids of all sessions', () => {
  test('are bounded: sent or in a snapshot; a session that ends makes room', async () => {
    const { client } = rpc({ limits: { maxTotalIds: 25 } });
    for (const session of ['x', 'y', 'z']) await client.call('session.open', { ...tail, session });
    const send = (session: string) => client.reply('session.send', { session, events: openingEvents() });
    const first = await send('x');
    expect(first.error).toBeUndefined();
    const counts: boolean[] = [];
    for (const session of ['y', 'z']) counts.push((await send(session)).error === undefined);
    expect(counts).toContain(false);
    const { snapshot } = await client.call('session.snapshot', { session: 'x' });
    const again = { session: 'again', snapshot };
    const full = { code: 'limit_exceeded', path: 'snapshot', expected: 'at most 25 ids in flight in all sessions' };
    await client.fails('session.open', again, full);
    // In the place of a session as large there is room.
    await client.call('session.open', { ...again, session: 'x', onExisting: 'replace' });
    for (const session of ['x', 'y']) await client.call('session.close', { session });
    await client.call('session.open', again);
    expect((await refusedIn(client)).find((one: { limit?: string }) => one.limit === 'maxTotalIds').count).toBe(
      1 + counts.filter((one) => !one).length,
    );
  });
});

describe('a message', () => {
  const long = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

  test('other than session.open is bounded by maxCallBytes', async () => {
    const { client } = rpc({ limits: { maxCallBytes: 1024 } });
    const much = 'x'.repeat(2000);
    const answers = async (line: string) =>
      (await client.line(line)) as { result?: object; error?: { data: object } }[];
    const open = { policy: 'no-such', config: { much }, session: 'x' };
    // It was read: the refusal is that of the method.
    expect((await answers(long('session.open', open)))[0]!.error!.data).toMatchObject({ code: 'unknown_id' });
    for (const line of [
      long('session.send', { session: 'x', events: [{ much }] }),
      long('plan', { planner: 'flex-ulysses', input: { much } }),
      `[${long('session.open', open)}]`,
      JSON.stringify({ jsonrpc: '2.0', id: 1, params: { much, method: 'session.open' }, method: 'session.send' }),
    ]) {
      const [answer] = await answers(line);
      expect(answer!.error!.data).toMatchObject({
        code: 'limit_exceeded',
        expected: 'at most 1024 bytes in a message other than session.open (whose method comes first)',
      });
    }
    expect(await refusedIn(client)).toContainEqual({ code: 'limit_exceeded', limit: 'maxCallBytes', count: 4 });
  });
});

describe('plans', () => {
  /** Plans that are done when the test says so. */
  function slowly() {
    const jobs: (PlanJob & { readonly done: () => void })[] = [];
    const planning: Planning = {
      plan: (job) => new Promise((resolve) => jobs.push({ ...job, done: () => resolve(new JsonText('{}')) })),
      close: () => undefined,
    };
    return { jobs, planning };
  }
  const plan = (id: number) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: 'plan', params: { planner: 'flex-ulysses', input: {} } })}\n`;

  test('of one connection leave places for the others', async () => {
    const { jobs, planning } = slowly();
    const server = new RpcServer({ planning, limits: { maxPlans: 4, maxPlansPerConnection: 3 } });
    const [greedy, other] = [new WireClient(server), new WireClient(server)];
    await greedy.raw([1, 2, 3, 4].map(plan).join(''));
    await other.raw(plan(1) + plan(2));
    await turn();
    expect(jobs).toHaveLength(4);
    const errors = [greedy, other].map(({ lines }) => lines.map((line) => JSON.parse(line).error.data.expected));
    expect(errors).toEqual([
      [expect.stringMatching(/^at most 3 plans of a c/)],
      [expect.stringMatching(/^at most 4 plans at/)],
    ]);
    jobs[0]!.done();
    await turn();
    await greedy.raw(plan(5));
    expect(jobs).toHaveLength(5);
    expect(await refusedIn(other)).toEqual([
      { code: 'limit_exceeded', limit: 'maxPlans', count: 1 },
      { code: 'limit_exceeded', limit: 'maxPlansPerConnection', count: 1 },
    ]);
  });
});

describe('what waits for clients that do not read', () => {
  const infos = (count: number) =>
    Array.from({ length: count }, (_, id) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'server.info' })}\n`);

  test('is bounded in all: who has more than a share is not read from, who reads goes on', async () => {
    const { server, client } = rpc({ limits: { maxTotalOutputBytes: 100_000 } });
    const stalled = Array.from({ length: 20 }, () => Object.assign(new WireClient(server), { stalled: true }));
    for (const one of stalled) void one.raw(infos(50).join(''));
    await turn();
    const longest = Math.max(...stalled.flatMap(({ lines }) => lines.map((line) => line.length)));
    const waiting = stalled.reduce((sum, one) => sum + one.waiting, 0);
    expect(waiting).toBeLessThan(100_000 + 21 * longest);
    expect(stalled.some(({ lines }) => lines.length < 50)).toBe(true);
    await client.raw(infos(50).join(''));
    expect(client.lines).toHaveLength(50);
    // They go on when they read.
    for (let tries = 0; tries < 60; tries += 1) {
      for (const one of stalled) one.read();
      await turn();
    }
    expect(stalled.map(({ lines }) => lines.length)).toEqual(stalled.map(() => 50));
  });
});

describe('refusals are counted', () => {
  test('by code, and by limit where it is one of the server', async () => {
    const { client } = rpc({ limits: { maxSessions: 1, maxBatchCalls: 1, maxEventsPerCall: 2 } });
    await client.call('session.open', { ...tail, session: 'x' });
    await client.reply('session.open', tail);
    await client.reply('session.open', tail);
    await client.reply('session.send', { session: 'no-such', events: [] });
    await client.reply('session.send', { session: 'x', events: [1, 2, 3] });
    await client.reply('no.such');
    await client.line('{');
    await client.line([{}, {}]);
    // Nobody is told of a wrong notification, but it counts.
    await client.line({ jsonrpc: '2.0', method: 'session.close', params: { session: 'y' } });
    expect(await refusedIn(client)).toEqual([
      { code: 'invalid_input', count: 1 },
      { code: 'limit_exceeded', limit: 'maxBatchCalls', count: 1 },
      { code: 'limit_exceeded', limit: 'maxEventsPerCall', count: 1 },
      { code: 'limit_exceeded', limit: 'maxSessions', count: 2 },
      { code: 'unknown_id', count: 3 },
    ]);
  });

  test('connections too, by reason, and /metrics has the same figures', async () => {
    const { meter, listen } = await prometheus();
    const token = 'a-token-of-some-length';
    const limits = { maxConnections: 1, stallSeconds: 5, maxOutputBytes: 1024 };
    const { server, client, clock } = rpc({ meter, limits, isToken: (given) => given === token });
    await client.call('server.authenticate', { token });
    const show = { jsonrpc: '2.0', id: 1, method: 'server.authenticate', params: { token } };
    await new WireClient(server).raw(`${JSON.stringify(show)}\n`);
    await new WireClient(server).raw('{}\n');
    const { closed } = await client.call('server.info');
    expect(closed).toEqual({ cutOff: 0, turnedAway: 1, full: 1 });
    client.stalled = true;
    void client.raw(`${JSON.stringify({ ...show, method: 'server.info', params: {} })}\n`);
    await turn();
    clock.move(6);
    await turn();
    expect(client.destroyed).toBe(true);
    const listening = await listen(server, { port: 0 });
    const text = await (await fetch(`http://127.0.0.1:${listening.port}/metrics`)).text();
    await listening.close();
    const closings = [...text.matchAll(/^rollflex_connections_closed_total\{reason="(\w+)"\} 1$/gm)].map(
      ([, one]) => one,
    );
    expect(closings.sort()).toEqual(['cutOff', 'full', 'turnedAway']);
  });
});
