/** The records of one session: a snapshot, and the steps after it. */
import type { AnyDecision } from '../../core/machine/definition.ts';
import type { PolicyError } from '../../errors.ts';
import type { Entry, SavedSession, SessionLog } from './entries.ts';
import type { Seals } from './seals.ts';
import type { Operation } from './store.ts';

/** A session from the point of view of its journal. */
export interface Journaled {
  /** Number of ids in flight, with which the cost of a snapshot grows. */
  readonly inFlight: number;
  /** Repeats a step and returns its decisions. */
  replay(entry: Entry): readonly AnyDecision[];
  /** Whether the session is in the middle of a step. */
  readonly isPaused: boolean;
  /** Returns the whole session; the result may share data that the session changes later. */
  save(): SavedSession;
  /** Returns why a saved session could not be restored; `undefined` if it could. */
  misread(saved: SavedSession): PolicyError | undefined;
}

/** The journal from the point of view of a session's records. */
export interface JournalWriter {
  readonly snapshotEvents: number;
  readonly seals: Seals;
  append(operation: Operation): void;
  /** Records that the last seal of a session has changed; an empty seal means that there is none. */
  sealedAs(before: string, after: string): void;
  /** Asks for a call of {@link SessionJournal.compact} once the session has finished its step. */
  compactSoon(log: SessionJournal): void;
  ended(log: SessionJournal): void;
  /** Called if a snapshot could not be restored, so that the earlier one stays, with all steps after it. */
  misread(session: string, error: PolicyError): void;
}

/** Prefix of the keys of all sessions' records. */
const sessionKeys = 's/';

/** Returns the number of a session from the key of a record. */
export const numberIn = (key: string): string => key.slice(sessionKeys.length, key.lastIndexOf('/'));

/** Reads JSON; returns `undefined` for any other text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The seals of a damaged record: the stored seal, empty if there is none, and the correct seal for the text. */
export interface Doubt {
  readonly stored: string;
  readonly right: string;
}

/** Writes the steps of one session, and sometimes a snapshot that replaces them. */
export class SessionJournal implements SessionLog {
  readonly #number: string;
  readonly #writer: JournalWriter;
  #session: Journaled | undefined;
  #first = 0;
  #next = 0;
  #seal = '';
  #events = 0;
  #bytes = 0;
  #snapshotBytes = 0;
  #doubt: Doubt | undefined;

  constructor(number: string, writer: JournalWriter) {
    this.#number = number;
    this.#writer = writer;
  }

  /** Whether there are steps to replay after a crash. */
  get hasSteps(): boolean {
    return this.#next > this.#first + 1;
  }

  /** Whether the session is in the middle of a step, when it cannot be compacted. */
  get isPaused(): boolean {
    return this.#session!.isPaused;
  }

  /** Makes these records those of a session. */
  attach(session: Journaled): this {
    this.#session = session;
    return this;
  }

  /**
   * Reads the next stored record; returns `undefined` if the record is damaged, or the previous one is missing. The first record
   * is a snapshot.
   */
  read(key: string, record: string): SavedSession | Entry | undefined {
    const { seals } = this.#writer;
    const index = Number(key.slice(key.lastIndexOf('/') + 1));
    const isFirst = this.#next === 0;
    const isKnown = isFirst || (index === this.#next && this.#seal !== '');
    const found = seals.opened(isFirst ? this.#number : this.#seal, record);
    const value = found && (jsonIn(found.text) as SavedSession | Entry | undefined);
    this.#next = index + 1;
    if (isFirst) this.#first = index;
    this.#doubt = undefined;
    if (found === undefined || value === undefined) {
      const { seal, text } = seals.unchecked(record);
      if (isKnown) this.#doubt = { stored: seal, right: seals.seal(isFirst ? this.#number : this.#seal, text) };
      this.#sealed(seal);
    } else this.#count(found, isFirst ? undefined : (value as Entry));
    return value;
  }

  /** The possible last seals, if the last read record is damaged. */
  get doubt(): Doubt | undefined {
    return this.#doubt;
  }

  add(entry: Entry, decisions: readonly AnyDecision[]): void {
    const { seals } = this.#writer;
    const digest = entry.kind === 'acknowledged' ? undefined : seals.digest?.(decisions);
    const text = JSON.stringify(digest === undefined ? entry : { ...entry, digest });
    this.#write(seals.seal(this.#seal, text), text, entry);
    if (this.#isDue()) this.#writer.compactSoon(this);
  }

  /**
   * Replaces all steps by a snapshot after reading it back, because steps reproduce the state even if a snapshot would not.
   * Called only between two steps of the session.
   */
  compact(): void {
    const text = JSON.stringify(this.#session!.save());
    const before = this.#next;
    const saved = JSON.parse(text) as SavedSession;
    const error = before === 0 ? undefined : this.#session!.misread(saved);
    if (error !== undefined) {
      this.#events = 0;
      this.#writer.misread(saved.session, error);
      return;
    }
    this.#write(this.#writer.seals.seal(this.#number, text), text, undefined);
    this.#delete(before);
  }

  end(): void {
    this.#delete(this.#next);
    this.#writer.sealedAs(this.#seal, '');
    this.#writer.ended(this);
  }

  /** Whether a snapshot is due. The cost of snapshots grows with the session, and they may take at most a fourth of the time. */
  #isDue(): boolean {
    const least = this.#writer.snapshotEvents + 4 * this.#session!.inFlight;
    return this.#events >= least && this.#bytes >= 2 * this.#snapshotBytes;
  }

  #write(seal: string, text: string, entry: Entry | undefined): void {
    this.#writer.append({ type: 'put', key: this.#key(this.#next), value: this.#writer.seals.stored(seal, text) });
    this.#next += 1;
    this.#count({ seal, text }, entry);
  }

  #sealed(seal: string): void {
    this.#writer.sealedAs(this.#seal, seal);
    this.#seal = seal;
  }

  #count({ seal, text }: { readonly seal: string; readonly text: string }, entry: Entry | undefined): void {
    this.#sealed(seal);
    if (entry === undefined) {
      this.#snapshotBytes = text.length;
      this.#events = 0;
      this.#bytes = 0;
    } else {
      this.#events += entry.kind === 'sent' ? entry.events.length : 1;
      this.#bytes += text.length;
    }
  }

  #delete(before: number): void {
    for (; this.#first < before; this.#first += 1) {
      this.#writer.append({ type: 'del', key: this.#key(this.#first) });
    }
  }

  #key(index: number): string {
    return `${sessionKeys}${this.#number}/${String(index).padStart(12, '0')}`;
  }
}
