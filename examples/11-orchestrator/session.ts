/**
 * A session on a server that may die at any moment. Events go in order, each is applied once; decisions come in order, each
 * is given once: events are numbered, and sent again until they are answered; decisions are acknowledged.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionLost, Wire } from './wire.ts';

/** A decision, as it comes over the wire. */
export type Decision = { readonly type: string } & Readonly<Record<string, unknown>>;
type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

const id = 'job';

/** What a session needs. */
export interface SessionOptions {
  readonly socket: string;
  /** Which life of the host this is: its events are numbered from 0. */
  readonly producer: string;
  /** `config`, or the `snapshot` of a checkpoint. */
  readonly start: { readonly config: object } | { readonly snapshot: object };
  readonly decided: (decision: Decision) => void;
  /** Told of what cannot go on: a call that was refused. */
  readonly failed: (error: unknown) => void;
}

export class Session {
  readonly #options: SessionOptions;
  #wire: Wire | undefined;
  #pending: Event[] = [];
  #sent = 0;
  #acknowledged = 0;
  #isSending = false;
  #isClosed = false;
  /** How often a connection was made again. */
  reconnects = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Opens the session anew, in the place of one that an earlier host had. */
  async open(): Promise<void> {
    const { start } = this.#options;
    await this.#connect({ ...start, onExisting: 'replace' });
  }

  /** Sends an event, as soon as those before it are answered; its time is the server's. */
  send(type: string, fields: object): void {
    this.#pending.push({ type, ...fields });
    if (!this.#isSending) void this.#pump();
  }

  /** The state of the policy, when all that was sent before is in it. */
  async snapshot(): Promise<object> {
    while (this.#isSending) await sleep(1);
    return (await this.#wire!.call('session.snapshot', { session: id })).snapshot as object;
  }

  /** Leaves the session where it is. */
  leave(): void {
    this.#isClosed = true;
    this.#wire?.close();
  }

  async #connect(open: object): Promise<void> {
    const wire = await Wire.open(this.#options.socket, (method, params) => {
      if (method === 'session.decision' && !this.#isClosed) this.#take(params);
    });
    this.#wire = wire;
    const how = { policy: 'tail-pipelining', deliver: 'stream', timers: 'server' };
    await wire.call('session.open', { session: id, ...how, ...open });
    await wire.call('session.subscribe', { session: id, after: this.#acknowledged });
  }

  #take({ decisionSeq, decision }: Readonly<Record<string, unknown>>): void {
    this.#options.decided(decision as Decision);
    this.#acknowledged = decisionSeq as number;
    // Lost with the connection, it comes with the next: `after` says the same.
    this.#wire!.call('session.ack', { session: id, decisionSeq }).catch(() => {});
  }

  async #pump(): Promise<void> {
    this.#isSending = true;
    while (this.#pending.length > 0 && !this.#isClosed) {
      const events = this.#pending.slice(0, 256);
      const { producer } = this.#options;
      try {
        await this.#wire!.call('session.send', { session: id, producer, firstSeq: this.#sent, events });
        this.#sent += events.length;
        this.#pending = this.#pending.slice(events.length);
      } catch (error) {
        if (!(error instanceof ConnectionLost)) return this.#options.failed(error);
        await this.#reconnect();
      }
    }
    this.#isSending = false;
  }

  async #reconnect(): Promise<void> {
    for (const until = performance.now() + 30_000; !this.#isClosed; await sleep(20)) {
      try {
        await this.#connect({ onExisting: 'attach' });
        this.reconnects += 1;
        return;
      } catch (error) {
        if (performance.now() > until) return this.#options.failed(error);
      }
    }
  }
}
