/** One session of a log in memory: its lines, the ids that they mention, and states at intervals. */
import type { LogLineOf } from '../format/decision-log.ts';
import { eachIdOf, isAsLogged } from '../format/line.ts';
import type { FoundLine, LoggedSession, Place } from '../format/log.ts';
import { eachId } from '../format/message-ids.ts';
import { type PlayedPolicy, type SavedPlay, SessionPlay } from './play.ts';
import type { LogGap } from './replay-log.ts';

type Line = LogLineOf<'session'> | FoundLine;
type Restore = (snapshot: unknown) => PlayedPolicy;

/** Number of events between two stored states: playing so many takes no longer than restoring the state of a busy session. */
const eventsOfAState = 1000;

/** A state, with the number of the next line. */
interface Point {
  readonly line: number;
  readonly seq: number;
  readonly at: number;
  /** The state as JSON, because a policy owns the state object that it was made from. */
  readonly saved: string;
}

export class MemorySession {
  readonly run: number;
  readonly policy: string;
  readonly first: number;
  /** The session after its last line. */
  readonly play: SessionPlay;
  /** Whether the session has ended, according to its lines. */
  closed = false;
  ended: LoggedSession['closed'];
  /** Latest time on the session's clock, and time of its last line on the log's clock. */
  at = 0;
  time = 0;
  differs: number | undefined;
  /** The events, in order. */
  readonly events: FoundLine[] = [];
  readonly #restore: Restore;
  readonly #lines: { readonly line: Line; readonly where: string }[] = [];
  readonly #ids = new Map<string, number[]>();
  readonly #points: Point[] = [];
  readonly #lost: LogGap[] = [];
  #since = 0;

  constructor(restore: Restore, run: number, { policy, seq }: LogLineOf<'session'>) {
    this.#restore = restore;
    this.run = run;
    this.policy = policy;
    this.first = seq;
    this.play = new SessionPlay(restore, seq);
  }

  get gaps(): readonly LogGap[] {
    return [...this.play.gaps, ...this.#lost];
  }

  /** Takes the next line. Throws `invalid_input` for an event out of order. */
  take(line: Line, where: string): void {
    const { play } = this;
    const made = play.take(line, () => where);
    const number = this.#lines.push({ line, where }) - 1;
    this.at = Math.max(this.at, line.kind === 'event' ? line.event.at : (play.policy?.at ?? 0));
    this.time = Math.max(this.time, line.time);
    this.ended = undefined;
    if (line.kind !== 'event') {
      if (line.snapshot !== null) eachId(line.snapshot, (id) => this.#mentionsOf(id));
      return;
    }
    this.events.push(line);
    if (made !== undefined && !isAsLogged(line, made)) this.differs ??= line.seq;
    eachIdOf(line, (id) => {
      const known = this.#mentionsOf(id);
      if (known.at(-1) !== number) known.push(number);
    });
    this.#since += 1;
    if (this.#since < eventsOfAState) return;
    const saved = play.save();
    if (saved === undefined) return;
    this.#since = 0;
    this.#points.push({ line: number + 1, seq: play.seq, at: this.at, saved: JSON.stringify(saved) });
  }

  #mentionsOf(id: string): number[] {
    let known = this.#ids.get(id);
    if (known === undefined) this.#ids.set(id, (known = []));
    return known;
  }

  /** Takes the line that ends the session. */
  end({ session, reason, seq }: LogLineOf<'closed'>): void {
    // The policy's state before closing stays, so that one can ask why it waited.
    if (reason !== 'stopped') this.closed = true;
    this.ended = reason;
    if (seq > this.play.seq) this.#lost.push({ where: `the end of ${session}`, from: this.play.seq + 1, to: seq });
  }

  /** Plays the session to a place, from the nearest earlier state. */
  stateAt(place: Place): SessionPlay {
    const isPast = (line: Line): boolean =>
      'seq' in place
        ? line.seq > place.seq
        : (line.kind === 'event' ? line.event.at : (line.snapshot?.at ?? 0)) > place.at;
    const last = this.#lines.at(-1);
    if (last === undefined || !isPast(last.line)) return this.play;
    const point = this.#points.findLast(({ seq, at }) => ('seq' in place ? seq <= place.seq : at <= place.at));
    const from = point && (JSON.parse(point.saved) as SavedPlay);
    const play = new SessionPlay(this.#restore, point?.seq ?? this.first, from);
    for (let number = point?.line ?? 0; number < this.#lines.length; number += 1) {
      const { line, where } = this.#lines[number]!;
      // A session that begins later than the place is shown at its beginning.
      if (isPast(line) && number > 0) break;
      play.take(line, () => where);
    }
    return play;
  }

  /** Returns the events that mention an id, in order. */
  eventsWith(id: string): FoundLine[] {
    return (this.#ids.get(id) ?? []).map((number) => this.#lines[number]!.line as FoundLine);
  }

  get ids(): Iterable<string> {
    return this.#ids.keys();
  }

  hasId(id: string): boolean {
    return this.#ids.has(id);
  }
}
