/** A server that watches over its sessions: who owes what is said once, in the log, to the host, and in the metrics. */
import { afterAll, describe, expect, test } from 'vitest';
import { FileDecisionLog, prometheus, RpcServer } from '../../../../src/rpc/index.ts';
import { HandClock, openingEvents, tail, WireClient } from '../../../support/servers/clocked.ts';
import { Folders, replayOf, wholeLines } from '../../../support/servers/decision-log.ts';
import { MemoryStore, serverOn, settleAll } from '../../../support/servers/memory-store.ts';

const folders = new Folders();
afterAll(() => folders.remove());

function watched(logDir?: string, config = {}) {
  const clock = new HandClock();
  const said: string[] = [];
  const decisionLog = logDir === undefined ? undefined : new FileDecisionLog({ logDir }, { clock });
  const owes = (
    session: string,
    { sender, event, count, reason }: { sender: string; event: string; count: number; reason: { code: string } },
  ) => said.push(`${session}: ${sender} owes ${count} ${event} (${reason.code})`);
  const server = new RpcServer({
    clock,
    watch: { owes, config },
    ...(decisionLog === undefined ? {} : { decisionLog }),
  });
  const client = new WireClient(server);
  const close = async () => {
    server.close();
    await decisionLog?.close();
  };
  return { clock, said, server, client, close };
}

describe('serve --watch', () => {
  test('names once who owes, also where the clock of the host is another one and stands still', async () => {
    const directory = folders.next();
    const { clock, said, server, client, close } = watched(directory);
    await client.call('session.open', { ...tail, session: 'job' });
    await client.call('session.send', { session: 'job', events: openingEvents() });
    expect(server.owed).toContainEqual({ event: 'response.completed', owed: 9, overdue: 0 });
    clock.move(1700);
    expect(said).toEqual([]);
    for (let passed = 0; passed < 4000; passed += 20) clock.move(20);
    expect(said).toEqual(['job: engine owes 9 response.completed (silent)']);
    expect(server.owed).toContainEqual({ event: 'response.completed', owed: 9, overdue: 9 });
    await client.call('session.close', { session: 'job' });
    expect(server.owed).toEqual([]);
    await close();
    const owes = wholeLines(directory).filter((line) => line.kind === 'owes');
    expect(owes).toMatchObject([{ session: 'job', seq: 2, notice: { type: 'host.owes', count: 9 } }]);
    expect(replayOf(directory)).toMatchObject({ groups: [], sessions: [{ session: 'job', events: 2 }] });
  });

  test('timers of the host are watched by their delay; sessions in shadow mode are not watched', async () => {
    const { clock, said, server, client, close } = watched(undefined, { startSeconds: 60 });
    const abort = { ...tail, session: 'job', config: { ...tail.config, responseTimeoutSeconds: 500 } };
    await client.call('session.open', abort);
    await client.call('session.send', { session: 'job', events: openingEvents().slice(0, 1) });
    await client.call('session.open', { policy: 'sandbox-timeout', config: {}, session: 'shadow', shadow: true });
    const requested = { type: 'sandbox.requested', at: 1, runId: 'r', testCaseId: 'c' };
    await client.call('session.send', { session: 'shadow', events: [requested] });
    expect(server.owed.map(({ event }) => event)).toEqual(['prompts.supplied']);
    for (let passed = 0; passed < 300; passed += 10) clock.move(10);
    expect(said).toEqual(['job: data source owes 1 prompts.supplied (silent)']);
    await close();
  });

  test('after a restart, what was asked for before goes on', async () => {
    const store = new MemoryStore();
    const first = await serverOn(store, { watch: {} } as never);
    const client = new WireClient(first.server);
    const call = async (method: string, params: object) => {
      await client.raw(`${JSON.stringify({ jsonrpc: '2.0', method, params, id: 1 })}\n`);
      await settleAll(store);
    };
    await call('session.open', { ...tail, session: 'job' });
    await call('session.send', { session: 'job', events: openingEvents() });
    const said: string[] = [];
    const again = await serverOn(store, {
      watch: { owes: (_: string, { event }: { event: string }) => said.push(event) },
    } as never);
    expect(again.server.owed).toContainEqual({ event: 'response.completed', owed: 9, overdue: 0 });
    for (let passed = 0; passed < 2000; passed += 20) again.clock.move(20);
    expect(said).toEqual(['response.completed']);
    again.server.close();
  });

  test('its settings are checked', () => {
    expect(() => watched(undefined, { floorSeconds: 0 })).toThrow(/watch\.config\.floorSeconds/);
  });

  test('metrics have what is owed, by event; what is paid is 0', async () => {
    const metrics = await prometheus();
    const { server, client, close } = watched();
    const listening = await metrics.listen(server, { port: 0 });
    const shown = async () => {
      const text = await (await fetch(`http://127.0.0.1:${listening.port}/metrics`)).text();
      return text.split('\n').filter((line) => /^rollflex_(owed|overdue)_answers\{/.test(line));
    };
    await client.call('session.open', { ...tail, session: 'job' });
    await client.call('session.send', { session: 'job', events: openingEvents().slice(0, 1) });
    expect(await shown()).toEqual([
      'rollflex_owed_answers{event="prompts.supplied"} 1',
      'rollflex_overdue_answers{event="prompts.supplied"} 0',
    ]);
    await client.call('session.close', { session: 'job' });
    expect(await shown()).toEqual([
      'rollflex_owed_answers{event="prompts.supplied"} 0',
      'rollflex_overdue_answers{event="prompts.supplied"} 0',
    ]);
    await listening.close();
    await close();
  });
});
