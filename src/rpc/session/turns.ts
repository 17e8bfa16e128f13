/**
 * Turns: a long call, batch or connection pauses after a slice of time. It continues when earlier paused work, and input that has
 * come meanwhile, had their turn.
 */

import { Fifo } from '../../core/collections/fifo.ts';
import type { Clock } from '../../core/machine/clock.ts';

const sliceSeconds = 0.004;

/** The turns of one server. Calls that have just arrived go first; paused ones continue in the order of their pauses. */
export class Turns {
  readonly #clock: Clock;
  #begun = 0;
  readonly #paused = new Fifo<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins a slice, for input that has just arrived. */
  begin(): void {
    this.#begun = this.#clock.now();
  }

  /** Whether the slice is used up; wait for {@link Turns.next} then. */
  get isOver(): boolean {
    const took = this.#clock.now() - this.#begun;
    // The system's clock may be set back.
    return took >= sliceSeconds || took < 0;
  }

  /** Resolves at the next turn of the caller, with a new slice. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#paused.push(resolve);
      if (this.#paused.size === 1) this.#clock.soon(this.#goOn);
    });
  }

  /** Lets all that has paused go on at once, because the server is closed: each finds that out. */
  close(): void {
    for (let next = this.#paused.shift(); next !== undefined; next = this.#paused.shift()) next();
  }

  readonly #goOn = (): void => {
    this.begin();
    this.#paused.shift()?.();
    // Only one continues at a time, so that input is read in between.
    if (this.#paused.size > 0) this.#clock.soon(this.#goOn);
  };
}
