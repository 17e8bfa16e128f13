/** A log as a page or a terminal shows it: its sessions, the state at any event, why something waits, and what comes next. */

import type { AnyDecision, AnyDefinition, AnyEvent } from '../../core/machine/definition.ts';
import type { Registry } from '../../core/machine/registry.ts';
import type { Snapshot } from '../../core/machine/snapshot.ts';
import type { Messages } from '../../core/why/obligations.ts';
import { refuse } from '../../errors.ts';
import { type Explanation, explainSession } from '../explain/explain.ts';
import { answerOf, chainText, notesOf } from '../explain/text.ts';
import type { Log, LoggedSession, LogLacks } from '../format/log.ts';
import { sessionNamed } from '../format/session-names.ts';
import { eventAt, eventsOf, findEvent, type Wanted } from './find.ts';
import { traceOf } from './perfetto.ts';
import { type AskedGroup, askedOf, type StandingGroup, standingOf } from './standing.ts';
import { type TreePage, treeAt } from './tree.ts';
import { type JobWindow, jobWindow } from './window.ts';

/** A session as an item of a list. */
export interface SessionItem extends Pick<LoggedSession, 'session' | 'isLast' | 'policy' | 'seq' | 'at' | 'end'> {
  /** Number of the first event in the log. */
  readonly first: number;
  /** How the session ended; null if it did not. */
  readonly closed: LoggedSession['closed'] | null;
}

/** State of knowledge after an event. */
export interface Moment {
  /** Number of the event. */
  readonly seq: number;
  /** Time on the clock of the session, in seconds. */
  readonly at: number;
  /** Seconds since the previous event. */
  readonly sinceSeconds: number;
  /** The event; null before the first event, and where the log lacks it. */
  readonly event: AnyEvent | null;
  /** Decisions on the event. */
  readonly decisions: readonly AnyDecision[];
  /** The producer that has sent the event to the server. */
  readonly producer: string | null;
  /** What the policy holds. */
  readonly standing: readonly StandingGroup[];
  /** Unanswered commands. */
  readonly asked: readonly AskedGroup[];
  /** What the log lacks, or what makes the answer less certain. */
  readonly notes: readonly string[];
}

/** Why something waits, in words. */
export interface WhyText {
  /** The verdict, which comes first. */
  readonly verdict: Explanation['verdict'];
  /** The answer in one paragraph. */
  readonly answer: string;
  /** What the log lacks, or what makes the answer less certain. */
  readonly notes: readonly string[];
  /** Owed events, and the events and reasons before them, as indented lines. */
  readonly chain: readonly string[];
}

/** Options for viewing a log. */
export interface ViewOptions {
  /** The policies that are known. */
  readonly registry: Pick<Registry<readonly AnyDefinition[]>, 'policies'>;
  /** Whether the log is still being written: then the time at its end is now, because a hanging job writes nothing. */
  readonly isLive?: boolean;
}

/** Lower times do not come from a clock but from a simulation. */
const leastUnixTime = 1e9;
/** Characters per piece of a trace. */
const pieceLength = 1 << 16;

/** Views of a log and its sessions. */
export class LogView {
  readonly #registry: ViewOptions['registry'];
  readonly #isLive: boolean;
  readonly #index: Log;
  #snapshot: { readonly key: string; readonly snapshot: Snapshot | undefined } | undefined;

  /** Views a log, which `close` closes. */
  constructor(log: Log, { registry, isLive = false }: ViewOptions) {
    this.#index = log;
    this.#registry = registry;
    this.#isLive = isLive;
  }

  /** Closes the view and its log. */
  close(): void {
    this.#index.close();
  }

  /** Reads lines that were added to the log. Returns whether there were any. */
  refresh(): boolean {
    const found = this.#index.refresh();
    if (found) this.#snapshot = undefined;
    return found;
  }

  /** The sessions of the log. */
  get sessions(): SessionItem[] {
    return this.#index.sessions.map(({ session, isLast, policy, first, seq, at, end, closed }) => ({
      ...{ session, isLast, policy, first, seq, at, end },
      closed: closed ?? null,
    }));
  }

  /** What the whole log lacks. */
  get lacks(): LogLacks {
    return this.#index.lacks;
  }

  /** Returns a session. Throws `unknown_id` for a session that the log lacks. */
  #sessionOf(id: string): LoggedSession {
    return sessionNamed(this.#index.sessions, id);
  }

  #within({ session, first, seq: last }: LoggedSession, seq: number): void {
    if (seq < first || seq > last)
      refuse(
        'invalid_input',
        'seq',
        `an event of ${session === '' ? 'the log' : session}, from ${first} to ${last}`,
        seq,
      );
  }

  /**
   * The present time after an event, if it differs from the event's time: at the end of a log in Unix time that is still being
   * written.
   */
  #now({ seq: last, at, closed }: LoggedSession, seq: number): number | undefined {
    return this.#isLive && seq === last && closed === undefined && at > leastUnixTime ? Date.now() / 1000 : undefined;
  }

  /** Returns the state of knowledge after an event. Throws `unknown_id`, `invalid_input`. */
  moment(id: string, seq: number): Moment {
    const session = this.#sessionOf(id);
    this.#within(session, seq);
    const before = seq > session.first ? eventAt(this.#index, id, seq - 1)?.event.at : undefined;
    const line = seq === 0 ? undefined : eventAt(this.#index, id, seq);
    const play = this.#index.stateAt(id, { seq });
    const at = Math.max(play.policy?.at ?? 0, line?.event.at ?? 0);
    const now = Math.max(at, this.#now(session, seq) ?? 0);
    return {
      seq,
      at,
      sinceSeconds: before === undefined ? 0 : Math.max(0, at - before),
      event: (line?.event as AnyEvent | undefined) ?? null,
      decisions: (line?.decisions ?? []) as unknown as readonly AnyDecision[],
      producer: line?.producer ?? null,
      standing: standingOf(play, now),
      asked: askedOf(play, now),
      notes: notesAt(session, seq, play.problem, line !== undefined || seq === session.first),
    };
  }

  /** Returns the state after an event; `undefined` if it cannot be played. Throws `unknown_id`, `invalid_input`. */
  snapshot(id: string, seq: number): Snapshot | undefined {
    const session = this.#sessionOf(id);
    this.#within(session, seq);
    const key = JSON.stringify([id, session.run, seq]);
    if (this.#snapshot?.key !== key)
      this.#snapshot = { key, snapshot: this.#index.stateAt(id, { seq }).save()?.snapshot };
    return this.#snapshot.snapshot;
  }

  /** Returns a part of the state after an event. Throws `unknown_id`, `invalid_input`. */
  state(id: string, seq: number, path: readonly string[], from = 0): TreePage {
    return treeAt(this.snapshot(id, seq), path, from);
  }

  /** Returns why something waits after an event, or the whole session. Throws `unknown_id` for an id that the log does not have. */
  why(id: string, seq: number, thing?: string): WhyText {
    const session = this.#sessionOf(id);
    this.#within(session, seq);
    // At the end of the log time has gone on without events.
    const now = this.#now(session, seq);
    const place = seq < session.seq ? { seq } : now === undefined ? undefined : { at: Math.max(now, session.end) };
    const asked = thing === undefined ? undefined : { id: thing, kinds: [], word: 'id' };
    const one = explainSession(this.#index, session, place, asked);
    const notes = notesOf(one).map((line) => line.trim());
    return { verdict: one.verdict, answer: answerOf(one).join(' '), notes, chain: chainText(one) };
  }

  /**
   * Returns sessions as a Chrome trace in JSON, in pieces.
   *
   * @param id - only this session
   * @throws PolicyError `unknown_id`; `invalid_input` for a session of a policy that is not known here
   */
  *trace(id?: string): Generator<string> {
    const sessions = id === undefined ? this.#index.sessions : [this.#sessionOf(id)];
    const firsts = sessions.map(({ session, first }) => eventAt(this.#index, session, first + 1)?.event.at);
    const origin = Math.min(...firsts.filter((at) => at !== undefined));
    let piece = '{"displayTimeUnit":"ms","traceEvents":[';
    let before = '';
    for (const [number, one] of sessions.entries()) {
      const { session, policy, end } = one;
      const messages = this.#messagesOf(one);
      const name = session === '' ? policy : `${session} (${policy})`;
      const events = eventsOf(this.#index, session);
      for (const entry of traceOf({ pid: number + 1, name, messages, events, end, origin })) {
        piece += `${before}${JSON.stringify(entry)}`;
        before = ',\n';
        if (piece.length < pieceLength) continue;
        yield piece;
        piece = '';
      }
    }
    yield `${piece}]}\n`;
  }

  /** Returns what charts draw of a session up to an event, in short steps; null where there is nothing. Throws as {@link moment} does. */
  job(id: string, seq: number): Generator<undefined, JobWindow | null> {
    const session = this.#sessionOf(id);
    this.#within(session, seq);
    return jobWindow(this.#index, session, seq, this.#messagesOf(session));
  }

  /** Returns the messages that a policy takes and makes. Throws `invalid_input` for an unknown policy. */
  #messagesOf({ session, policy }: LoggedSession): Messages {
    const messages = this.#registry.policies.find((one) => one.id === policy);
    if (messages !== undefined) return messages;
    const path = session === '' ? 'the log' : session;
    return refuse('invalid_input', path, 'a session of a policy that is known here', policy);
  }

  /** Searches for the next event in short steps. Returns its number or, without a match, the id that may have been meant. */
  *find(
    id: string,
    from: number,
    back: boolean,
    wanted: Wanted,
  ): Generator<undefined, { seq?: number; meant?: string }> {
    this.#sessionOf(id);
    const found = yield* findEvent(this.#index, id, from, back, wanted);
    if (found !== undefined) return { seq: found.seq };
    if (!('text' in wanted)) return {};
    const meant = this.#index.nearestId(wanted.text);
    return meant === undefined || meant === wanted.text ? {} : { meant };
  }
}

function notesAt(
  { first, gaps, differs, closed, seq: last }: LoggedSession,
  seq: number,
  problem: string | undefined,
  isThere: boolean,
): string[] {
  const gap = gaps.find(({ from, to }) => from <= seq && seq <= to);
  return [
    ...(gap === undefined ? [] : [`Events ${gap.from} to ${gap.to} are not in the log.`]),
    ...(gap === undefined && !isThere ? ['This event is not in the log.'] : []),
    ...(first > 0 && seq === first ? [`The log begins after event ${first}.`] : []),
    ...(problem === undefined ? [] : [`This version cannot play the log: ${problem}`]),
    ...(differs !== undefined && differs <= seq
      ? [`This version decides otherwise than the log from event ${differs} on (see rollflex replay).`]
      : []),
    ...(closed !== undefined && seq === last
      ? [closed === 'stopped' ? 'The server was stopped after this.' : `The session was ${closed} after this.`]
      : []),
  ];
}
