/** A store in memory whose writes are applied and answered when the test says so: a crash may come at any moment. */
import { serverOver } from '../../../src/rpc/durable.ts';
import type { Operation, Store } from '../../../src/rpc/journal/store.ts';
import { HandClock } from './clocked.ts';

export class MemoryStore implements Store {
  readonly data: Map<string, string>;
  #waiting: { readonly operations: readonly Operation[]; readonly settle: () => void }[] = [];
  /** Writes that were told to be on the disk. */
  synced = 0;

  constructor(data: Iterable<readonly [string, string]> = []) {
    this.data = new Map(data);
  }

  /** Whether a write waits. */
  get busy(): boolean {
    return this.#waiting.length > 0;
  }

  write(operations: readonly Operation[], sync: boolean): Promise<void> {
    if (sync) this.synced += 1;
    return new Promise((settle) => this.#waiting.push({ operations, settle }));
  }

  /** What waits is written, but nobody is told yet. */
  apply(): void {
    for (const { operations } of this.#waiting) {
      for (const one of operations) {
        if (one.type === 'put') this.data.set(one.key, one.value);
        else this.data.delete(one.key);
      }
    }
  }

  settle(): void {
    this.apply();
    for (const { settle } of this.#waiting.splice(0)) settle();
  }

  async *entries(): AsyncGenerator<readonly [string, string]> {
    yield* [...this.data].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Lets everything run that waits for nothing but its turn. */
export const turn = async (): Promise<void> => {
  for (let index = 0; index < 3; index += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Settles writes until none come any more. */
export async function settleAll(store: MemoryStore): Promise<void> {
  for (await turn(); store.busy; await turn()) store.settle();
}

/** A server over what a store holds, brought back. */
export async function serverOn(store: Store, options: Partial<Parameters<typeof serverOver>[1]> = {}) {
  const clock = new HandClock();
  return {
    clock,
    ...(await serverOver(store, { fsync: 'always', snapshotEvents: 10_000, version: '1', clock, ...options })),
  };
}
