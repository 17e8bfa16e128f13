import { describe, expect, test } from 'vitest';
import { HandClock, openingEvents, rpc, WireClient } from '../../../support/servers/clocked.ts';

const open = {
  policy: 'speculative-admission',
  config: { promptsPerRound: 2, responsesPerPrompt: 1, responseTimeoutSeconds: 30 },
  session: 'x',
  deliver: 'stream',
  timers: 'server',
};
const opened = (at?: number) => ({
  type: 'round.opened',
  at,
  roundId: 'r1',
  kind: 'long',
  weightVersion: 1,
  prompts: [{ promptId: 'a' }, { promptId: 'b' }],
});

describe('timers of the server', () => {
  test('are armed by timer.set, and fire', async () => {
    const { client, clock, server } = rpc();
    await client.call('session.open', open);
    await client.call('session.subscribe', { session: 'x' });
    await client.call('session.send', { session: 'x', events: [opened()] });
    const set = client.pushed().find((one) => one.decision.type === 'timer.set')!;
    expect(set.decision.fireAtSeconds).toBe(clock.time + 30);
    expect((await client.call('session.snapshot', { session: 'x' })).armed).toEqual([
      { timerId: set.decision.timerId, fireAtSeconds: clock.time + 30 },
    ]);
    clock.move(29);
    expect(server.sessions.get('x').policy.seq).toBe(1);
    clock.move(1);
    expect(server.sessions.get('x').policy.seq).toBe(2);
    expect(server.sessions.get('x').policy.at).toBe(1030);
    expect(client.pushed().map((one) => one.decision.type)).toContain('request.abort');
    // All that ran are late: the next single try is due after a second.
    clock.move(1);
    expect(server.sessions.get('x').policy.seq).toBe(3);
  });

  test('go on from a snapshot', async () => {
    const { client } = rpc();
    await client.call('session.open', open);
    await client.call('session.send', { session: 'x', events: [opened()] });
    const { snapshot, armed } = await client.call('session.snapshot', { session: 'x' });
    const other = rpc();
    const { config: _, ...rest } = open;
    await other.client.call('session.open', { ...rest, snapshot, armed });
    other.clock.move(30);
    expect(other.server.sessions.get('x').policy.seq).toBe(2);
  });

  test('stop when the session is closed or replaced', async () => {
    const { client, clock } = rpc();
    await client.call('session.open', open);
    await client.call('session.send', { session: 'x', events: [opened()] });
    expect(clock.waiting).toBe(1);
    await client.call('session.open', { ...open, onExisting: 'replace' });
    expect(clock.waiting).toBe(0);
    await client.call('session.send', { session: 'x', events: [opened()] });
    await client.call('session.close', { session: 'x' });
    expect(clock.waiting).toBe(0);
  });

  test('wait while the backlog is full', async () => {
    const { client, clock, server } = rpc({ limits: { maxBacklog: 2 } });
    await client.call('session.open', open);
    await client.call('session.send', { session: 'x', events: [opened()] });
    clock.move(40);
    expect(server.sessions.get('x').policy.seq).toBe(1);
    const other = new WireClient(server);
    const { decisionSeq } = await other.call('session.subscribe', { session: 'x' });
    await other.call('session.ack', { session: 'x', decisionSeq });
    clock.move(1);
    expect(server.sessions.get('x').policy.seq).toBe(2);
  });

  test('a timer that its policy does not know any more is no harm', async () => {
    const { client, clock, server } = rpc();
    const armed = [{ timerId: 'old', fireAtSeconds: 1001 }];
    await client.call('session.open', { ...open, armed });
    clock.move(5);
    expect((await client.call('session.snapshot', { session: 'x' })).armed).toEqual([]);
    await client.call('session.send', { session: 'x', events: [opened()] });
    expect(server.sessions.size).toBe(1);
  });

  test('of the host: the server arms nothing', async () => {
    const { client, clock } = rpc();
    await client.call('session.open', { ...open, timers: 'host' });
    await client.call('session.send', { session: 'x', events: [opened()] });
    expect(clock.waiting).toBe(0);
    expect((await client.call('session.snapshot', { session: 'x' })).armed).toBeUndefined();
  });
});

test('the clock of a test fires in order', () => {
  const clock = new HandClock();
  const fired: number[] = [];
  clock.after(2, () => fired.push(2));
  clock.after(1, () => fired.push(1));
  clock.after(3, () => fired.push(3))();
  clock.move(5);
  expect(fired).toEqual([1, 2]);
  expect(openingEvents()).toHaveLength(2);
});
