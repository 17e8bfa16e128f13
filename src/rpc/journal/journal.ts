/** The journal: what sessions have done, kept before anybody hears of it, and found again after a crash. */
import { z } from 'zod';
import { PolicyError } from '../../errors.ts';
import { SealSum } from './chain.ts';
import type { Entry, SavedSession, SessionLog } from './entries.ts';
import { type Fsync, GroupCommit } from './group-commit.ts';
import { type Journaled, type JournalWriter, numberIn, SessionJournal } from './session-journal.ts';
import type { Operation, Store } from './store.ts';

/** How a journal is kept. */
export interface JournalOptions {
  /** Version of the package: steps are only done again by the version that did them. */
  readonly version: string;
  readonly fsync: Fsync;
  /** Events of a session after which a snapshot takes the place of its steps. */
  readonly snapshotEvents: number;
  /** Is told, once, when the store has failed; nothing is written any more. */
  readonly failed: (error: unknown) => void;
  /** Is told of every write. */
  readonly committed: (operations: number, seconds: number) => void;
}

/** A session as it was found. */
export interface FoundSession {
  readonly saved: SavedSession;
  readonly entries: readonly Entry[];
  /** Goes on with its records. */
  resume(session: Journaled): SessionLog;
}

const metaKey = 'meta';
const metaSchema = z.strictObject({
  format: z.literal(1),
  version: z.string(),
  made: z.int().nonnegative(),
  seals: z.string(),
});
type Meta = z.output<typeof metaSchema>;

const damaged = (expected: string, got: unknown): never => {
  throw new PolicyError('snapshot_mismatch', { expected, got, path: 'stateDir' });
};

/** The journal of a server. */
export class Journal implements JournalWriter {
  /** Ids that the server has made for sessions. */
  made = 0;
  readonly #store: Store;
  readonly #options: JournalOptions;
  readonly #commits: GroupCommit;
  readonly #logs = new Set<SessionJournal>();
  readonly #due = new Set<SessionJournal>();
  readonly #seals = new SealSum();
  #numbers = 0;

  constructor(store: Store, options: JournalOptions) {
    this.#store = store;
    this.#options = options;
    const { fsync, failed, committed } = options;
    this.#commits = new GroupCommit(store, { fsync, failed, committed, last: () => this.#last() });
  }

  get snapshotEvents(): number {
    return this.#options.snapshotEvents;
  }

  /** Settles when everything that was done until now is kept; rejects when the store has failed. */
  get settled(): Promise<void> | undefined {
    return this.#commits.settled;
  }

  /** Whether so much waits to be written that no more should be done before {@link Journal.settled}. */
  get behind(): boolean {
    return this.#commits.behind;
  }

  /**
   * The sessions that the store holds. Read all of them before anything is begun.
   *
   * @throws PolicyError `snapshot_mismatch` for a store that is damaged, or that another version has left in a crash
   */
  async *recover(): AsyncGenerator<FoundSession> {
    let meta: Meta | undefined;
    let current: { number: string; log: SessionJournal; saved: SavedSession; entries: Entry[] } | undefined;
    for await (const [key, value] of this.#store.entries()) {
      if (key === metaKey) {
        meta = metaIn(value);
        continue;
      }
      if (meta === undefined) damaged('what the store says of itself', 'nothing');
      const number = numberIn(key);
      if (number !== current?.number) {
        if (current !== undefined) yield this.#found(current, meta!);
        const log = new SessionJournal(number, this);
        current = { number, log, saved: recordOf(log, key, value) as SavedSession, entries: [] };
      } else current.entries.push(recordOf(current.log, key, value) as Entry);
    }
    if (current !== undefined) yield this.#found(current, meta!);
    this.#numbers = Number(current?.number ?? 0);
    this.made = meta?.made ?? 0;
    if (meta !== undefined && meta.seals !== String(this.#seals)) {
      damaged('all records that were written', 'some are missing');
    }
    // From here on it is known which version goes on.
    this.#commits.soon();
  }

  /** Writes a session that was opened. */
  begin(session: Journaled): SessionLog {
    this.#numbers += 1;
    const log = new SessionJournal(String(this.#numbers).padStart(10, '0'), this);
    this.#logs.add(log.attach(session));
    log.compact();
    return log;
  }

  append(operation: Operation): void {
    this.#commits.append(operation);
  }

  sealedAs(before: string, after: string): void {
    this.#seals.replace(before, after);
  }

  compactSoon(log: SessionJournal): void {
    this.#due.add(log);
  }

  ended(log: SessionJournal): void {
    this.#logs.delete(log);
    this.#due.delete(log);
  }

  /** Leaves snapshots only, so that a later version can go on, and closes the store. */
  async close(): Promise<void> {
    for (const log of this.#logs) if (log.hasSteps) this.#due.add(log);
    if (this.#due.size > 0) this.#commits.soon();
    await this.#commits.finish();
    await this.#store.close();
  }

  #found(found: { log: SessionJournal; saved: SavedSession; entries: Entry[] }, meta: Meta): FoundSession {
    const { saved, entries, log } = found;
    if (entries.length > 0 && meta.version !== this.#options.version) {
      const got = `${this.#options.version}: start and stop version ${meta.version} once, then this one`;
      damaged(`version ${meta.version}, whose last server was not stopped in an orderly way`, got);
    }
    const resume = (session: Journaled) => {
      this.#logs.add(log.attach(session));
      return log;
    };
    return { saved, entries, resume };
  }

  #last(): Operation[] {
    for (const log of this.#due) log.compact();
    this.#due.clear();
    const { version } = this.#options;
    const meta: Meta = { format: 1, version, made: this.made, seals: String(this.#seals) };
    return [{ type: 'put', key: metaKey, value: JSON.stringify(meta) }];
  }
}

const recordOf = (log: SessionJournal, key: string, value: string): SavedSession | Entry =>
  log.read(key, value) ?? damaged('records as they were written', `another at ${key}`);

function metaIn(value: string): Meta {
  let found: unknown;
  try {
    found = JSON.parse(value);
  } catch {
    found = value;
  }
  const parsed = metaSchema.safeParse(found);
  return parsed.success ? parsed.data : damaged('a store of format 1', found);
}
