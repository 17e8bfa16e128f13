/** Events at simulated times that no engine brings about by itself. */
import { Heap } from '../../core/heap.ts';

interface Entry {
  readonly at: number;
  readonly number: number;
  readonly run: () => void;
  cancelled: boolean;
}

/** Actions in the order of their times, and then in the order in which they were added. */
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

  /** Returns the time of the next action; `Infinity` if there is none. */
  nextAt(): number {
    while (this.#entries.peek()?.cancelled) this.#entries.pop();
    return this.#entries.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Runs every action that is due, those added meanwhile included. */
  runDue(now: number): void {
    while (this.nextAt() <= now) this.#entries.pop()!.run();
  }
}
