/** A clock that the host drives, since the engine has no timers. */

import { IndexedHeap } from '../core/collections/heap.ts';
import type { Clock } from '../core/machine/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
  heapIndex: number;
}

/** A clock that fires timers only in `wind`. Times are Unix seconds. */
export class HostClock implements Clock {
  readonly #timers = new IndexedHeap<Timer>((a, b) => a.at - b.at || a.order - b.order);
  #order = 0;

  now(): number {
    return Date.now() / 1000;
  }

  after(seconds: number, callback: () => void): () => void {
    const timer = { at: this.now() + seconds, order: this.#order++, callback, heapIndex: -1 };
    this.#timers.update(timer);
    return () => this.#timers.remove(timer);
  }

  /** Calls back at once, because calls never overlap here. */
  soon(callback: () => void): void {
    callback();
  }

  /** Unix time of the next timer, if there is one. */
  get next(): number | undefined {
    return this.#timers.peek()?.at;
  }

  /** Calls the callbacks of due timers. */
  wind(): void {
    const now = this.now();
    for (let one = this.#timers.peek(); one !== undefined && one.at <= now; one = this.#timers.peek()) {
      this.#timers.remove(one);
      one.callback();
    }
  }
}
