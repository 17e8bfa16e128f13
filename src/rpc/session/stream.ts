/** Streamed decisions: a backlog that subscribers read at their own speed and acknowledge. */
import type { AnyDecision } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import { exceeded } from '../methods/refusals.ts';

/** Receives a call when a stream has something to read. */
export interface Reader {
  /** Called when a stream has new decisions. */
  wake(stream: DecisionStream): void;
}

/** A connection's subscription to a session. */
export interface Subscription {
  readonly reader: Reader;
  readonly types: ReadonlySet<string> | undefined;
  /** Number up to which all wanted decisions have been sent. */
  given: number;
  /** Number of the last decision sent. */
  sent: number;
  acknowledged: number;
}

/** A decision with its number. */
export interface Numbered {
  readonly decisionSeq: number;
  readonly decision: AnyDecision;
}

/** A stream in its stored form. Subscribers are not stored: they must subscribe again. */
export interface SavedStream {
  readonly acknowledged: number;
  readonly backlog: readonly AnyDecision[];
}

/** The unacknowledged decisions of one session, and their subscribers. */
export class DecisionStream {
  readonly #most: number;
  readonly #mostReaders: number;
  readonly #forgot: (upTo: number) => void;
  /** Decisions after `#forgotten`, from index `#head` on. */
  #backlog: AnyDecision[] = [];
  #head = 0;
  #forgotten = 0;
  readonly #subscriptions = new Map<Reader, Subscription>();

  /** @param forgot - called with the number up to which decisions are acknowledged by all subscribers */
  constructor(
    limits: { readonly maxBacklog: number; readonly maxSubscriptions: number },
    forgot: (upTo: number) => void = () => undefined,
    saved?: SavedStream,
  ) {
    this.#most = limits.maxBacklog;
    this.#mostReaders = limits.maxSubscriptions;
    this.#forgot = forgot;
    this.#forgotten = saved?.acknowledged ?? 0;
    this.#backlog = [...(saved?.backlog ?? [])];
  }

  save(): SavedStream {
    return { acknowledged: this.#forgotten, backlog: this.#backlog.slice(this.#head) };
  }

  /** Number of the last decision. */
  get last(): number {
    return this.#forgotten + this.size;
  }

  /** Number up to which all decisions are acknowledged. */
  get acknowledged(): number {
    return this.#forgotten;
  }

  /** Number of unacknowledged decisions. */
  get size(): number {
    return this.#backlog.length - this.#head;
  }

  get full(): boolean {
    return this.size >= this.#most;
  }

  get readers(): Iterable<Reader> {
    return this.#subscriptions.keys();
  }

  /** Refuses with `limit_exceeded` while the backlog is full. */
  assertRoom(): void {
    if (!this.full) return;
    exceeded('maxBacklog', 'backlog', `fewer than ${this.#most} decisions that nobody has acknowledged`, this.size);
  }

  push(decisions: readonly AnyDecision[]): void {
    if (decisions.length === 0) return;
    for (const one of decisions) this.#backlog.push(one);
    for (const { reader } of this.#subscriptions.values()) reader.wake(this);
  }

  /** Throws `out_of_order` for a number that is forgotten or does not exist yet; `limit_exceeded`. */
  subscribe(reader: Reader, after = this.#forgotten, types?: readonly string[]): Subscription {
    this.#assertKnown(after, 'after');
    if (!this.#subscriptions.has(reader) && this.#subscriptions.size >= this.#mostReaders) {
      const expected = `at most ${this.#mostReaders} subscriptions of a session`;
      exceeded('maxSubscriptions', 'session', expected, this.#subscriptions.size + 1);
    }
    const wanted = types === undefined ? undefined : new Set(types);
    const subscription = { reader, types: wanted, given: after, sent: after, acknowledged: after };
    this.#subscriptions.set(reader, subscription);
    this.#forget();
    return subscription;
  }

  /** Removes a subscriber. Decisions that it has not acknowledged stay until another subscriber acknowledges them. */
  unsubscribe(reader: Reader): boolean {
    return this.#subscriptions.delete(reader);
  }

  subscriptionOf(reader: Reader): Subscription | undefined {
    return this.#subscriptions.get(reader);
  }

  /** Throws `out_of_order` for a number that was not sent yet; `unknown_id` without a subscription. */
  ack(reader: Reader, decisionSeq: number): void {
    const subscription = this.#subscriptions.get(reader);
    if (subscription === undefined) {
      refuse('unknown_id', 'session', 'a session that this connection has subscribed to', 'no subscription');
    }
    // Decisions that all subscribers have acknowledged may be acknowledged again, even by a subscriber that wanted none of them.
    const most = Math.max(subscription.sent, this.#forgotten);
    if (decisionSeq > subscription.sent) this.#assertKnown(decisionSeq, 'decisionSeq', most);
    subscription.acknowledged = Math.max(subscription.acknowledged, decisionSeq);
    this.#forget();
  }

  /** Returns the next decision that a subscriber wants, up to a number; nothing if there is none. */
  next(subscription: Subscription, upTo = this.last): Numbered | undefined {
    while (subscription.given < upTo) {
      subscription.given += 1;
      const decision = this.#backlog[this.#head + subscription.given - this.#forgotten - 1]!;
      if (subscription.types !== undefined && !subscription.types.has(decision.type)) continue;
      subscription.sent = subscription.given;
      return { decisionSeq: subscription.given, decision };
    }
    this.#forget();
    return undefined;
  }

  #assertKnown(decisionSeq: number, path: string, most = this.last): void {
    if (decisionSeq >= this.#forgotten && decisionSeq <= most) return;
    refuse('out_of_order', path, `a number from ${this.#forgotten} to ${most}`, decisionSeq);
  }

  /** Forgets decisions that every subscriber has acknowledged, including unwanted ones after its last acknowledged decision. */
  #forget(): void {
    if (this.#subscriptions.size === 0) return;
    let least = Number.POSITIVE_INFINITY;
    for (const { acknowledged, sent, given } of this.#subscriptions.values()) {
      least = Math.min(least, acknowledged >= sent ? given : acknowledged);
    }
    if (least <= this.#forgotten) return;
    this.forget(least);
    this.#forgot(least);
  }

  /** Forgets the decisions up to a number. */
  forget(upTo: number): void {
    this.#head += upTo - this.#forgotten;
    this.#forgotten = upTo;
    // Copying at every step would be slow, and copying much later would waste memory.
    if (this.#head * 2 < this.#backlog.length) return;
    this.#backlog = this.#backlog.slice(this.#head);
    this.#head = 0;
  }
}
