/** Whatever the moment of a crash: what was answered is kept, what was not is there whole or not at all. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { registry } from '../../src/index.ts';
import { numberIn } from '../../src/rpc/journal/session-journal.ts';
import { choicesFrom, likelyEvents, tapes } from '../../src/testing/index.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { openingEvents, type Reply, rpc, tail, WireClient } from '../support/servers/clocked.ts';
import { MemoryStore, serverOn, settleAll, turn } from '../support/servers/memory-store.ts';

const limits = { pageDecisions: 16 };
const subjects = registry.policies.flatMap((definition) =>
  exampleConfigs[definition.id]!.slice(0, 2).map((config) => ({
    definition: definition as AnyPolicyDefinition,
    config,
  })),
);

interface Call {
  readonly producer: string;
  readonly firstSeq: number;
  readonly events: readonly unknown[];
}
interface Uninterrupted {
  readonly calls: readonly Call[];
  readonly replies: readonly Reply[];
  readonly decisions: readonly unknown[];
  readonly snapshot: unknown;
}

/** The same calls without any crash: two producers in turn, refusals included. */
async function uninterrupted(open: object, events: readonly unknown[]): Promise<Uninterrupted> {
  const { client } = rpc({ limits });
  await client.call('session.open', open);
  await client.reply('session.subscribe', { session: 'x' });
  client.lines.length = 0;
  const next: Record<string, number> = { p: 0, q: 0 };
  const [calls, replies, decisions]: [Call[], Reply[], unknown[]] = [[], [], []];
  for (let at = 0; at < events.length; ) {
    const producer = calls.length % 2 === 0 ? 'p' : 'q';
    const call = { producer, firstSeq: next[producer]!, events: events.slice(at, at + 1 + (at % 4)) };
    const reply = await client.reply('session.send', { session: 'x', ...call });
    const { nextSeq, index } = (reply.result ?? reply.error!.data) as { nextSeq: number; index?: number };
    next[producer] = nextSeq;
    calls.push(call);
    replies.push(reply);
    decisions.push(...client.pushed().map((one) => one.decision));
    at += index === undefined ? call.events.length : index + 1;
  }
  return { calls, replies, decisions, snapshot: (await client.call('session.snapshot', { session: 'x' })).snapshot };
}

/** A client of a server that crashes now and then; it sends again what was not answered. */
class Survivor {
  readonly #open: object;
  readonly #below: (n: number) => number;
  readonly #perLook: number;
  #store = new MemoryStore();
  #client!: WireClient;
  readonly decisions: unknown[] = [];
  #acknowledged = 0;

  /** @param perLook - how the clock moves: with 0 no call pauses */
  constructor(open: object, below: (n: number) => number, perLook: number) {
    this.#perLook = perLook;
    this.#open = open;
    this.#below = below;
  }

  async start(): Promise<void> {
    const { server, clock } = await serverOn(this.#store, { limits, snapshotEvents: 5 });
    clock.perLook = this.#perLook;
    this.#client = new WireClient(server);
    await settleAll(this.#store);
    const { error } = await this.#ask('session.open', { ...this.#open, onExisting: 'attach' });
    expect(error).toBeUndefined();
    await this.#ask('session.subscribe', { session: 'x' });
  }

  /** The answer, after as many crashes as the choices want. */
  async ask(method: string, params: object): Promise<Reply> {
    for (;;) {
      const pending = this.#client.line({ jsonrpc: '2.0', id: 1, method, params });
      await turn();
      // Nobody hears of what is not kept.
      if (this.#store.busy) expect(this.#client.lines).toEqual([]);
      const when = this.#below(6);
      if (when === 1) this.#store.apply();
      else if (when > 1) await settleAll(this.#store);
      if (when > 2) {
        await this.#settled(pending);
        return this.#taken()!;
      }
      // What was written may have been answered, or not any more.
      this.#taken();
      this.#store = new MemoryStore(this.#store.data);
      await this.start();
    }
  }

  /** What was acknowledged never comes again. */
  async acknowledge(decisionSeq: number): Promise<void> {
    const { result } = await this.ask('session.ack', {
      session: 'x',
      decisionSeq: Math.max(decisionSeq, this.#acknowledged),
    });
    this.#acknowledged = result!.acknowledged as number;
  }

  async #ask(method: string, params: object): Promise<Reply> {
    const pending = this.#client.line({ jsonrpc: '2.0', id: 2, method, params });
    await this.#settled(pending);
    return this.#taken()!;
  }

  /** Settles writes until a call that may pause is answered. */
  async #settled(pending: Promise<unknown>): Promise<void> {
    let isOver = false;
    void pending.then(() => (isOver = true));
    while (!isOver) await settleAll(this.#store);
    await settleAll(this.#store);
  }

  /** Takes what came: pushed decisions by their numbers, and the answer. */
  #taken(): Reply | undefined {
    const lines = this.#client.lines.splice(0).map((one) => JSON.parse(one));
    for (const { method, params } of lines) {
      if (method !== 'session.decision') continue;
      const { decisionSeq, decision } = params;
      expect(decisionSeq).toBeGreaterThan(this.#acknowledged);
      if (decisionSeq <= this.decisions.length) expect(this.decisions[decisionSeq - 1]).toEqual(decision);
      else expect(this.decisions.push(decision)).toBe(decisionSeq);
    }
    return lines.find((one) => one.id !== undefined);
  }
}

describe('a session in a state directory', () => {
  test.each(subjects.map((one, index) => [`${one.definition.id} ${index}`, one] as const))(
    '%s: crashes change no answer, no decision and no state',
    async (_, { definition, config }) => {
      await fc.assert(
        fc.asyncProperty(tapes(), fc.boolean(), fc.constantFrom(0, 0.0008), async (tape, streamed, perLook) => {
          const { below } = choicesFrom([...tape].reverse());
          const open = { policy: definition.id, config, session: 'x', deliver: streamed ? 'stream' : 'reply' };
          const events = likelyEvents(definition, config, tape, 30);
          const { calls, replies, decisions, snapshot } = await uninterrupted(open, events);
          const survivor = new Survivor(open, below, perLook);
          await survivor.start();
          for (const [index, call] of calls.entries()) {
            const { result, error } = await survivor.ask('session.send', { session: 'x', ...call });
            expect([result, error]).toEqual([replies[index]!.result, replies[index]!.error]);
            for (let { more } = (result ?? error!.data) as { more?: string }; more !== undefined; ) {
              more = (await survivor.ask('session.more', { session: 'x', more })).result!.more as string | undefined;
            }
            if (streamed && below(2) === 0) await survivor.acknowledge(below(survivor.decisions.length + 1));
          }
          expect((await survivor.ask('session.snapshot', { session: 'x' })).result!.snapshot).toEqual(snapshot);
          if (streamed) expect(survivor.decisions).toEqual(decisions);
        }),
        runs(definition.id === 'flexrl' ? 2 : 5),
      );
    },
  );
});

/** Two sessions with steps since their snapshots, and what the store holds of them. */
async function stored(): Promise<Map<string, string>> {
  const store = new MemoryStore();
  const { server } = await serverOn(store, { snapshotEvents: 3 });
  const client = new WireClient(server);
  for (const session of ['x', 'y']) {
    const calls = [
      { method: 'session.open', params: { ...tail, session } },
      ...openingEvents().map((event) => ({ method: 'session.send', params: { session, events: [event] } })),
    ];
    for (const call of calls) {
      await client.line({ jsonrpc: '2.0', id: 1, ...call });
      await settleAll(store);
    }
  }
  return store.data;
}

describe('a store that is damaged', () => {
  test('is refused, or only the session is set aside whose record is missing, changed, or taken from elsewhere', async () => {
    const data = await stored();
    const states = async (store: MemoryStore): Promise<Map<string, string>> => {
      const { sessions } = (await serverOn(store)).server;
      return new Map([...sessions].map((one) => [one.id, JSON.stringify(one.snapshot())] satisfies [string, string]));
    };
    const whole = await states(new MemoryStore(data));
    expect(data.size).toBeGreaterThan(5);
    const keys = [...data.keys()];
    const damages = fc.oneof(
      fc.record({ kind: fc.constant('missing'), key: fc.constantFrom(...keys) }),
      fc.record({
        kind: fc.constant('changed'),
        key: fc.constantFrom(...keys),
        at: fc.nat(),
        to: fc.integer({ min: 33, max: 126 }),
      }),
      fc.record({ kind: fc.constant('exchanged'), key: fc.constantFrom(...keys), other: fc.constantFrom(...keys) }),
    );
    await fc.assert(
      fc.asyncProperty(damages, async (damage) => {
        const store = new MemoryStore(data);
        const value = data.get(damage.key)!;
        if ('at' in damage) {
          const at = damage.at % value.length;
          store.data.set(damage.key, value.slice(0, at) + String.fromCharCode(damage.to) + value.slice(at + 1));
        } else if ('other' in damage) {
          store.data.set(damage.key, data.get(damage.other)!);
          store.data.set(damage.other, value);
        } else store.data.delete(damage.key);
        const isSame = [...data].every(([key, text]) => store.data.get(key) === text);
        const before = JSON.stringify([...store.data]);
        const left = await states(store).catch((error: unknown) => error);
        expect(JSON.stringify([...store.data])).toBe(before);
        // A damaged record of one session costs no other.
        if ('at' in damage && damage.key !== 'meta') expect(left).toBeInstanceOf(Map);
        if (!(left instanceof Map)) {
          expect(left).toMatchObject({ code: 'snapshot_mismatch', path: expect.any(String) });
          return;
        }
        for (const [id, state] of left) expect(state).toBe(whole.get(id));
        const hit = new Set([damage.key, 'other' in damage ? damage.other : damage.key].map((key) => numberIn(key)));
        expect(whole.size - left.size).toBe(isSame ? 0 : hit.size);
      }),
      runs(300),
    );
  });
});
