/** What goes out over a link: no more than the client reads. */
import type { Clock } from './clock.ts';
import type { ServerLimits } from './limits.ts';
import type { Link } from './link.ts';

/** The way out of one connection. */
export class Outflow {
  readonly #link: Link;
  readonly #limits: ServerLimits;
  readonly #clock: Clock;
  readonly #stalled: () => void;

  /** @param stalled - is called when the client has read nothing for too long; it closes the link */
  constructor(link: Link, host: { readonly limits: ServerLimits; readonly clock: Clock }, stalled: () => void) {
    this.#link = link;
    this.#limits = host.limits;
    this.#clock = host.clock;
    this.#stalled = stalled;
  }

  /** Whether more waits for the client than may; then wait for {@link Outflow.room} before the next message. */
  get full(): boolean {
    return this.#link.waiting > this.#limits.maxOutputBytes;
  }

  /** Sends a message. */
  write(text: string): void {
    this.#link.write(`${text}\n`);
  }

  /** Settles when the client has read, or was cut off because it did not. */
  async room(): Promise<void> {
    while (this.#link.waiting > 0) {
      const before = this.#link.waiting;
      if (await this.#drained()) return;
      if (this.#link.waiting >= before) return this.#stalled();
    }
  }

  /** False if that takes too long. */
  #drained(): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(this.#limits.stallSeconds, () => resolve(false));
      void this.#link.drained().then(() => {
        cancel();
        resolve(true);
      });
    });
  }
}
