import { describe, expect, test } from 'vitest';
import { create, registry, tailBatching } from '../../../../src/index.ts';
import { SortedIds } from '../../../../src/rpc/session/sorted-ids.ts';
import { completed, openingEvents, rpc, tail, WireClient } from '../../../support/servers/clocked.ts';

const inProcess = () => create(tailBatching, tail.config);

describe('session.open', () => {
  test('makes ids that are not taken, and uses one that is given', async () => {
    const { client } = rpc();
    expect(await client.call('session.open', { ...tail, session: 's1' })).toEqual({
      session: 's1',
      policy: 'tail-batching',
      version: 2,
      seq: 0,
    });
    expect((await client.call('session.open', tail)).session).toBe('s2');
  });

  test('refuses what is wrong, and opens nothing', async () => {
    const { client, server } = rpc({ limits: { maxSessions: 1 } });
    const fails = (params: object, expected: object) => client.fails('session.open', params, expected as never);
    await fails({ policy: 'nothing' }, { code: 'unknown_id', path: 'policy' });
    await fails({ policy: 'grpo-advantages' }, { code: 'unknown_id', path: 'policy' });
    await fails({}, { code: 'invalid_input', path: 'policy' });
    await fails({ ...tail, config: { promptsPerRound: 0 } }, { code: 'invalid_config', path: 'promptsPerRound' });
    await fails({ snapshot: 5 }, { code: 'invalid_input', path: 'policy' });
    await fails({ policy: 'tail-batching', snapshot: 5 }, { code: 'snapshot_mismatch' });
    await fails({ ...tail, snapshot: {} }, { code: 'invalid_input', path: 'config' });
    await fails({ ...tail, timers: 'server' }, { code: 'invalid_input', path: 'deliver' });
    await fails({ ...tail, armed: [] }, { code: 'invalid_input', path: 'armed' });
    await client.fails('session.open', { ...tail, onExisting: 'keep' }, { path: 'onExisting' }, -32602);
    await client.fails('session.open', { ...tail, session: '' }, { path: 'session' }, -32602);
    expect(server.sessions.size).toBe(0);
    await client.call('session.open', tail);
    await fails(tail, { code: 'limit_exceeded', path: 'session' });
    expect(server.sessions.size).toBe(1);
  });

  test('goes on from a snapshot as if nothing had happened', async () => {
    const { client } = rpc();
    const policy = inProcess();
    for (const event of openingEvents()) policy.send(event as never);
    const snapshot = JSON.parse(JSON.stringify(policy.snapshot()));
    expect(await client.call('session.open', { snapshot, session: 'x' })).toMatchObject({ seq: 2 });
    const { decisions } = await client.call('session.send', { session: 'x', events: [completed('a/0#0')] });
    expect(decisions).toEqual(policy.send(completed('a/0#0') as never));
    expect((await client.call('session.snapshot', { session: 'x' })).snapshot).toEqual(
      JSON.parse(JSON.stringify(policy.snapshot())),
    );
    await client.fails('session.open', { policy: 'flexrl', snapshot }, { code: 'snapshot_mismatch' });
  });

  test('a snapshot that is longer than a message may be is given whole, and goes back to a server that takes it', async () => {
    const limits = { maxMessageBytes: 4096, maxOutputBytes: 1024 };
    const { client } = rpc({ limits });
    await client.call('session.open', { ...tail, session: 'x' });
    const [requested, supplied] = openingEvents();
    await client.call('session.send', { session: 'x', events: [requested, supplied] });
    const { snapshot } = await client.call('session.snapshot', { session: 'x' });
    const ref = 'r'.repeat(256);
    const prompts = Array.from({ length: 12 }, (_, index) => ({ promptId: `more-${index}`, ref }));
    await client.call('session.send', { session: 'x', events: [{ ...supplied, prompts }] });
    const large = (await client.call('session.snapshot', { session: 'x' })).snapshot;
    expect(JSON.stringify(large).length).toBeGreaterThan(4096);
    const open = { snapshot: large, session: 'x', onExisting: 'replace' };
    const [refused] = (await client.line({ jsonrpc: '2.0', id: 1, method: 'session.open', params: open })) as never[];
    expect(refused).toMatchObject({ id: null, error: { data: { code: 'limit_exceeded' } } });
    expect((await client.call('session.snapshot', { session: 'x' })).snapshot).toEqual(large);
    expect(snapshot).not.toEqual(large);
    const other = rpc({ limits: { maxMessageBytes: 65_536 } });
    expect((await other.client.call('session.open', open)).seq).toBe(3);
  });

  test('fail, attach and replace', async () => {
    const { client, server } = rpc({ limits: { maxSessions: 1 } });
    const open = { ...tail, session: 'x' };
    await client.call('session.open', open);
    await client.call('session.send', { session: 'x', events: openingEvents() });
    await client.fails('session.open', open, { code: 'duplicate_id', path: 'session' });
    const attach = { ...open, onExisting: 'attach' };
    expect((await client.call('session.open', attach)).seq).toBe(2);
    expect((await client.call('session.open', { ...attach, config: undefined })).seq).toBe(2);
    await client.fails('session.open', { ...attach, deliver: 'stream' }, { code: 'invalid_input', path: 'deliver' });
    await client.fails('session.open', { ...attach, timers: 'server' }, { code: 'invalid_input', path: 'timers' });
    const other = { ...attach, config: { ...tail.config, promptsPerRound: 3, filter: 'zero-variance' } };
    const instead = 'attach without a configuration, open another session, or replace this one';
    await client.fails('session.open', other, {
      code: 'invalid_config',
      path: 'config',
      expected: `{"promptsPerRound":${tail.config.promptsPerRound},"filter":"none"}, as the session was opened: ${instead}`,
      got: '{"promptsPerRound":3,"filter":"zero-variance"}',
    });
    await client.fails('session.open', { ...attach, policy: 'flexrl' }, { code: 'invalid_input', path: 'policy' });
    // What cannot be opened leaves the old one as it is.
    const broken = { policy: 'tail-batching', session: 'x', onExisting: 'replace', snapshot: {} };
    await client.fails('session.open', broken, { code: 'snapshot_mismatch' });
    expect(server.sessions.get('x').policy.seq).toBe(2);
    expect((await client.call('session.open', { ...open, onExisting: 'replace' })).seq).toBe(0);
    expect(server.sessions.size).toBe(1);
  });

  test('pages of a session that was replaced are not those of the one in its place', async () => {
    const { client } = rpc({ limits: { pageDecisions: 2 } });
    const open = { ...tail, session: 'x', onExisting: 'replace' };
    const send = { session: 'x', events: openingEvents() };
    await client.call('session.open', open);
    const { more } = await client.call('session.send', send);
    await client.call('session.open', open);
    expect((await client.call('session.send', send)).more).not.toBe(more);
    await client.fails('session.more', { session: 'x', more }, { code: 'unknown_id', path: 'more' });
  });

  test('a trainer that resumes an older checkpoint: its snapshot replaces the newer state', async () => {
    const { client } = rpc();
    await client.call('session.open', { ...tail, session: 'x' });
    await client.call('session.send', { session: 'x', events: openingEvents(), producer: 'p', firstSeq: 0 });
    const { snapshot } = await client.call('session.snapshot', { session: 'x' });
    await client.call('session.send', { session: 'x', events: [completed('a/0#0')], producer: 'p', firstSeq: 2 });
    await client.call('session.open', { snapshot, session: 'x', onExisting: 'replace' });
    const events = [{ type: 'host.restarted', at: 5, idPrefix: 'again/' }];
    const { decisions } = await client.call('session.send', { session: 'x', events, producer: 'p', firstSeq: 0 });
    const launched = decisions.filter((one: { type: string }) => one.type === 'request.launch');
    expect(launched).toHaveLength(9);
    expect(new Set(launched.map((one: { promptId: string }) => one.promptId))).toEqual(new Set(['a', 'b', 'c']));
    for (const one of launched) expect(one.requestId.startsWith('again/')).toBe(true);
  });
});

describe('session.send', () => {
  test('answers with the decisions of all events, as in process', async () => {
    const { client } = rpc();
    const { session } = await client.call('session.open', tail);
    const policy = inProcess();
    const events = [...openingEvents(), completed('a/0#0'), completed('a/1#0')];
    const result = await client.call('session.send', { session, events });
    expect(result).toEqual({ seq: 4, decisions: events.flatMap((one) => policy.send(one as never)) });
    expect(await client.call('session.send', { session, events: [] })).toEqual({ seq: 4, decisions: [] });
  });

  test('stamps the time where it is absent, and only there', async () => {
    const { client, clock } = rpc();
    const { session } = await client.call('session.open', tail);
    clock.time = 1234.5;
    const [event] = openingEvents();
    const { decisions } = await client.call('session.send', { session, events: [{ ...event, at: undefined }] });
    expect(decisions[0].at).toBe(1234.5);
    await client.fails('session.send', { session, events: [{ ...event, at: null }] }, { path: 'at', index: 0 });
  });

  test('a refused event: the earlier ones stay applied, and their decisions are in the error', async () => {
    const { client, server } = rpc();
    const { session } = await client.call('session.open', tail);
    const policy = inProcess();
    const events = [...openingEvents(), completed('never'), completed('a/0#0')];
    const data = await client.fails('session.send', { session, events }, { code: 'unknown_id', path: 'requestId' });
    expect(data).toMatchObject({ index: 2, seq: 2, expected: 'the id of a request that was launched' });
    expect(data.decisions).toEqual(openingEvents().flatMap((one) => policy.send(one as never)));
    expect(server.sessions.get(session).policy.seq).toBe(2);
    for (const wrong of [5, null, 'x', [], { type: 'nothing' }, {}]) {
      await client.fails('session.send', { session, events: [wrong] }, { code: 'invalid_event', index: 0, seq: 2 });
    }
  });

  test('limits: events a call, and ids in flight', async () => {
    const { client, server } = rpc({ limits: { maxEventsPerCall: 3, maxInFlightIds: 16 } });
    const { session } = await client.call('session.open', tail);
    const events = [...openingEvents(), ...openingEvents()];
    await client.fails('session.send', { session, events }, { code: 'limit_exceeded', path: 'events' });
    expect(server.sessions.get(session).policy.seq).toBe(0);
    await client.call('session.send', { session, events: openingEvents() });
    const held = server.sessions.get(session).inFlight;
    expect(held).toBeGreaterThan(2);
    const more = { type: 'prompts.supplied', at: 0, roundId: 'r1', prompts: [{ promptId: 'd' }, { promptId: 'e' }] };
    await client.fails('session.send', { session, events: [more] }, { code: 'limit_exceeded', index: 0, seq: 2 });
    // It counts what the ledgers hold, after a restore as well.
    const { snapshot } = await client.call('session.snapshot', { session });
    const again = await client.call('session.open', { snapshot });
    expect(server.sessions.get(again.session).inFlight).toBe(held);
  });

  test('long answers come in pages, which can be asked for again', async () => {
    const { client } = rpc({ limits: { pageDecisions: 4, keptAnswers: 1 } });
    const { session } = await client.call('session.open', tail);
    const whole = openingEvents().flatMap((one) => inProcess2.send(one as never));
    const first = await client.call('session.send', { session, events: openingEvents() });
    expect(first.decisions).toHaveLength(4);
    const decisions = [...first.decisions];
    for (let { more } = first; more !== undefined; ) {
      const page = await client.call('session.more', { session, more });
      expect(await client.call('session.more', { session, more })).toEqual(page);
      decisions.push(...page.decisions);
      more = page.more;
    }
    expect(decisions).toEqual(whole);
    for (const more of ['x', '1-9999', '7-0', '']) {
      await client.fails('session.more', { session, more }, { code: 'unknown_id', path: 'more' });
    }
    // Of an answer that is an error, too.
    const { session: other } = await client.call('session.open', tail);
    const data = await client.fails('session.send', { session: other, events: [...openingEvents(), 5] }, { index: 2 });
    expect(data.decisions).toEqual(whole.slice(0, 4));
    expect((await client.call('session.more', { session: other, more: data.more })).decisions).toEqual(
      whole.slice(4, 8),
    );
  });
  const inProcess2 = inProcess();
});

test('session.list comes in pages; session.close forgets', async () => {
  const { client, server } = rpc({ limits: { pageSessions: 2 } });
  for (const session of ['b', 'a', 'c']) await client.call('session.open', { ...tail, session });
  const first = await client.call('session.list');
  expect(first.next).toBe('b');
  expect(first.sessions[0]).toEqual({
    session: 'a',
    policy: 'tail-batching',
    version: 2,
    seq: 0,
    deliver: 'reply',
    timers: 'host',
  });
  const rest = await client.call('session.list', { after: first.next });
  expect(rest.sessions.map((one: { session: string }) => one.session)).toEqual(['c']);
  expect(rest.next).toBeUndefined();
  expect(await client.call('session.close', { session: 'a' })).toEqual({});
  expect(server.sessions.size).toBe(2);
  for (const [method, params] of [
    ['session.close', {}],
    ['session.snapshot', {}],
    ['session.send', { events: [] }],
    ['session.more', { more: 'x' }],
    ['session.subscribe', {}],
    ['session.ack', { decisionSeq: 0 }],
    ['session.unsubscribe', {}],
  ] as const) {
    await client.fails(method, { session: 'a', ...params }, { code: 'unknown_id', path: 'session' });
  }
});

test('sessions are shared by connections, and know nothing of each other', async () => {
  const { client, server } = rpc();
  const other = new WireClient(server);
  await client.call('session.open', { ...tail, session: 'x' });
  await other.call('session.open', { ...tail, session: 'y' });
  await client.call('session.send', { session: 'x', events: openingEvents('r1', 'x') });
  const { decisions } = await other.call('session.send', { session: 'y', events: openingEvents('r1', 'y') });
  expect(JSON.stringify(decisions)).not.toContain('"xa');
  expect((await other.call('session.send', { session: 'x', events: [completed('xa/0#0')] })).seq).toBe(3);
});

test('plan', async () => {
  const { client } = rpc();
  const input = { groups: [{ rewards: [1, 0, 0] }] };
  expect(await client.call('plan', { planner: 'grpo-advantages', input })).toEqual({
    plan: registry.plan('grpo-advantages', input),
  });
  await client.fails('plan', { planner: 'tail-batching', input }, { code: 'unknown_id', path: 'planner' });
  await client.fails('plan', { planner: 'grpo-advantages', input: {} }, { code: 'invalid_input', path: 'groups' });
  await client.fails(
    'plan',
    { planner: 'grpo-advantages' },
    { expected: 'an object (required)', path: 'input' },
    -32602,
  );
});

test('server.info', async () => {
  const { client } = rpc({ version: '1.2.3', limits: { maxSessions: 7 } });
  await client.call('session.open', tail);
  const info = await client.call('server.info');
  expect(info).toMatchObject({ name: 'rollflex', version: '1.2.3', sessions: 1 });
  expect(info.limits).toMatchObject({ maxSessions: 7, maxDepth: 64 });
  expect(info.policies.map((one: { id: string }) => one.id)).toContain('rollpacker');
  expect(info.planners.map((one: { id: string }) => one.id)).toContain('flex-ulysses');
});

test('ids that come and go are in their order', () => {
  const [ids, model] = [new SortedIds(), new Set<string>()];
  for (let at = 0; at < 20_000; at += 1) {
    const id = `s${(at * 7919) % 15_000}`;
    if (model.delete(id)) ids.delete(id);
    else {
      model.add(id);
      ids.add(id);
    }
    if (at % 1999 !== 0) continue;
    const sorted = [...model].sort();
    expect(ids.after(undefined, 1e6)).toEqual({ ids: sorted, more: false });
    const middle = sorted[sorted.length >> 1]!;
    const rest = sorted.filter((one) => one > middle);
    expect(ids.after(middle, 10)).toEqual({ ids: rest.slice(0, 10), more: rest.length > 10 });
  }
});
