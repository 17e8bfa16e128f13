/** Wake-ups that the policy asked for by `timer.set`. */
import { IndexedHeap } from '../../core/collections/heap.ts';

interface Timer {
  readonly timerId: string;
  readonly seq: number;
  fireAtSeconds: number;
  heapIndex: number;
}

/** Timers ordered by time; a new timer replaces an earlier one with the same id. */
export class Timers {
  readonly #byId = new Map<string, Timer>();
  readonly #byTime = new IndexedHeap<Timer>((a, b) => a.fireAtSeconds - b.fireAtSeconds || a.seq - b.seq);
  #seq = 0;

  set(timerId: string, fireAtSeconds: number): void {
    const timer = this.#byId.get(timerId) ?? { timerId, seq: this.#seq++, fireAtSeconds, heapIndex: -1 };
    timer.fireAtSeconds = fireAtSeconds;
    this.#byId.set(timerId, timer);
    this.#byTime.update(timer);
  }

  remove(timerId: string): void {
    const timer = this.#byId.get(timerId);
    if (timer === undefined) return;
    this.#byTime.remove(timer);
    this.#byId.delete(timerId);
  }

  /** Returns the time of the next timer; `Infinity` without timers. */
  nextAt(): number {
    return this.#byTime.peek()?.fireAtSeconds ?? Infinity;
  }

  /** Removes the next timer if it has run out by this time, and returns its id. */
  take(at: number): string | undefined {
    const timer = this.#byTime.peek();
    if (timer === undefined || timer.fireAtSeconds > at) return undefined;
    this.remove(timer.timerId);
    return timer.timerId;
  }
}
