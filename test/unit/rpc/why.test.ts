/** `session.why`: what a server says of who has to act, also in the middle of other calls. */
import { describe, expect, test } from 'vitest';
import { embed } from '../../../src/embedded/index.ts';
import { methods } from '../../../src/rpc/methods/methods.ts';
import { rpc, tail, WireClient } from '../../support/servers/clocked.ts';

const result = methods.find(({ name }) => name === 'session.why')!.result;
const round = (prompts: number) => [
  { type: 'round.requested', at: 5, roundId: 'r', weightVersion: 1 },
  {
    type: 'prompts.supplied',
    at: 6,
    roundId: 'r',
    prompts: Array.from({ length: prompts }, (_, n) => ({ promptId: `p${n}` })),
  },
];

async function stuck(promptsPerRound = 2, watches = false) {
  const server = rpc(watches ? { watch: {} } : {});
  const config = { ...tail.config, promptsPerRound };
  await server.client.call('session.open', { ...tail, config, session: 'x' });
  await server.client.call('session.send', { session: 'x', events: round(1.5 * promptsPerRound) });
  return server;
}

describe('session.why', () => {
  test('says where a thing stands, and who owes what since when, for which reason, and after which usual time', async () => {
    const { client } = await stuck(2, true);
    const done = { type: 'response.completed', at: 9, requestId: 'p0/0#0', tokens: 3 };
    await client.call('session.send', { session: 'x', events: [done] });
    const why = await client.call('session.why', { session: 'x', id: 'p1' });
    expect(result.parse(why)).toEqual(why);
    expect(why).toMatchObject({ what: 'prompts', id: 'p1', at: 9, seq: 3 });
    expect((why.through as object[])[0]).toMatchObject({ what: 'requests', id: 'p1/0#0' });
    expect((why.owed as object[])[0]).toEqual({
      who: 'engine',
      event: { type: 'response.completed', requestId: 'p1/0#0' },
      since: 6,
      asked: { type: 'request.launch', reason: expect.objectContaining({ code: 'planned' }) },
      usual: { medianSeconds: expect.closeTo(3, 0), highSeconds: expect.closeTo(3, 0), answers: 1 },
    });
    const all = await client.call('session.why', { session: 'x' });
    expect(result.parse(all)).toEqual(all);
    expect(Object.keys(all).sort()).toEqual(['at', 'more', 'owed', 'rounds', 'seq']);
    const owed = { 'response.completed': 8 };
    const round = { id: 'r', open: true, kind: 'short', stands: 'has 0 of 2 prompts', since: 5, inFlight: 8, owed };
    expect(all.rounds).toEqual([round]);
  });

  test('compares with the present if times are Unix time: a job that hangs sends nothing', async () => {
    const { client, clock } = rpc({ watch: {} });
    clock.time = 1_790_000_000;
    await client.call('session.open', { ...tail, session: 'x' });
    const now = clock.now();
    const [requested, supplied] = round(3);
    const events = [
      { ...requested, at: now },
      { ...supplied, at: now + 1 },
      { type: 'response.completed', at: now + 2, requestId: 'p0/0#0', tokens: 3 },
    ];
    await client.call('session.send', { session: 'x', events });
    clock.move(3600);
    const why = await client.call('session.why', { session: 'x', id: 'p1' });
    expect(why.at).toBe(now + 3600);
  });

  test('lists 32 events, and how many more there are', async () => {
    const { client } = await stuck(20);
    const { owed, more } = await client.call('session.why', { session: 'x', id: 'r' });
    // Of its 30 prompts, 25 are started, with 3 requests each.
    expect([(owed as object[]).length, more]).toEqual([32, 25 * 3 - 32]);
  });

  test('refuses what it does not know, with the nearest that it knows', async () => {
    const { client } = await stuck();
    const why = async (params: object) => (await client.reply('session.why', params)).error!.data;
    expect(await why({ session: 'y' })).toMatchObject({ code: 'unknown_id', path: 'session' });
    expect(await why({ session: 'x', id: 'p0/0#1' })).toMatchObject({
      code: 'unknown_id',
      path: 'id',
      expected: 'the id of something that is held (did you mean "p0/0#0"?)',
    });
    expect(await why({ session: 'x', id: 'p0', what: 'prompt' })).toMatchObject({
      code: 'unknown_id',
      path: 'what',
      expected: expect.stringContaining('did you mean "prompts"?'),
    });
    expect(await why({ session: 'x', what: 'prompts' })).toMatchObject({ code: 'invalid_input', path: 'what' });
  });

  test('lets other sessions in, and answers for its own as it was asked', async () => {
    const { client, clock, server } = await stuck(100);
    const other = new WireClient(server);
    await other.call('session.open', { ...tail, session: 'y' });
    const before = await client.call('session.why', { session: 'x' });
    clock.perLook = 1;
    const order: string[] = [];
    const note = async (name: string, call: Promise<Record<string, unknown>>) => {
      const answer = await call;
      order.push(name);
      return answer;
    };
    const asked = note('why', client.call('session.why', { session: 'x' }));
    const same = note(
      'same',
      new WireClient(server).call('session.send', {
        session: 'x',
        events: [{ type: 'response.completed', at: 7, requestId: 'p0/0#0', tokens: 3 }],
      }),
    );
    const others = note('other', other.call('session.send', { session: 'y', events: round(1) }));
    expect(await asked).toEqual(before);
    expect((await same).seq).toBe(3);
    await others;
    expect(order).toEqual(['other', 'why', 'same']);
  });

  test('of a session in shadow mode says what its policy waits for', async () => {
    const { client } = rpc();
    await client.call('session.open', { policy: 'sandbox-timeout', config: {}, session: 's', shadow: true });
    expect(await client.call('session.why', { session: 's' })).toEqual({
      rounds: [],
      owed: [],
      more: 0,
      at: 0,
      seq: 0,
    });
  });

  test('embedded, follows the times from the first question on', () => {
    const embedded = embed('0', '{}');
    const call = (method: string, params: object) =>
      JSON.parse(embedded.call(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })).split('\n')[0]!).result;
    call('session.open', { ...tail, session: 'x' });
    call('session.send', { session: 'x', events: round(1) });
    const [first] = call('session.why', { session: 'x', id: 'p0' }).owed;
    expect(first).toMatchObject({ who: 'engine', since: 6 });
    expect(first).not.toHaveProperty('asked');
    call('session.send', {
      session: 'x',
      events: [{ type: 'prompts.supplied', at: 7, roundId: 'r', prompts: [{ promptId: 'q' }] }],
    });
    expect(call('session.why', { session: 'x', id: 'q' }).owed[0].asked.type).toBe('request.launch');
  });
});
