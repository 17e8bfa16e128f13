/** Group commit: the operations of many calls share one write. */
import type { Operation, Store } from './store.ts';

/** Time at which a write is on the disk: before its answer, or within a second. */
export type Fsync = 'always' | 'interval';

/** Options and callbacks of a group commit. */
export interface GroupCommitOptions {
  readonly fsync: Fsync;
  /** Returns the operations that go with every write; called when no session is in the middle of a step. */
  readonly last: () => readonly Operation[];
  /** Called once when the store has failed; nothing is written after that. */
  readonly failed: (error: unknown) => void;
  /** Called after every write. */
  readonly committed: (operations: number, seconds: number) => void;
}

interface Commit {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const syncMilliseconds = 1000;
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

/** Writes to a store, one write at a time. */
export class GroupCommit {
  readonly #store: Store;
  readonly #options: GroupCommitOptions;
  #pending: Operation[] = [];
  #pendingBytes = 0;
  #next: Commit | undefined;
  #writing: Promise<void> | undefined;
  #failure: Promise<void> | undefined;
  #syncTimer: NodeJS.Timeout | undefined;
  #syncDue = false;

  constructor(store: Store, options: GroupCommitOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Settles when everything appended until now is kept; rejects when the store has failed. */
  get settled(): Promise<void> | undefined {
    return this.#failure ?? this.#next?.promise ?? this.#writing;
  }

  /** Whether callers should wait for {@link GroupCommit.settled} before they do more, since too many bytes wait. */
  get behind(): boolean {
    return this.#pendingBytes > mostPendingBytes;
  }

  append(operation: Operation): void {
    this.#pending.push(operation);
    if (operation.type === 'put') this.#pendingBytes += operation.value.length;
    this.soon();
  }

  /** Schedules a write, even if there are only the operations that go with every write. */
  soon(): void {
    if (this.#next !== undefined || this.#failure !== undefined) return;
    this.#next = newCommit();
    // The write starts after the step and before its answer is serialised, so that the disk works meanwhile. Operations that
    // come until then share it.
    if (this.#writing === undefined) queueMicrotask(() => void this.#commit());
  }

  /** Settles when nothing is left to write and the store may be closed. Never rejects. */
  async finish(): Promise<void> {
    for (let waiting = this.settled; waiting !== undefined && this.#failure === undefined; waiting = this.settled) {
      await waiting.catch(() => undefined);
    }
    clearTimeout(this.#syncTimer);
  }

  async #commit(): Promise<void> {
    const commit = this.#next!;
    const { fsync, last, failed, committed } = this.#options;
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
    } catch (error) {
      this.#failure = commit.promise;
      commit.reject(error);
      // Writes that were queued meanwhile wait for a commit that will not come.
      (this.#next as Commit | undefined)?.reject(error);
      failed(error);
      return;
    }
    this.#writing = undefined;
    commit.resolve();
    committed(operations.length, (performance.now() - from) / 1000);
    if (!sync) this.#syncLater();
    if (this.#next !== undefined) void this.#commit();
  }

  /** Schedules a synced write, which takes all writes before it to the disk. */
  #syncLater(): void {
    this.#syncTimer ??= setTimeout(() => {
      this.#syncTimer = undefined;
      this.#syncDue = true;
      this.soon();
    }, syncMilliseconds);
  }
}
