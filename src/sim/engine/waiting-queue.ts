/** The sequences that wait for a place in the batch. */
import { Fifo } from '../../core/fifo.ts';
import type { Sequence } from './batch.ts';

/**
 * First come, first served; those that were in the batch before stand in front, the last one put there first. A
 * sequence that is gone is dropped when it comes to the front.
 */
export class WaitingQueue {
  readonly #front: Sequence[] = [];
  readonly #arrived = new Fifo<Sequence>();

  pushBack(sequence: Sequence): void {
    this.#arrived.push(sequence);
  }

  pushFront(sequence: Sequence): void {
    this.#front.push(sequence);
  }

  /** The first that still waits; `undefined` when none does. */
  first(): Sequence | undefined {
    const front = this.#front;
    while (front.length > 0 && front[front.length - 1]!.place === 'gone') front.pop();
    if (front.length > 0) return front[front.length - 1];
    while (this.#arrived.peek()?.place === 'gone') this.#arrived.shift();
    return this.#arrived.peek();
  }

  /** Takes the first out. */
  shift(): Sequence | undefined {
    const first = this.first();
    if (this.#front.length > 0) this.#front.pop();
    else this.#arrived.shift();
    return first;
  }
}
