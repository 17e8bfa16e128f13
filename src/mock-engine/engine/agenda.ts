/** Events at simulated times that are not part of an engine's own work. */
import { Heap } from '../../core/collections/heap.ts';

interface Entry {
  readonly at: number;
  readonly number: number;
  readonly run: () => void;
  cancelled: boolean;
}

/** Actions ordered by time; at the same time, by the order of adding. */
export class Agenda {
  readonly #entries = new Heap<Entry>((a, b) => a.at - b.at || a.number - b.number);
  #count = 0;

  /** Adds an action, and returns a function that cancels it. */
  at(at: number, run: () => void): () => void {
    const entry: Entry = { at, number: this.#count++, run, cancelled: false };
    this.#entries.push(entry);
    return () => {
      entry.cancelled = true;
    };
  }

  /** Returns the time of the next action; `Infinity` without actions. */
  nextAt(): number {
    while (this.#entries.peek()?.cancelled) this.#entries.pop();
    return this.#entries.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Runs every due action, including actions that are added meanwhile. */
  runDue(now: number): void {
    while (this.nextAt() <= now) this.#entries.pop()!.run();
  }
}
