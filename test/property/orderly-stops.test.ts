import { expect, test, vi } from 'vitest';
import { createRegistry } from '../../src/core/machine/registry.ts';
import { definePolicy, handlersOf, z } from '../../src/index.ts';
import { registry } from '../../src/registry.ts';
import { timerFired } from '../../src/schemas/index.ts';
import { likelyEvents } from '../../src/testing/index.ts';
import { withEvents } from '../../src/testing/runs/tested.ts';
import { times } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { contradicting } from '../support/hosts/contradicting.ts';
import { damagedRecord, damagesOfRecords } from '../support/servers/damaged-record.ts';
import { MemoryStore, serverOn, settleAll } from '../support/servers/memory-store.ts';

const stops = times(120);
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

test(`a server that is stopped and started ${stops} times sets no session aside, but one that is corrupted or damaged, which costs no other`, async () => {
  // Of clocks that begin anew.
  vi.spyOn(console, 'warn').mockReturnValue();
  const configs = registry.policies.flatMap((definition) =>
    (exampleConfigs[definition.id] ?? []).map((config, index) => ({
      definition,
      config,
      id: `${definition.id} ${index}`,
    })),
  );
  const sessions = configs.map(({ definition, config, id }, index) => {
    const events = likelyEvents(contradicting(withEvents(definition)), config, tapeOf(index), stops * eventsEach);
    return { id, policy: definition.id, config, events };
  });
  const start = async (isBroken: boolean, store: MemoryStore) => {
    const all = createRegistry([...registry.definitions, corrupted(isBroken)] as never) as never;
    const warnings: string[] = [];
    const durable = await serverOn(store, { registry: all, warn: (line) => void warnings.push(line) });
    await settleAll(store);
    const stop = async (): Promise<MemoryStore> => {
      const closed = durable.close();
      await settleAll(store);
      await closed;
      return new MemoryStore(store.data);
    };
    return { sessions: durable.server.sessions, warnings, stop };
  };

  const first = await start(false, new MemoryStore());
  const open = { onExisting: 'fail', deliver: 'reply', timers: 'host' } as const;
  for (const { id: session, policy, config } of sessions) first.sessions.open({ ...open, session, policy, config });
  first.sessions.open({ ...open, session: 'corrupted', policy: 'test/corrupted', config: {} });
  first.sessions.get('corrupted').send({ events: [{ type: 'timer.fired', at: 0, timerId: 't' }] });
  let store = await first.stop();

  const before = new Map<string, string>();
  /** Damages one record of one session, as a crash has left them: all others are served as they were. */
  const expectOthers = async (data: ReadonlyMap<string, string>, round: number): Promise<void> => {
    const hurt = sessions[(round * 7) % sessions.length]!.id;
    const damage = damagesOfRecords[(round / 3) % damagesOfRecords.length]!;
    const left = (await start(true, new MemoryStore(damagedRecord(data, hurt, damage, round * 5)))).sessions;
    // What is damaged may be its name.
    expect(left.aside.size).toBe(2);
    for (const { id } of sessions)
      if (id !== hurt) expect(JSON.stringify(left.get(id).snapshot().snapshot), id).toBe(before.get(id));
  };
  for (let round = 0; round < stops; round += 1) {
    const one = await start(true, store);
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
    await settleAll(store);
    if (round % 3 === 0) await expectOthers(store.data, round);
    store = await one.stop();
    expect(one.warnings.filter((line) => !line.includes('"corrupted"'))).toEqual([]);
  }
});
