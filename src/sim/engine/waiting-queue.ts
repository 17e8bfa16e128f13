/** Waiting queues: the sequences that wait for room in the batch. */
import { Fifo } from '../../core/collections/fifo.ts';
import { IndexedHeap } from '../../core/collections/heap.ts';
import type { Sequence } from './batch.ts';

/** A waiting queue, which chooses the next sequence. A sequence that has left is dropped when it reaches the front. */
export interface Waiting {
  /** Whether a new sequence goes behind all others, so that nothing changes for them. */
  readonly arrivalsGoLast: boolean;
  pushBack(sequence: Sequence): void;
  /** Adds a sequence that comes from the batch. */
  pushFront(sequence: Sequence): void;
  /** Returns the first waiting sequence; `undefined` for an empty queue. */
  first(): Sequence | undefined;
  /** Removes and returns the first sequence. */
  shift(): Sequence | undefined;
  /** Removes the sequence that was last added to the front. */
  takeBack(sequence: Sequence): void;
}

/** Orders sequences by priority, lower first, then by arrival; a preempted sequence keeps its arrival. */
export function byPriority(a: Sequence, b: Sequence): number {
  return (a.request.priority ?? 0) - (b.request.priority ?? 0) || a.arrival - b.arrival;
}

/** A waiting queue by priority. */
export class PriorityQueue implements Waiting {
  readonly arrivalsGoLast = false;
  readonly #heap = new IndexedHeap<Sequence>(byPriority);

  pushBack(sequence: Sequence): void {
    this.#heap.update(sequence);
  }

  pushFront(sequence: Sequence): void {
    this.#heap.update(sequence);
  }

  first(): Sequence | undefined {
    for (let first = this.#heap.peek(); first?.status === 'gone'; first = this.#heap.peek()) this.#heap.remove(first);
    return this.#heap.peek();
  }

  shift(): Sequence | undefined {
    const first = this.first();
    if (first !== undefined) this.#heap.remove(first);
    return first;
  }

  takeBack(sequence: Sequence): void {
    this.#heap.remove(sequence);
  }
}

/**
 * First come, first served. Preempted sequences are in front, the last preempted one first. A sequence that has left is dropped
 * when it reaches the front.
 */
export class WaitingQueue implements Waiting {
  readonly arrivalsGoLast = true;
  readonly #front: Sequence[] = [];
  readonly #arrived = new Fifo<Sequence>();

  pushBack(sequence: Sequence): void {
    this.#arrived.push(sequence);
  }

  pushFront(sequence: Sequence): void {
    this.#front.push(sequence);
  }

  /** Returns the first waiting sequence; `undefined` for an empty queue. */
  first(): Sequence | undefined {
    const front = this.#front;
    while (front.length > 0 && front[front.length - 1]!.status === 'gone') front.pop();
    if (front.length > 0) return front[front.length - 1];
    while (this.#arrived.peek()?.status === 'gone') this.#arrived.shift();
    return this.#arrived.peek();
  }

  /** Removes and returns the first sequence. */
  shift(): Sequence | undefined {
    const first = this.first();
    if (this.#front.length > 0) this.#front.pop();
    else this.#arrived.shift();
    return first;
  }

  takeBack(): void {
    this.shift();
  }
}
