/** One session of a log, played event by event: its policy, what is owed to it, and what the log lacks. */
import { isPolicyError, refuse } from '../errors.ts';
import { type LogLine, type LogLineOf, logLine } from './decision-log.ts';
import type { AnyDecision, AnyEvent } from './definition.ts';
import { OpenCommands, type SavedOpenCommands } from './open-commands.ts';
import type { Policy } from './policy.ts';
import type { LogGap } from './replay-log.ts';
import type { Snapshot } from './snapshot.ts';
import type { LooseEvent } from './start.ts';
import { parse } from './validate.ts';

export type PlayedPolicy = Policy<unknown, unknown, LooseEvent, AnyDecision, unknown>;
type Line = LogLineOf<'session'> | LogLineOf<'event'>;

/** A point of a session from which it can be played on. */
export interface SavedPlay {
  readonly snapshot: Snapshot;
  readonly commands: SavedOpenCommands;
}

/** Plays the lines of one session in their order. */
export class SessionPlay {
  /** The policy after the last line; `undefined` where no snapshot stands before it. */
  policy: PlayedPolicy | undefined;
  /** What is owed, since when, and how long it usually takes; `undefined` before the first snapshot. */
  commands: OpenCommands | undefined;
  /** Number of the last event that was read, or that is known to be missing. */
  seq: number;
  /** Events that are missing. */
  readonly gaps: LogGap[] = [];
  /** Why the last snapshot, or an event after it, could not be played. */
  problem: string | undefined;
  readonly #restore: (snapshot: unknown) => PlayedPolicy;

  constructor(restore: (snapshot: unknown) => PlayedPolicy, seq: number, from?: SavedPlay) {
    this.#restore = restore;
    this.seq = seq;
    if (from === undefined) return;
    this.policy = restore(from.snapshot);
    this.commands = new OpenCommands(this.policy.definition, undefined, from.commands);
  }

  /**
   * Takes the next line, and returns what the policy has decided; `undefined` where it was not asked. `where` names the line, for a
   * gap. Throws `invalid_input` for an event out of order.
   */
  take(line: Line, where: () => string): readonly AnyDecision[] | undefined {
    if (line.kind === 'event') return this.#play(line, where);
    this.#begin(line, where);
    return undefined;
  }

  /** Returns the point after the last line; `undefined` where the state is not known. */
  save(): SavedPlay | undefined {
    const { policy, commands } = this;
    return policy && commands && { snapshot: policy.snapshot(), commands: commands.save() };
  }

  #begin({ seq, snapshot, policy }: LogLineOf<'session'>, where: () => string): void {
    this.#miss(seq, where);
    const goesOn = this.policy?.seq === seq && this.policy.id === policy;
    this.seq = seq;
    // A file of the log repeats the state at its beginning: what is owed goes on.
    if (goesOn) return;
    this.policy = undefined;
    if (snapshot === null) return;
    try {
      this.policy = this.#restore(snapshot);
      this.problem = undefined;
      const times = this.commands?.save().times ?? [];
      this.commands = new OpenCommands(this.policy.definition, undefined, { open: [], times });
    } catch (error) {
      this.#failed(error);
    }
  }

  #play({ seq, event }: LogLineOf<'event'>, where: () => string): readonly AnyDecision[] | undefined {
    if (seq <= this.seq) refuse('invalid_input', where(), `event ${this.seq + 1}`, `event ${seq}`);
    this.#miss(seq - 1, where);
    this.seq = seq;
    const { policy, commands } = this;
    if (policy === undefined || commands === undefined) return undefined;
    let made: readonly AnyDecision[];
    try {
      made = policy.send(event as LooseEvent);
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
    commands.follow(event as AnyEvent, made, policy.at);
    return made;
  }

  #failed(error: unknown): void {
    if (!isPolicyError(error)) throw error;
    this.policy = undefined;
    // The whole list of policies would say less.
    this.problem =
      error.code === 'unknown_id' && error.path === 'policy' ? `no policy ${error.got} is known here` : error.message;
  }

  /** Records the gap between the last known event and the one with this number, if any. */
  #miss(seq: number, where: () => string): void {
    if (seq <= this.seq) return;
    this.gaps.push({ where: where(), from: this.seq + 1, to: seq });
    this.policy = undefined;
    this.seq = seq;
  }
}

/** An event of a log whose decisions are parsed only where they are read: a policy that decides as it did has made them anew. */
class LoggedEvent {
  readonly kind = 'event';
  readonly time: number;
  readonly session: string;
  readonly seq: number;
  readonly producer: string | undefined;
  readonly event: LogLineOf<'event'>['event'];
  readonly #text: string;
  readonly #from: number;
  readonly #where: () => string;
  #decisions: LogLineOf<'event'>['decisions'] | undefined;

  /** @param from - where in the text of the line its decisions begin, which end it */
  constructor(text: string, from: number, line: Omit<LogLineOf<'event'>, 'decisions'>, where: () => string) {
    this.time = line.time;
    this.session = line.session;
    this.seq = line.seq;
    this.producer = line.producer;
    this.event = line.event;
    this.#text = text;
    this.#from = from;
    this.#where = where;
  }

  /** Throws `invalid_input` if they are broken. */
  get decisions(): LogLineOf<'event'>['decisions'] {
    return (this.#decisions ??= wholeEntry(parseJson(this.#text, this.#where), this.#where).decisions);
  }

  /** Whether the line has exactly these decisions; then they need not be parsed. */
  has(made: readonly AnyDecision[]): boolean {
    const text = made.length === 0 ? '[]' : JSON.stringify(made);
    // Texts of the same length are compared in one go; `startsWith` would take them letter by letter.
    const isSame = this.#text.length === this.#from + text.length + 1 && this.#text.slice(this.#from, -1) === text;
    if (isSame) this.#decisions = made as never;
    return isSame;
  }
}

/** Whether a policy has decided as a line says, by the types of its decisions. */
export function isAsLogged(line: LogLineOf<'event'>, made: readonly AnyDecision[]): boolean {
  if (line instanceof LoggedEvent && line.has(made)) return true;
  const { decisions } = line;
  return made.length === decisions.length && made.every(({ type }, index) => type === decisions[index]!.type);
}

const decisionsKey = ',"decisions":[';

/**
 * Returns the part of a line before its decisions, and where these begin; `undefined` if it is not written as the server and
 * `recordEvents` do. Inside of a text the quotation marks would be escaped, and inside of the event the part is no JSON.
 */
function headOf(text: string): { head: object; from: number } | undefined {
  const at = text.indexOf(decisionsKey);
  if (at < 0) return undefined;
  try {
    return { head: JSON.parse(`${text.slice(0, at)}}`) as object, from: at + decisionsKey.length - 1 };
  } catch {
    return undefined;
  }
}

/** How a line is read. */
interface LineAt {
  /** Names the line. */
  readonly where: () => string;
  /** Whether a line break ends it: otherwise it may be cut off anywhere. */
  readonly ended: boolean;
}

/**
 * Parses a line of a decision log. Lines of events are checked as far as a replay needs it, since they are many.
 *
 * @throws PolicyError `invalid_input` for a broken line
 */
export function parseLogLine(text: string, { where, ended }: LineAt): LogLine {
  const cut = ended ? headOf(text) : undefined;
  const value = (cut?.head ?? parseJson(text, where)) as LogLineOf<'event'>;
  const isEvent =
    value.kind === 'event' && Number.isSafeInteger(value.seq) && typeof value.session === 'string' && hasEvent(value);
  if (isEvent && cut !== undefined) return new LoggedEvent(text, cut.from, value, where);
  if (isEvent && Array.isArray(value.decisions)) return value;
  return parse(logLine, cut === undefined ? value : parseJson(text, where), 'invalid_input', where());
}

/**
 * Parses a line of an event log, as that of a session without a name.
 *
 * @param seq - number of the event before it; `undefined` for the first line
 * @throws PolicyError `invalid_input` for a broken line
 */
export function parseEventLine(text: string, seq: number | undefined, { where, ended }: LineAt): Line {
  if (seq !== undefined) {
    const cut = ended ? headOf(text) : undefined;
    const { event, decisions } = wholeEntry(cut?.head ?? parseJson(text, where), where, cut !== undefined);
    const line = { kind: 'event' as const, time: event.at, session: '', seq: seq + 1, event, decisions };
    return cut === undefined ? line : new LoggedEvent(text, cut.from, line, where);
  }
  const value = parseJson(text, where) as { snapshot?: Snapshot };
  const { snapshot } = value;
  if (typeof snapshot?.policy !== 'string' || !Number.isSafeInteger(snapshot.seq))
    refuse('invalid_input', where(), 'a log that begins with a snapshot (recordEvents), or a decision log', value);
  const { policy, version, at } = snapshot;
  return {
    kind: 'session',
    time: at,
    session: '',
    policy,
    version,
    seq: snapshot.seq,
    snapshot,
  } as LogLineOf<'session'>;
}

type Entry = Pick<LogLineOf<'event'>, 'event' | 'decisions'>;

const hasEvent = ({ event }: Partial<Entry>): boolean =>
  typeof event?.type === 'string' && typeof event.at === 'number';

/** Returns an entry with its event and its decisions, which may stand elsewhere. */
function wholeEntry(value: Partial<Entry>, where: () => string, elsewhere = false): Entry {
  if (hasEvent(value) && (elsewhere || Array.isArray(value.decisions))) return value as Entry;
  return refuse('invalid_input', where(), 'an object with `event` and `decisions`', value);
}

function parseJson(text: string, where: () => string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The error below names the line.
  }
  return refuse('invalid_input', where(), 'a JSON object', text);
}
