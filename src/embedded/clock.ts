/** A clock that its host winds: the engine has no timers of its own. */
import { IndexedHeap } from '../core/heap.ts';
import type { Clock } from '../rpc/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
  heapIndex: number;
}

/** Times are Unix seconds. */
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

  /** Unix time at which the next timer is due, if there is one. */
  get next(): number | undefined {
    return this.#timers.peek()?.at;
  }

  /** Calls back the timers that are due. */
  wind(): void {
    const now = this.now();
    for (let one = this.#timers.peek(); one !== undefined && one.at <= now; one = this.#timers.peek()) {
      this.#timers.remove(one);
      one.callback();
    }
  }
}
