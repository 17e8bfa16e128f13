/** The one caller of a server that runs inside its process: it reads what is streamed when it asks for it. */
import type { Caller } from '../rpc/caller.ts';
import type { Session } from '../rpc/session.ts';
import type { DecisionStream } from '../rpc/stream.ts';
import { Subscriptions } from '../rpc/subscriptions.ts';

/** Sessions that it has subscribed to, and what there is to read of them. */
export class EmbeddedCaller implements Caller {
  readonly #subscriptions = new Subscriptions(this);
  #closed: string[] = [];

  subscribe(session: Session, after: number | undefined, types: readonly string[] | undefined): void {
    this.#subscriptions.subscribe(session, after, types);
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

  /** Whether there is something to read. */
  get isReady(): boolean {
    return this.#subscriptions.isReady || this.#closed.length > 0;
  }

  /** Returns the notifications that wait. */
  read(): string[] {
    const lines: string[] = [];
    for (const decision of this.#subscriptions.read()) lines.push(notification('session.decision', decision));
    lines.push(...this.#closed);
    this.#closed = [];
    return lines;
  }
}

const notification = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', method, params });
