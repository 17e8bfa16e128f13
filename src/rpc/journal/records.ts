/** The records of all sessions: they are written step by step, and read again after a crash. Works with any store. */
import { z } from 'zod';
import { PolicyError, refuse } from '../../errors.ts';
import type { Entry, SavedSession, SessionLog } from './entries.ts';
import { SealSum, type Seals } from './seals.ts';
import { type Doubt, type Journaled, type JournalWriter, jsonIn, numberIn, SessionJournal } from './session-journal.ts';
import type { Operation } from './store.ts';
import type { Tail } from './tail.ts';
import { checkVersion, replay } from './takeover.ts';

/** Options of the records of a journal. */
export interface RecordsOptions {
  /** Version of the package, which must be able to replay the steps in the journal: see {@link checkVersion}. */
  readonly version: string;
  /** Number of events of a session after which a snapshot replaces its steps. */
  readonly snapshotEvents: number;
  /** Called if the snapshot of a session cannot be restored; its earlier snapshot and its steps stay. */
  readonly misread?: ((session: string, error: PolicyError) => void) | undefined;
}

/** A session from the records. */
export interface FoundSession {
  readonly saved: SavedSession;
  /** The steps after the snapshot. */
  readonly steps: readonly Entry[];
  /** Whether another version wrote the steps. That version can continue the session as long as nothing is written. */
  readonly isTakenOver: boolean;
  /** Why the records cannot be read: one of them was changed since it was written. */
  readonly damage?: PolicyError;
  /**
   * Replays the steps in a session made from the snapshot, and continues the records with this session.
   *
   * @throws PolicyError `snapshot_mismatch` if a step decides differently than before
   */
  resume(session: Journaled): SessionLog;
  /** Keeps the session unchanged, because it cannot be restored. */
  setAside(): SessionLog;
}

/** Key of the store's own record. */
export const metaKey = 'meta';
const count = z.int().nonnegative();
const fields = { version: z.string(), made: count, seals: z.string() };
const metaSchema = z.union([
  z.strictObject({ ...fields, format: z.literal(1) }),
  z.strictObject({ ...fields, format: z.literal(2), writes: count }),
]);
type Meta = z.output<typeof metaSchema>;

const damaged = (expected: string, got: unknown): never => refuse('snapshot_mismatch', 'stateDir', expected, got);

interface Reading {
  readonly number: string;
  readonly log: SessionJournal;
  readonly saved: SavedSession;
  readonly entries: Entry[];
  /** Why the records cannot be replayed: one of them was changed since it was written. */
  damage?: PolicyError;
}

/** Records, which are written one by one and read in key order. */
export abstract class Records implements JournalWriter {
  /** Number of ids that the server has made for sessions. */
  made = 0;
  readonly seals: Seals;
  readonly #options: RecordsOptions;
  readonly #logs = new Set<SessionJournal>();
  readonly #due = new Set<SessionJournal>();
  readonly #sum = new SealSum();
  #meta: Meta | undefined;
  #reading: Reading | undefined;
  readonly #damaged: FoundSession[] = [];
  readonly #doubts: Doubt[] = [];
  #numbers = 0;
  #writes = 0;

  constructor(options: RecordsOptions, seals: Seals) {
    this.#options = options;
    this.seals = seals;
  }

  /** The last write that was read, or that {@link Records.last} was called for; nothing for a store without writes. */
  get tail(): Tail | undefined {
    return this.#meta && { writes: this.#writes, seals: this.#meta.seals };
  }

  /** Whether the store that was read counts its writes; format 1 does not. */
  get areCounted(): boolean {
    return this.#meta?.format === 2;
  }

  /** Writes or queues one operation. */
  abstract append(operation: Operation): void;

  get snapshotEvents(): number {
    return this.#options.snapshotEvents;
  }

  /** Whether a session has steps, or needs a snapshot. */
  get hasDue(): boolean {
    return this.#due.size > 0;
  }

  /**
   * Reads the next record in key order. Read all records before you begin a new session. At the first record of a session,
   * returns the previous session, unless its records are damaged.
   *
   * @throws PolicyError `snapshot_mismatch` for a damaged record of the store, or steps that this version cannot replay
   */
  read(key: string, value: string): FoundSession | undefined {
    if (key === metaKey) {
      this.#meta = metaIn(value);
      if (this.#meta.format === 2) this.#writes = this.#meta.writes;
      return undefined;
    }
    if (this.#meta === undefined) damaged('what the store says of itself', 'nothing');
    const number = numberIn(key);
    if (number === this.#reading?.number) {
      const { log, entries, damage } = this.#reading;
      const entry = log.read(key, value) as Entry | undefined;
      if (entry === undefined) this.#reading.damage ??= damageAt(key);
      else if (damage === undefined) entries.push(entry);
      return undefined;
    }
    const found = this.#found();
    const log = new SessionJournal(number, this);
    const read = log.read(key, value) as SavedSession | undefined;
    const saved = read ?? readable(number, this.seals.unchecked(value).text);
    this.#reading = { number, log, saved, entries: [], ...(read === undefined && { damage: damageAt(key) }) };
    return found;
  }

  /**
   * Returns the last session, after all records are read, and those whose records are damaged.
   *
   * @throws PolicyError as {@link Records.read} does, and `snapshot_mismatch` if records of unknown sessions are missing
   */
  readLast(): FoundSession[] {
    const last = this.#found();
    const found = last === undefined ? this.#damaged : [last, ...this.#damaged];
    this.#numbers = Number(this.#reading?.number ?? 0);
    this.#reading = undefined;
    this.made = this.#meta?.made ?? 0;
    if (this.#meta !== undefined && !this.#isWhole(this.#meta.seals)) {
      damaged('all records that were written', 'some are missing');
    }
    return found;
  }

  /**
   * Whether no record is missing. If the last record is damaged, its seal may be damaged, too; without a seal, nothing can be
   * said.
   */
  #isWhole(seals: string): boolean {
    if (String(this.#sum) === seals) return true;
    return this.#doubts.some(({ stored, right }) => stored === '' || this.#sum.with(stored, right) === seals);
  }

  /** Writes the first record of a new session. */
  begin(session: Journaled): SessionLog {
    this.#numbers += 1;
    const log = new SessionJournal(String(this.#numbers).padStart(10, '0'), this);
    this.#logs.add(log.attach(session));
    log.compact();
    return log;
  }

  sealedAs(before: string, after: string): void {
    this.#sum.replace(before, after);
  }

  compactSoon(log: SessionJournal): void {
    this.#due.add(log);
  }

  ended(log: SessionJournal): void {
    this.#logs.delete(log);
    this.#due.delete(log);
  }

  /** Marks every session with steps, which then gets a snapshot, so that a later version of rollflex can continue it. */
  compactAll(): void {
    for (const log of this.#logs) if (log.hasSteps) this.#due.add(log);
  }

  /**
   * Writes the snapshots that are due, and returns the record of the store. A session in the middle of a step gets its snapshot with
   * a later write.
   */
  last(): Operation {
    for (const log of this.#due) {
      if (log.isPaused) continue;
      log.compact();
      this.#due.delete(log);
    }
    const { version } = this.#options;
    const writes = ++this.#writes;
    this.#meta = { format: 2, version, made: this.made, seals: String(this.#sum), writes };
    return { type: 'put', key: metaKey, value: JSON.stringify(this.#meta) };
  }

  #found(): FoundSession | undefined {
    if (this.#reading === undefined) return undefined;
    const { saved: found, entries, log, damage } = this.#reading;
    const { aside, ...saved } = found;
    const { format } = this.#meta!;
    const { version } = this.#options;
    const writer = aside?.writer ?? this.#meta!.version;
    const steps = [...(aside?.entries ?? []), ...entries];
    if (damage !== undefined) {
      if (log.doubt !== undefined) this.#doubts.push(log.doubt);
      const resume = () => {
        throw damage;
      };
      // The records of the session stay unchanged.
      this.#damaged.push({ saved, steps, isTakenOver: false, damage, resume, setAside: () => log });
      return undefined;
    }
    const takeover = { writer, version, digest: format === 1 ? undefined : this.seals.digest };
    if (entries.length > 0) checkVersion(takeover);
    const attach = (session: Journaled) => {
      this.#logs.add(log.attach(session));
      // The first write leaves no step of another version, or without a digest.
      if (writer !== version || format === 1) this.#due.add(log);
      return log;
    };
    const resume = (session: Journaled) => {
      if (aside !== undefined) checkVersion(takeover);
      replay(session, saved, steps, takeover);
      return attach(session);
    };
    const setAside = () =>
      attach(asideOf(steps.length === 0 ? saved : { ...saved, aside: { writer, entries: steps } }));
    return { saved, steps, isTakenOver: entries.length > 0 && writer !== version, resume, setAside };
  }

  misread(session: string, error: PolicyError): void {
    this.#options.misread?.(session, error);
  }
}

const damageAt = (key: string): PolicyError =>
  new PolicyError('snapshot_mismatch', {
    path: 'stateDir',
    expected: 'records as they were written',
    got: `another at ${key}`,
  });

/** Returns the readable parts of a damaged snapshot: at least a name. */
function readable(number: string, text: string): SavedSession {
  const value = jsonIn(text) as SavedSession | undefined;
  const { session, snapshot } = value ?? {};
  const isWhole =
    typeof session === 'string' && typeof snapshot?.policy === 'string' && Array.isArray(value!.producers);
  if (isWhole) return value!;
  const named = (field: string): string | undefined => {
    const found = jsonIn(new RegExp(`"${field}":("(?:[^"\\\\]|\\\\.){1,256}")`).exec(text)?.[1] ?? '');
    return typeof found === 'string' ? found : undefined;
  };
  return {
    session: named('session') ?? `record-${number}`,
    deliver: 'reply',
    timers: 'host',
    producers: [],
    answers: { made: 0, kept: [] },
    snapshot: { policy: named('policy') ?? 'unknown', version: 0, seq: 0, at: 0, config: undefined, state: undefined },
  };
}

/** Stand-in for a session that is set aside, whose steps stay steps. */
const asideOf = (saved: SavedSession): Journaled => ({
  inFlight: 0,
  isPaused: false,
  replay: () => [],
  save: () => saved,
  misread: () => undefined,
});

function metaIn(value: string): Meta {
  const read = jsonIn(value);
  const found = read === undefined ? value : read;
  const parsed = metaSchema.safeParse(found);
  return parsed.success ? parsed.data : damaged('a store of format 1 or 2', found);
}
