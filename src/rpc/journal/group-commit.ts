/** Group commit, in which the operations of many calls share one write. */
import type { Clock } from '../../core/machine/clock.ts';
import type { Operation, Store } from './store.ts';

/** When a write reaches the disk: before the answer, or within a second. */
export type Fsync = 'always' | 'interval';

/** Options and callbacks of a group commit. */
export interface GroupCommitOptions {
  readonly fsync: Fsync;
  readonly clock: Clock;
  /** Returns the operations to add to every write. */
  readonly last: () => readonly Operation[];
  /** Called once when the store has failed; nothing is written after that. */
  readonly failed: (error: unknown) => void;
  /** Called after a write that is on the disk, before the next one begins, and before anybody is told. */
  readonly synced: () => void;
  /** Called after every write. */
  readonly committed: (operations: number, seconds: number) => void;
}

interface Commit {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const syncSeconds = 1;
/** Most bytes that may wait for a slow disk. */
const mostPendingBytes = 1 << 26;

function newCommit(): Commit {
  let [resolve, reject]: [() => void, (error: unknown) => void] = [() => undefined, () => undefined];
  const promise = new Promise<void>((one, other) => {
    resolve = one;
    reject = other;
  });
  // Without a handler, a rejection that nobody awaits would end the process.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

/** Writes to a store, one after the other. */
export class GroupCommit {
  readonly #store: Store;
  readonly #options: GroupCommitOptions;
  #pending: Operation[] = [];
  #pendingBytes = 0;
  #next: Commit | undefined;
  #writing: Promise<void> | undefined;
  #failure: Promise<void> | undefined;
  #cancelSync: (() => void) | undefined;
  #syncDue = false;

  constructor(store: Store, options: GroupCommitOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Resolves when all operations until now are written; rejects when the store has failed. */
  get settled(): Promise<void> | undefined {
    return this.#failure ?? this.#next?.promise ?? this.#writing;
  }

  /** Whether callers should wait for {@link GroupCommit.settled} before they do more, because too many bytes wait. */
  get behind(): boolean {
    return this.#pendingBytes > mostPendingBytes;
  }

  append(operation: Operation): void {
    this.#pending.push(operation);
    if (operation.type === 'put') this.#pendingBytes += operation.value.length;
    this.soon();
  }

  /** Schedules a write, even if it has only the operations that every write has. */
  soon(): void {
    if (this.#next !== undefined || this.#failure !== undefined) return;
    this.#next = newCommit();
    // The write starts after the step, and before the answer is serialised, so that the disk works in the meantime. Operations
    // added until then are in the same write.
    if (this.#writing === undefined) queueMicrotask(() => void this.#commit());
  }

  /** Resolves when everything is on the disk and the store may be closed, or when the store has failed. Never rejects. */
  async finish(): Promise<void> {
    while (this.#failure === undefined) {
      if (this.#cancelSync !== undefined) this.#sync();
      const waiting = this.settled;
      if (waiting === undefined) break;
      await waiting.catch(() => undefined);
    }
    this.#forgetSync();
  }

  async #commit(): Promise<void> {
    const commit = this.#next!;
    const { fsync, last, failed, committed, synced } = this.#options;
    for (const operation of last()) this.#pending.push(operation);
    const operations = this.#pending;
    const sync = fsync === 'always' || this.#syncDue;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#next = undefined;
    this.#syncDue = false;
    this.#writing = commit.promise;
    const from = performance.now();
    try {
      await this.#store.write(operations, sync);
      if (sync) synced();
    } catch (error) {
      this.#failure = commit.promise;
      commit.reject(error);
      // Operations queued during this write wait for a commit that will not happen.
      (this.#next as Commit | undefined)?.reject(error);
      failed(error);
      return;
    }
    this.#writing = undefined;
    commit.resolve();
    committed(operations.length, (performance.now() - from) / 1000);
    if (sync) this.#forgetSync();
    else this.#syncLater();
    if (this.#next !== undefined) void this.#commit();
  }

  /** Schedules a write with sync, which also brings all earlier writes to the disk. */
  #syncLater(): void {
    this.#cancelSync ??= this.#options.clock.after(syncSeconds, () => this.#sync());
  }

  #sync(): void {
    this.#forgetSync();
    this.#syncDue = true;
    this.soon();
  }

  #forgetSync(): void {
    this.#cancelSync?.();
    this.#cancelSync = undefined;
  }
}
