/** The journal: what sessions have done, in a store before anybody hears of it, and found again after a crash. */
import { chain } from './chain.ts';
import { type Fsync, GroupCommit } from './group-commit.ts';
import { type FoundSession, Records, type RecordsOptions } from './records.ts';
import type { Operation, Store } from './store.ts';

/** Options and callbacks of a journal. */
export interface JournalOptions extends RecordsOptions {
  readonly fsync: Fsync;
  /** Is told, once, when the store has failed; nothing is written any more. */
  readonly failed: (error: unknown) => void;
  /** Is told of every write. */
  readonly committed: (operations: number, seconds: number) => void;
}

/** The journal of a server. */
export class Journal extends Records {
  readonly #store: Store;
  readonly #commits: GroupCommit;

  constructor(store: Store, options: JournalOptions) {
    super(options, chain);
    this.#store = store;
    const { fsync, failed, committed } = options;
    this.#commits = new GroupCommit(store, { fsync, failed, committed, last: () => [this.last()] });
  }

  /** Settles when everything that was done until now is kept; rejects when the store has failed. */
  get settled(): Promise<void> | undefined {
    return this.#commits.settled;
  }

  /** Whether so much waits to be written that no more should be done before {@link Journal.settled}. */
  get behind(): boolean {
    return this.#commits.behind;
  }

  append(operation: Operation): void {
    this.#commits.append(operation);
  }

  /**
   * The sessions that the store holds. Read all of them before anything is begun.
   *
   * @throws PolicyError `snapshot_mismatch` for a store that is damaged, or that another version has left in a crash
   */
  async *recover(): AsyncGenerator<FoundSession> {
    for await (const [key, value] of this.#store.entries()) {
      const found = this.read(key, value);
      if (found !== undefined) yield found;
    }
    const found = this.readLast();
    if (found !== undefined) yield found;
    // From here on it is known which version goes on.
    this.#commits.soon();
  }

  /** Leaves snapshots only, so that a later version can go on, and closes the store. */
  async close(): Promise<void> {
    this.compactAll();
    if (this.hasDue) this.#commits.soon();
    await this.#commits.finish();
    await this.#store.close();
  }
}
