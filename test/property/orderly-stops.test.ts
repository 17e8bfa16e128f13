import { expect, test } from 'vitest';
import { createRegistry } from '../../src/core/registry.ts';
import { definePolicy, handlersOf, z } from '../../src/index.ts';
import { registry } from '../../src/registry.ts';
import { timerFired } from '../../src/schemas/index.ts';
import { likelyEvents } from '../../src/testing/index.ts';
import { times } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { MemoryStore, serverOn, settleAll } from '../support/servers/memory-store.ts';

const stops = times(200);
/** Events of each session between two stops. */
const eventsEach = 6;

/** A policy whose snapshots, once it has an event, are read by no server that comes later. */
const corrupted = (isBroken: boolean) =>
  definePolicy({
    id: 'test/corrupted',
    version: 1,
    summary: 'Cannot be read back.',
    source: 'a test',
    config: z.strictObject({}),
    state: z.strictObject({ count: z.int().max(isBroken ? 0 : 1) }),
    begin: () => ({ count: 0 }),
    handlers: [
      handlersOf<{ count: number }, never>()(timerFired, (state) => {
        state.count = 1;
      }),
    ],
    decisions: [],
    ledgers: [],
  });

const tapeOf = (seed: number): number[] => {
  let value = seed + 1;
  return Array.from({ length: 257 }, () => (value = (value * 48_271) % 2_147_483_647));
};

test(`a server that is stopped and started ${stops} times sets no session aside, but one that is corrupted, which costs no other`, async () => {
  const configs = registry.policies.flatMap((definition) =>
    (exampleConfigs[definition.id] ?? []).map((config, index) => ({
      definition,
      config,
      id: `${definition.id} ${index}`,
    })),
  );
  const sessions = configs.map(({ definition, config, id }, index) => {
    const events = likelyEvents(definition, config, tapeOf(index), stops * eventsEach);
    return { id, policy: definition.id, config, events };
  });
  let store = new MemoryStore();
  const start = async (isBroken: boolean) => {
    const all = createRegistry([...registry.definitions, corrupted(isBroken)] as never) as never;
    const warnings: string[] = [];
    const durable = await serverOn(store, { registry: all, warn: (line) => void warnings.push(line) });
    await settleAll(store);
    const stop = async (): Promise<void> => {
      const closed = durable.close();
      await settleAll(store);
      await closed;
      store = new MemoryStore(store.data);
    };
    return { sessions: durable.server.sessions, warnings, stop };
  };

  const first = await start(false);
  const open = { onExisting: 'fail', deliver: 'reply', timers: 'host' } as const;
  for (const { id: session, policy, config } of sessions) first.sessions.open({ ...open, session, policy, config });
  first.sessions.open({ ...open, session: 'corrupted', policy: 'test/corrupted', config: {} });
  first.sessions.get('corrupted').send({ events: [{ type: 'timer.fired', at: 0, timerId: 't' }] });
  await first.stop();

  const before = new Map<string, string>();
  for (let round = 0; round < stops; round += 1) {
    const one = await start(true);
    expect([...one.sessions.aside.keys()]).toEqual(['corrupted']);
    for (const { id, events } of sessions) {
      const session = one.sessions.get(id);
      if (before.has(id)) expect(JSON.stringify(session.snapshot().snapshot), id).toBe(before.get(id));
      for (const event of events.slice(round * eventsEach, (round + 1) * eventsEach)) {
        try {
          session.send({ events: [event] });
        } catch {
          // Likely events may be refused.
        }
      }
      before.set(id, JSON.stringify(session.snapshot().snapshot));
    }
    await one.stop();
    expect(one.warnings.filter((line) => !line.includes('"corrupted"'))).toEqual([]);
  }
});
