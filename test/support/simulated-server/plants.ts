/** Bugs to plant into the server: the simulation must find each of them. */
import type { AnyDecision } from '../../../src/core/machine/definition.ts';
import { Subscriptions } from '../../../src/rpc/connection/subscriptions.ts';
import { Journal } from '../../../src/rpc/journal/journal.ts';
import { SealSum } from '../../../src/rpc/journal/seals.ts';
import { Producers, type SavedProducer } from '../../../src/rpc/session/producers.ts';
import { Session } from '../../../src/rpc/session/session.ts';
import { DecisionStream } from '../../../src/rpc/session/stream.ts';
import { type ArmedTimer, Timers } from '../../../src/rpc/session/timers.ts';
import { type Plant, playSeed, SeedFailure } from './story.ts';

/** A bug, and how it is planted. */
export interface PlantedBug extends Plant {
  /** Changes the code of the server. Returns a function that mends it. */
  readonly patch?: () => () => void;
}

/** Puts other methods in the place of those of a class. */
function replaced<T extends object>(prototype: T, make: (old: T) => Partial<T>): () => () => void {
  return () => {
    const old = Object.getOwnPropertyDescriptors(prototype) as PropertyDescriptorMap &
      Record<string, PropertyDescriptor>;
    const methods = Object.fromEntries(Object.entries(old).map(([name, one]) => [name, one.value])) as T;
    const changed = Object.getOwnPropertyDescriptors(make(methods)) as Record<string, PropertyDescriptor>;
    for (const [name, one] of Object.entries(changed))
      Object.defineProperty(prototype, name, { ...one, enumerable: false, configurable: true });
    return () => {
      for (const name of Object.keys(changed)) Object.defineProperty(prototype, name, old[name]!);
    };
  };
}

const early: NonNullable<Plant['store']> = (store, world) => ({
  ...store,
  write(operations, sync) {
    const written = store.write(operations, sync);
    if (!world.chance(200)) return written;
    written.catch(() => undefined);
    return Promise.resolve();
  },
});
const numbersAgain = replaced(DecisionStream.prototype, (old) => ({
  save() {
    const { acknowledged, backlog } = old.save.call(this);
    return { acknowledged, backlog: backlog.slice(0, -1) as AnyDecision[] };
  },
}));
const countedBack = replaced(Producers.prototype, (old) => ({
  save(): SavedProducer[] {
    return old.save.call(this).map((one) => ({ ...one, nextSeq: Math.max(0, one.nextSeq - 1) }));
  },
}));
const noRetries = replaced(Producers.prototype, () => ({ save: () => [] }));

/** Every bug, by what it is. Those that rule 8 finds in the state are also found by what clients are told. */
export const plantedBugs: Readonly<Record<string, PlantedBug>> = {
  'a write acknowledged before it is durable': { store: early },
  'a write acknowledged before it is durable, found after a crash': {
    // A note of the last write would tell at the next start.
    store: (store, world) => ({ ...early(store, world), tail: undefined }) as never,
    blind: [4, 10],
  },
  'a failed write that counts as written': {
    store: (store) => ({ ...store, write: (operations, sync) => store.write(operations, sync).catch(() => undefined) }),
    blind: [4],
  },
  'an answer that waits only for the write before its own': {
    patch: () => {
      const own = Object.getOwnPropertyDescriptor(Journal.prototype, 'settled')!;
      const before = new WeakMap<object, Promise<void> | undefined>();
      Object.defineProperty(Journal.prototype, 'settled', {
        ...own,
        get(this: Journal) {
          const [last, next] = [before.get(this), own.get!.call(this) as Promise<void> | undefined];
          before.set(this, next);
          return next === undefined ? undefined : last;
        },
      });
      return () => Object.defineProperty(Journal.prototype, 'settled', own);
    },
  },
  'an answer sent twice': {
    link: (link, world) => ({
      write(text) {
        link.write(text);
        if (world.chance(10)) link.write(text);
      },
      get waiting() {
        return link.waiting;
      },
      drained: () => link.drained(),
      destroy: () => link.destroy(),
    }),
  },
  'an answer lost on an open connection': {
    link: (link, world) => ({
      write(text) {
        if (!world.chance(10)) link.write(text);
      },
      get waiting() {
        return link.waiting;
      },
      drained: () => link.drained(),
      destroy: () => link.destroy(),
    }),
  },
  'a sequence reused: numbers of decisions': { patch: numbersAgain },
  'a sequence reused: numbers of decisions, found by clients': { patch: numbersAgain, blind: [8] },
  'a sequence reused: numbers of a producer': { patch: countedBack },
  'a sequence reused: numbers of a producer, found by clients': { patch: countedBack, blind: [8] },
  'answers for retries forgotten at a restart': { patch: noRetries },
  'answers for retries forgotten at a restart, found by clients': { patch: noRetries, blind: [8] },
  'an acknowledgement forgotten at a restart': {
    patch: replaced(Session.prototype, (old) => ({
      replay(entry) {
        return entry.kind === 'acknowledged' ? [] : old.replay.call(this, entry);
      },
    })),
  },
  'a timer that fires before its time': {
    patch: replaced(Timers.prototype, (old) => ({
      set({ timerId, fireAtSeconds }) {
        old.set.call(this, { timerId, fireAtSeconds: fireAtSeconds - 1 });
      },
    })),
    blind: [8],
  },
  'timers lost by an orderly stop': {
    patch: replaced(Timers.prototype, (old) => {
      const closed = new WeakSet<object>();
      return {
        close() {
          closed.add(this);
          old.close.call(this);
        },
        armed(): ArmedTimer[] {
          return closed.has(this) ? [] : old.armed.call(this);
        },
      };
    }),
  },
  'decisions before the answer to their subscription': {
    patch: replaced(Subscriptions.prototype, (old) => ({
      subscribe(session, after, types) {
        old.subscribe.call(this, session, after, types);
        (old.answered as () => void).call(this);
      },
    })),
  },
  'a store that lacks a write': { patch: replaced(SealSum.prototype, () => ({ toString: () => '0' })) },
};

/** The first seed that finds a bug, and what it says; nothing if none does. */
export async function firstFinding(
  bug: PlantedBug,
  mostSeeds: number,
): Promise<{ readonly seed: number; readonly message: string } | undefined> {
  const mend = bug.patch?.();
  try {
    for (let seed = 0; seed < mostSeeds; seed += 1) await playSeed(seed, { plant: bug });
  } catch (error) {
    if (error instanceof SeedFailure) return { seed: error.seed, message: error.message };
    throw error;
  } finally {
    mend?.();
  }
  return undefined;
}
