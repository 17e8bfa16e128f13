/**
 * Hears the sessions of a server for a dashboard. At an event it only keeps where the event is; all else is done later, in slices that
 * take a small part of the time, however much a job does. What is too much is left out, and said.
 */

import { type Clock, systemClock } from '../../core/machine/clock.ts';
import type { AnyDecision, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import type { LooseEvent } from '../../core/machine/start.ts';
import { JobView } from '../../logs/job/job-view.ts';
import type { DecisionLog, LoggedSession } from '../../logs/write/decision-log.ts';
import { type FeedHost, SessionFeed } from './session-feed.ts';

/** Most events that wait to be followed, in all sessions together; and most sessions that are followed at once. */
export const feedLimits = { events: 4096, sessions: 32 };
/** Seconds from one slice to the next, and of a slice: 0.5 % of the time, and 2 % while somebody looks. */
const pace = { unwatched: { every: 0.2, slice: 0.001 }, watched: { every: 0.05, slice: 0.001 } };
/** Seconds for which somebody is taken to look, after a question. */
const attention = 5;
/** Events that are followed between two looks at the clock. */
const eventsPerLook = 16;

export class Feed implements DecisionLog, FeedHost {
  readonly #clock: Clock;
  readonly #feeds = new WeakMap<LoggedSession, SessionFeed>();
  readonly #followed = new Set<SessionFeed>();
  /** What waits, three places for each event: its session, the event, and what it led to; for a gap the number of events. */
  #waiting: unknown[] = [];
  #next = 0;
  /** Whether too much waits: then nothing is taken until all of it is followed, so that gaps are few. */
  #isFull = false;
  #cancel: (() => void) | undefined;
  #watchedUntil = 0;
  #runs = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  of(session: LoggedSession): SessionFeed {
    const made = new SessionFeed((this.#runs += 1), session, this);
    this.#feeds.set(session, made);
    return made;
  }

  /** Returns what was heard of a session. */
  heard(session: LoggedSession): SessionFeed | undefined {
    return this.#feeds.get(session);
  }

  now(): number {
    return this.#clock.now();
  }

  take(session: SessionFeed, event: LooseEvent, decisions: readonly AnyDecision[]): void {
    if (session.view === undefined && !this.#begin(session, 1)) return;
    if (this.#isFull) {
      session.lost += 1;
      return;
    }
    const waiting = this.#waiting;
    if (session.lost > 0) {
      waiting.push(session, session.lost, undefined);
      session.lost = 0;
    }
    waiting.push(session, event, decisions);
    if (waiting.length >= 3 * feedLimits.events) this.#isFull = true;
    if (this.#cancel === undefined) this.#later();
  }

  /** Says that somebody looks, and at which session, which is followed from now on at the latest. */
  watched(session?: SessionFeed): void {
    this.#watchedUntil = this.#clock.now() + attention;
    if (session === undefined || session.isClosed) return;
    if (session.view === undefined) {
      const [oldest] = this.#followed;
      if (this.#followed.size >= feedLimits.sessions && oldest !== undefined) this.release(oldest);
      this.#begin(session, 0);
    } else if (this.#followed.delete(session)) this.#followed.add(session);
  }

  release(session: SessionFeed): void {
    this.#followed.delete(session);
    session.view = undefined;
    session.lost = 0;
  }

  close(): void {
    this.#cancel?.();
    this.#waiting = [];
  }

  /** @param taken - events of the session that are about to be taken */
  #begin(session: SessionFeed, taken: number): boolean {
    if (this.#followed.size >= feedLimits.sessions) return false;
    this.#followed.add(session);
    const { policy } = session.session as LoggedSession & { readonly policy: { definition: AnyPolicyDefinition } };
    session.view = new JobView(policy.definition);
    session.earlier = policy.seq - taken;
    return true;
  }

  #later(): void {
    const { every } = this.#pace;
    this.#cancel = this.#clock.after(every, () => this.#slice());
  }

  get #pace() {
    return this.#clock.now() < this.#watchedUntil ? pace.watched : pace.unwatched;
  }

  #slice(): void {
    const begun = performance.now();
    const most = this.#pace.slice * 1000;
    const waiting = this.#waiting;
    const now = this.#clock.now();
    let next = this.#next;
    do {
      const end = Math.min(waiting.length, next + 3 * eventsPerLook);
      for (; next < end; next += 3) {
        const session = waiting[next] as SessionFeed;
        const event = waiting[next + 1] as LooseEvent | number;
        if (typeof event === 'number') session.view?.miss(event);
        else session.view?.follow(event, waiting[next + 2] as readonly AnyDecision[]);
        session.heardAt = now;
      }
    } while (next < waiting.length && performance.now() - begun < most);
    this.#cancel = undefined;
    if (next < waiting.length) {
      // What was followed is let go.
      waiting.fill(undefined, this.#next, next);
      this.#next = next;
      this.#later();
      return;
    }
    this.#waiting = [];
    this.#next = 0;
    this.#isFull = false;
  }
}
