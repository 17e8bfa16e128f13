/** Reads lines of logs. Since there are many lines, they are checked only as far as a replay needs. */

import type { AnyDecision } from '../../core/machine/definition.ts';
import { snapshotSchema } from '../../core/machine/snapshot.ts';
import { parse } from '../../core/machine/validate.ts';
import { refuse } from '../../errors.ts';
import { type LogLine, type LogLineOf, logLine } from './decision-log.ts';
import { eachId, eachIdIn } from './message-ids.ts';

type EventLine = LogLineOf<'event'>;

/** Where a line is, and how to read it. */
export interface LineAt {
  /** Names the line, for errors. */
  readonly where: () => string;
  /** Whether decisions are parsed only when they are first read. A line that may be cut off must be parsed at once. */
  readonly isLazy: boolean;
}

/** A line whose decisions are parsed when they are first read. */
class LazyLine implements EventLine {
  readonly kind = 'event';
  readonly time: number;
  readonly session: string;
  readonly seq: number;
  readonly producer: string | undefined;
  readonly event: EventLine['event'];
  readonly #text: string;
  readonly #from: number;
  readonly #where: () => string;
  #decisions: EventLine['decisions'] | undefined;

  /** @param from - offset in the line's text at which the decisions begin; they are the last part */
  constructor(text: string, from: number, line: EventLine, where: () => string) {
    this.time = line.time;
    this.session = line.session;
    this.seq = line.seq;
    this.producer = line.producer;
    this.event = line.event;
    this.#text = text;
    this.#from = from;
    this.#where = where;
  }

  /** Throws `invalid_input` for broken decisions. */
  get decisions(): EventLine['decisions'] {
    if (this.#decisions !== undefined) return this.#decisions;
    const { decisions } = parseJson(this.#text, this.#where) as EventLine;
    if (!Array.isArray(decisions)) refuse('invalid_input', `${this.#where()}.decisions`, 'a list', decisions);
    this.#decisions = decisions;
    return decisions;
  }

  eachId(found: (id: string) => void): void {
    if (!eachIdIn(this.#text, found)) eachId(parseJson(this.#text, this.#where), found);
  }

  /** Whether the decisions have these types, as far as can be seen without parsing. */
  hasTypes(made: readonly AnyDecision[]): boolean {
    const text = this.#text;
    let at = text.indexOf(typeKey, this.#from);
    for (const { type } of made) {
      if (at < 0) return false;
      const from = at + typeKey.length;
      const to = from + type.length;
      if (text.slice(from, to) !== type || text.slice(to, to + afterType.length) !== afterType) return false;
      at = text.indexOf(typeKey, to);
    }
    return at < 0;
  }
}

/** The beginning of a decision in the form that policies and the server write. */
const [typeKey, afterType] = ['{"type":"', '","at":'];

/** Whether a policy has decided as a line says, judged by the types of decisions. */
export function isAsLogged(line: EventLine, made: readonly AnyDecision[]): boolean {
  if (line instanceof LazyLine && line.hasTypes(made)) return true;
  const { decisions } = line;
  return made.length === decisions.length && made.every(({ type }, index) => type === decisions[index]!.type);
}

/** Calls back with each id in the event and the decisions of a line, with repetitions. */
export function eachIdOf(line: EventLine, found: (id: string) => void): void {
  if (line instanceof LazyLine) return line.eachId(found);
  eachId(line.event, found);
  for (const one of line.decisions) eachId(one, found);
}

/** Whether the event of a line, or one of its decisions, mentions an id. */
export function mentions(line: EventLine, id: string): boolean {
  let isHere = false;
  eachIdOf(line, (one) => {
    if (one === id) isHere = true;
  });
  return isHere;
}

/**
 * Parses a line of a decision log.
 *
 * @throws PolicyError `invalid_input` for a broken line
 */
export const parseLogLine = (text: string, at: LineAt): LogLine => read(text, at, (value) => value as LogLine);

/**
 * Parses a line of an event log, as that of a decision log.
 *
 * @param seq - number of the event before it; `undefined` for the first line
 * @param session - name of the session
 * @throws PolicyError `invalid_input` for a broken line, `snapshot_mismatch` for a first line without a snapshot
 */
export function parseEventLine(
  text: string,
  seq: number | undefined,
  session: string,
  at: LineAt,
): LogLineOf<'session'> | EventLine {
  if (seq !== undefined) {
    return read(text, at, (value) => {
      const { event, decisions } = value as EventLine;
      return { kind: 'event', time: event?.at ?? 0, session, seq: seq + 1, event, decisions };
    }) as EventLine;
  }
  const value = parseJson(text, at.where);
  if (!('snapshot' in value))
    refuse(
      'snapshot_mismatch',
      at.where(),
      'a log that begins with a snapshot (recordEvents), or a decision log',
      value,
    );
  const snapshot = parse(snapshotSchema, value.snapshot, 'snapshot_mismatch', `${at.where()}.snapshot`);
  const { policy, version, seq: before, at: time } = snapshot;
  const opened = { deliver: 'reply', timers: 'host', shadow: false } as const;
  return { kind: 'session', time, session, policy, version, ...opened, seq: before, snapshot };
}

/** @param lineOf - makes a line of a decision log from the parsed text */
function read(text: string, { where, isLazy }: LineAt, lineOf: (value: object) => LogLine): LogLine {
  const cut = isLazy ? headOf(text) : undefined;
  if (cut !== undefined) {
    const line = lineOf(cut.head);
    if (isEvent(line)) return new LazyLine(text, cut.from, line, where);
  }
  const line = lineOf(parseJson(text, where));
  return isEvent(line) && Array.isArray(line.decisions) ? line : parse(logLine, line, 'invalid_input', where());
}

const isEvent = (line: LogLine): line is EventLine =>
  line.kind === 'event' &&
  Number.isSafeInteger(line.seq) &&
  typeof line.session === 'string' &&
  typeof line.event?.type === 'string' &&
  typeof line.event.at === 'number';

const decisionsKey = ',"decisions":[';

/**
 * Returns the part of a line before its decisions, and where the decisions begin; `undefined` for a line in another form than
 * that of the server and `recordEvents`. Inside a JSON string the quotation marks would be escaped, and a text that is cut off
 * inside the event is no JSON, so the cut is safe.
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

function parseJson(text: string, where: () => string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The error below names the line.
  }
  return refuse('invalid_input', where(), 'a JSON object', text);
}
