/** Requests that have not reached the scheduler yet. */
import { Heap } from '../../../core/collections/heap.ts';
import type { Generation } from './generation.ts';

interface Arrival {
  readonly at: number;
  readonly generation: Generation;
}

/** Orders arrivals by time; at the same time by priority, then by id. */
function compare(a: Arrival, b: Arrival): number {
  const inTime = a.at - b.at || a.generation.priority - b.generation.priority;
  return inTime || (a.generation.id < b.generation.id ? -1 : Number(a.generation.id > b.generation.id));
}

/** Requests with the times at which they arrive. */
export class Arrivals {
  #heap = new Heap<Arrival>(compare);
  readonly #all = new Map<string, Arrival>();

  get size(): number {
    return this.#all.size;
  }

  *[Symbol.iterator](): Iterator<Generation> {
    for (const { generation } of this.#all.values()) yield generation;
  }

  push(generation: Generation, at: number): void {
    const arrival = { at, generation };
    this.#all.set(generation.id, arrival);
    this.#heap.push(arrival);
  }

  nextAt(): number {
    return this.#heap.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Returns how many requests have arrived by now. */
  dueBy(now: number): number {
    if (this.nextAt() > now) return 0;
    let due = 0;
    for (const { at } of this.#all.values()) if (at <= now) due += 1;
    return due;
  }

  /** Removes and returns the requests that have arrived by now, in order. */
  takeDue(now: number): Arrival[] {
    const due: Arrival[] = [];
    while (this.nextAt() <= now) {
      const arrival = this.#heap.pop()!;
      this.#all.delete(arrival.generation.id);
      due.push(arrival);
    }
    return due;
  }

  /** Removes and returns the requests that match. */
  take(matches: (generation: Generation) => boolean): Generation[] {
    const taken = [...this].filter(matches);
    if (taken.length === 0) return taken;
    for (const { id } of taken) this.#all.delete(id);
    this.#heap = new Heap<Arrival>(compare);
    for (const arrival of this.#all.values()) this.#heap.push(arrival);
    return taken;
  }

  takeAll(): Generation[] {
    return this.take(() => true);
  }
}
