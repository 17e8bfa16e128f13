import { describe, expect, test } from 'vitest';
import { completed, openingEvents, rpc, tail } from '../../../support/servers/clocked.ts';

async function opened(limits = {}) {
  const { client, server } = rpc({ limits });
  await client.call('session.open', { ...tail, session: 'x' });
  const send = (producer: string, firstSeq: number | undefined, events: unknown[]) =>
    client.reply('session.send', { session: 'x', producer, firstSeq, events });
  const state = () => JSON.stringify(server.sessions.get('x').policy.snapshot());
  return { client, server, send, state };
}

describe('retries', () => {
  test('a retry gets the same answer, and applies nothing', async () => {
    const { send, state } = await opened();
    const first = await send('p', 0, openingEvents());
    expect(first.result).toMatchObject({ seq: 2, nextSeq: 2 });
    const second = await send('p', 2, [completed('a/0#0')]);
    const before = state();
    expect((await send('p', 0, openingEvents())).result).toEqual(first.result);
    expect((await send('p', 2, [completed('a/0#0')])).result).toEqual(second.result);
    expect(state()).toBe(before);
  });

  test('two producers with interleaved retries: nothing lost, nothing twice', async () => {
    const { send, state } = await opened();
    await send('p', 0, openingEvents());
    const one = await send('p', 2, [completed('a/0#0')]);
    const two = await send('q', 0, [completed('a/1#0')]);
    expect(two.result).toMatchObject({ seq: 4, nextSeq: 1 });
    const before = state();
    expect((await send('q', 0, [completed('a/1#0')])).result).toEqual(two.result);
    expect((await send('p', 2, [completed('a/0#0')])).result).toEqual(one.result);
    expect(state()).toBe(before);
  });

  test('a gap, a retry that is too old, or one that is not as it was sent: out_of_order with the expected number', async () => {
    const { client, send, state } = await opened({ keptAnswers: 2 });
    await send('p', 0, openingEvents());
    await send('p', 2, [completed('a/0#0')]);
    await send('p', 3, [completed('a/1#0')]);
    const before = state();
    for (const [firstSeq, events] of [
      [5, []],
      [0, openingEvents()],
      [2, [completed('a/0#0'), completed('b/0#0')]],
      [2, [completed('b/0#0')]],
      [1, [{}]],
    ] as const) {
      const params = { session: 'x', producer: 'p', firstSeq, events };
      const data = await client.fails('session.send', params, { code: 'out_of_order', path: 'firstSeq' });
      expect(data.expected).toMatch(/^4, /);
    }
    await client.fails(
      'session.send',
      { session: 'x', producer: 'new', firstSeq: 1, events: [] },
      { code: 'out_of_order' },
    );
    expect(state()).toBe(before);
  });

  test('a retry has the same events; the server has stamped those without a time', async () => {
    const { client, send } = await opened();
    const [event, other] = openingEvents().map(({ at: _, ...rest }) => rest);
    const first = await send('p', 0, [event, other, completed('never'), completed('a/0#0')]);
    expect(first.error!.data).toMatchObject({ index: 2, nextSeq: 2 });
    const { snapshot, delivery } = await client.call('session.snapshot', { session: 'x', delivery: true });
    await client.call('session.open', { session: 'x', snapshot, delivery, onExisting: 'replace' });
    expect((await send('p', 0, [event, other, completed('never'), completed('a/0#0')])).error).toEqual(first.error);
    for (const events of [
      [other, event, completed('never'), completed('a/0#0')],
      [event, { ...other, roundId: 'r2' }, completed('never'), completed('a/0#0')],
    ])
      expect((await send('p', 0, events)).error!.data).toMatchObject({ code: 'out_of_order', path: 'firstSeq' });
  });

  test('a refused event uses no number up', async () => {
    const { send } = await opened();
    const wrong = await send('p', 0, [...openingEvents(), completed('never'), completed('a/0#0')]);
    expect(wrong.error!.data).toMatchObject({ index: 2, seq: 2, nextSeq: 2 });
    // The answer was lost: the retry gets it again, with its decisions.
    expect((await send('p', 0, [...openingEvents(), completed('never'), completed('a/0#0')])).error).toEqual(
      wrong.error,
    );
    // All refused: it may be mended and sent with the same number.
    expect((await send('p', 2, [completed('never')])).error!.data).toMatchObject({ index: 0, nextSeq: 2 });
    expect((await send('p', 2, [completed('a/0#0')])).result).toMatchObject({ seq: 3, nextSeq: 3 });
  });

  test('without firstSeq the numbers go on; firstSeq needs a producer; producers are bounded', async () => {
    const { client, send } = await opened({ maxProducers: 1 });
    await send('p', undefined, openingEvents());
    expect((await send('p', 2, [completed('a/0#0')])).result).toMatchObject({ seq: 3 });
    await client.fails(
      'session.send',
      { session: 'x', firstSeq: 0, events: [] },
      { code: 'invalid_input', path: 'producer' },
    );
    const params = { session: 'x', producer: 'q', firstSeq: 0, events: [completed('a/1#0')] };
    await client.fails('session.send', params, { code: 'limit_exceeded', path: 'producer' });
  });

  test('a retry of a long answer brings its pages back', async () => {
    const { client, send } = await opened({ pageDecisions: 3, keptAnswers: 1 });
    const first = await send('p', 0, openingEvents());
    const { more } = first.result!;
    const page = await client.call('session.more', { session: 'x', more });
    // Another long answer takes the place of its pages.
    await send('q', 0, [{ type: 'host.restarted', at: 5, idPrefix: 'again/' }]);
    await client.fails('session.more', { session: 'x', more }, { code: 'unknown_id' });
    expect((await send('p', 0, openingEvents())).result).toEqual(first.result);
    expect(await client.call('session.more', { session: 'x', more })).toEqual(page);
  });
});
