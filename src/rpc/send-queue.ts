/** Queue of messages to a link: none goes out before its steps are on disk, and no more than the client reads. */
import { Fifo } from '../core/fifo.ts';
import type { Clock } from './clock.ts';
import type { ServerLimits } from './limits.ts';
import type { Link } from './link.ts';

/** State of the journal: a message that tells of steps waits until they are on disk. */
export interface Durability {
  /** Settles when everything that was done until now is kept, and rejects where it cannot be; nothing if it is. */
  readonly settled: Promise<void> | undefined;
  /** Whether so much waits to be kept that no more should be done. */
  readonly behind: boolean;
}

/** Of a server without a state directory. */
export const nothingKept: Durability = Object.freeze({ settled: undefined, behind: false });

/** Interface of the server to its send queues. */
export interface SendQueueHost {
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly durability: Durability;
}

/** The way out of one connection. */
export class SendQueue {
  readonly #link: Link;
  readonly #host: SendQueueHost;
  readonly #lost: () => void;
  /** Messages, each with what it waits for. */
  readonly #held = new Fifo<{ readonly text: string; readonly kept: Promise<void> | undefined }>();
  #heldCharacters = 0;
  #releasing: Promise<void> | undefined;

  /** @param lost - is called when the client has read nothing for too long, or nothing can be kept; it closes the link */
  constructor(link: Link, host: SendQueueHost, lost: () => void) {
    this.#link = link;
    this.#host = host;
    this.#lost = lost;
  }

  /** Whether more waits than may; then wait for {@link SendQueue.room} before anything else is done. */
  get full(): boolean {
    return this.#link.waiting + this.#heldCharacters > this.#host.limits.maxOutputBytes || this.#host.durability.behind;
  }

  /** Sends a message, once what it tells of is kept. */
  write(text: string): void {
    const kept = this.#host.durability.settled;
    if (kept === undefined && this.#held.size === 0) return this.#link.write(`${text}\n`);
    this.#held.push({ text, kept });
    this.#heldCharacters += text.length;
    this.#releasing ??= this.#release();
  }

  /** Settles when everything that was written has gone to the link. */
  async released(): Promise<void> {
    await this.#releasing;
  }

  /** Settles when there is room again, or when the client was cut off because it did not read. */
  async room(): Promise<void> {
    await this.released();
    if (this.#host.durability.behind) await this.#host.durability.settled?.catch(this.#lost);
    while (this.#link.waiting > 0) {
      const before = this.#link.waiting;
      if (await this.#drained()) return;
      if (this.#link.waiting >= before) return this.#lost();
    }
  }

  async #release(): Promise<void> {
    try {
      for (let next = this.#held.peek(); next !== undefined; next = this.#held.peek()) {
        await next.kept;
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

  /** False if that takes too long. */
  #drained(): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#host.clock.after(this.#host.limits.stallSeconds, () => resolve(false));
      void this.#link.drained().then(() => {
        cancel();
        resolve(true);
      });
    });
  }
}
