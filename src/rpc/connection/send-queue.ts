/**
 * Queue of messages to a link. A message is sent once the steps that it reports are on disk. When the queue is full, callers wait
 * until the client has read.
 */

import { Fifo } from '../../core/collections/fifo.ts';
import type { Clock } from '../../core/machine/clock.ts';
import type { ServerLimits } from '../methods/limits.ts';
import type { Link } from './link.ts';
import type { Outputs } from './outputs.ts';

/** State of the journal: a message waits until the steps in it are on disk. */
export interface Durability {
  /** Resolves when all steps until now are stored, and rejects if they cannot be stored; undefined if all are stored already. */
  readonly settled: Promise<void> | undefined;
  /** Whether so many steps wait to be stored that no more calls should be accepted. */
  readonly behind: boolean;
}

/** State for a server without a state directory. */
export const notDurable: Durability = Object.freeze({ settled: undefined, behind: false });

/** A server from the point of view of its send queues. */
export interface SendQueueHost {
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly durability: Durability;
  readonly outputs: Outputs;
}

/** Outgoing messages of one connection. */
export class SendQueue {
  readonly #link: Link;
  readonly #host: SendQueueHost;
  readonly #lost: () => void;
  /** Messages, each with the journal write that it waits for. */
  readonly #held = new Fifo<{ readonly text: string; readonly stored: Promise<void> | undefined }>();
  #heldCharacters = 0;
  #closed = false;
  #releasing: Promise<void> | undefined;
  /** Functions that end waits for the client. */
  readonly #waits = new Set<() => void>();

  /** @param lost - called when the client has read nothing for too long, or when no step can be stored; closes the link */
  constructor(link: Link, host: SendQueueHost, lost: () => void) {
    this.#link = link;
    this.#host = host;
    this.#lost = lost;
  }

  /** Bytes that wait for the client. */
  get bytes(): number {
    return this.#link.waiting + this.#heldCharacters;
  }

  /** Subtracts the queue from the bytes of all clients, and ends waits for room; the transport does the rest. */
  close(): void {
    this.#closed = true;
    for (const end of this.#waits) end();
    this.#host.outputs.leave(this);
  }

  /** Whether the queue is over its limit. If so, wait for {@link SendQueue.room} before the next call. */
  get full(): boolean {
    const { limits, outputs, durability } = this.#host;
    if (this.#closed) return false;
    return this.bytes > limits.maxOutputBytes || outputs.isTooMuch(this) || durability.behind;
  }

  /** Sends a message once the steps in it are stored. */
  write(text: string): void {
    const stored = this.#host.durability.settled;
    if (stored === undefined && this.#held.size === 0) return this.#link.write(`${text}\n`);
    this.#held.push({ text, stored });
    this.#heldCharacters += text.length;
    this.#releasing ??= this.#release();
  }

  /** Resolves when all messages have been passed to the link. */
  async released(): Promise<void> {
    await this.#releasing;
  }

  /** Resolves when there is room again, or when the connection is closed, also because the client did not read. */
  async room(): Promise<void> {
    await this.released();
    if (this.#host.durability.behind) await this.#host.durability.settled?.catch(this.#lost);
    while (!this.#closed && this.#link.waiting > 0) {
      const before = this.#link.waiting;
      if (await this.#drained()) return;
      if (this.#link.waiting >= before) return this.#lost();
    }
  }

  async #release(): Promise<void> {
    try {
      for (let next = this.#held.peek(); next !== undefined; next = this.#held.peek()) {
        await next.stored;
        this.#held.shift();
        this.#heldCharacters -= next.text.length;
        this.#link.write(`${next.text}\n`);
      }
    } catch {
      this.#held.clear();
      this.#heldCharacters = 0;
      this.#lost();
    }
    this.#releasing = undefined;
  }

  /** Waits until the link drains; resolves to false if this takes too long. */
  #drained(): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (isInTime: boolean): void => {
        cancel();
        this.#waits.delete(end);
        resolve(isInTime);
      };
      const end = (): void => done(true);
      const cancel = this.#host.clock.after(this.#host.limits.stallSeconds, () => done(false));
      this.#waits.add(end);
      void this.#link.drained().then(end);
    });
  }
}
