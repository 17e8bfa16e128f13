/** The only caller of a server inside its own process; it reads streamed decisions when asked to. */
import type { Caller } from '../rpc/connection/caller.ts';
import { Subscriptions } from '../rpc/connection/subscriptions.ts';
import type { Session } from '../rpc/session/session.ts';
import type { DecisionStream } from '../rpc/session/stream.ts';

/** The caller, with its subscriptions and its unread notifications. */
export class EmbeddedCaller implements Caller {
  readonly #subscriptions = new Subscriptions(this);
  #closed: string[] = [];

  subscribe(session: Session, after: number | undefined, types: readonly string[] | undefined): void {
    this.#subscriptions.subscribe(session, after, types);
    // The caller reads only when it is asked to.
    this.#subscriptions.answered();
  }

  unsubscribe(session: Session): void {
    this.#subscriptions.unsubscribe(session);
  }

  wake(stream: DecisionStream): void {
    this.#subscriptions.wake(stream);
  }

  closed(session: Session, reason: 'closed' | 'replaced'): void {
    this.unsubscribe(session);
    this.#closed.push(notification('session.closed', { session: session.id, reason }));
  }

  /** Whether unread notifications exist. */
  get isReady(): boolean {
    return this.#subscriptions.isReady || this.#closed.length > 0;
  }

  /** Returns the unread notifications. */
  read(): string[] {
    const lines: string[] = [];
    for (const decision of this.#subscriptions.read()) lines.push(notification('session.decision', decision));
    lines.push(...this.#closed);
    this.#closed = [];
    return lines;
  }
}

const notification = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', method, params });
