/** The journal: stores the steps of sessions before they are answered, and recovers them after a crash. */
import type { Clock } from '../../core/machine/clock.ts';
import { chain } from './chain.ts';
import { type Fsync, GroupCommit } from './group-commit.ts';
import { type FoundSession, Records, type RecordsOptions } from './records.ts';
import type { Operation, Store } from './store.ts';
import { TailNote } from './tail.ts';

/** Options and callbacks of a journal. */
export interface JournalOptions extends RecordsOptions {
  readonly fsync: Fsync;
  readonly clock: Clock;
  /** Called once when the store has failed; nothing is written after that. */
  readonly failed: (error: unknown) => void;
  /** Called after every write. */
  readonly committed: (operations: number, seconds: number) => void;
}

/** The journal of a server. */
export class Journal extends Records {
  readonly #store: Store;
  readonly #commits: GroupCommit;
  readonly #note: TailNote | undefined;

  constructor(store: Store, options: JournalOptions) {
    super(options, chain);
    this.#store = store;
    const { fsync, clock, failed, committed } = options;
    const note = (this.#note = store.tail && new TailNote(store.tail));
    const synced = () => note?.write(this.tail!);
    this.#commits = new GroupCommit(store, { fsync, clock, failed, committed, synced, last: () => [this.last()] });
  }

  /** Resolves when all steps until now are stored; rejects when the store has failed. */
  get settled(): Promise<void> | undefined {
    return this.#commits.settled;
  }

  /** Whether callers should wait for {@link Journal.settled} before they do more, because too many bytes wait. */
  get behind(): boolean {
    return this.#commits.behind;
  }

  append(operation: Operation): void {
    this.#commits.append(operation);
  }

  /**
   * Yields the sessions of the store. Read all of them before you begin a new session.
   *
   * @throws PolicyError `snapshot_mismatch` for a damaged store (but a session with damaged records is yielded), for a store
   * whose end is missing, or for steps that this version cannot replay
   */
  async *recover(): AsyncGenerator<FoundSession> {
    for await (const [key, value] of this.#store.entries()) {
      const found = this.read(key, value);
      if (found !== undefined) yield found;
    }
    yield* this.readLast();
    this.#note?.open(this.tail, this.areCounted);
    // This write records the version of this server.
    this.#commits.soon();
  }

  /** Replaces all steps by snapshots, so that a later version can continue, and closes the store. */
  async close(): Promise<void> {
    this.compactAll();
    if (this.hasDue) this.#commits.soon();
    await this.#commits.finish();
    await this.#store.close();
  }
}
