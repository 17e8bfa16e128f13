/** The subscriptions of a caller, and the streams with new decisions. */
import type { Session } from '../session/session.ts';
import type { SessionReader } from '../session/sessions.ts';
import type { DecisionStream } from '../session/stream.ts';

/** Subscriptions of one caller. */
export class Subscriptions {
  readonly #reader: SessionReader;
  readonly #subscribed = new Map<DecisionStream, Session>();
  readonly #ready = new Set<DecisionStream>();
  /** Streams whose subscription is not answered yet; they are not read before that. */
  readonly #unanswered = new Set<DecisionStream>();

  constructor(reader: SessionReader) {
    this.#reader = reader;
  }

  subscribe(session: Session, after: number | undefined, types: readonly string[] | undefined): void {
    session.stream.subscribe(this.#reader, after, types);
    this.#subscribed.set(session.stream, session);
    this.#ready.delete(session.stream);
    this.#unanswered.add(session.stream);
  }

  /** All subscriptions so far are answered, so their backlogs may be read. */
  answered(): void {
    for (const stream of this.#unanswered) this.#ready.add(stream);
    this.#unanswered.clear();
  }

  unsubscribe(session: Session): void {
    session.stream.unsubscribe(this.#reader);
    this.#subscribed.delete(session.stream);
    this.#ready.delete(session.stream);
    this.#unanswered.delete(session.stream);
  }

  /** Records that a stream has decisions to read. */
  wake(stream: DecisionStream): void {
    if (!this.#unanswered.has(stream)) this.#ready.add(stream);
  }

  /** Whether decisions wait to be read. */
  get isReady(): boolean {
    return this.#ready.size > 0;
  }

  /** Removes all subscriptions. */
  close(): void {
    for (const stream of this.#subscribed.keys()) stream.unsubscribe(this.#reader);
    this.#subscribed.clear();
    this.#ready.clear();
    this.#unanswered.clear();
  }

  /** Yields the parameters of `session.decision` for each decision that waits now, but not for decisions that come meanwhile. */
  *read(): Generator<object> {
    const ready = [...this.#ready].map((stream) => ({ stream, upTo: stream.last }));
    this.#ready.clear();
    for (const { stream, upTo } of ready) {
      const session = this.#subscribed.get(stream);
      const subscription = stream.subscriptionOf(this.#reader);
      if (session === undefined || subscription === undefined) continue;
      for (let one = stream.next(subscription, upTo); one !== undefined; one = stream.next(subscription, upTo)) {
        yield { session: session.id, ...one };
        // In the meantime the session may have been closed or replaced, or there may be a new subscription from another number.
        if (stream.subscriptionOf(this.#reader) !== subscription) break;
      }
    }
  }
}
