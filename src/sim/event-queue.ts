/**
 * The queue of a discrete-event simulation.
 *
 * Events come out by time, then by class, then in the order in which they were put in. The class settles what happens
 * first at one moment, so that a result never depends on who asked for its event first.
 */
import { Heap } from '../core/heap.ts';
import { PolicyError } from '../errors.ts';

/**
 * What comes first at one moment: what the world has done before what was planned for then. Generation (an engine
 * reaches a boundary), then rewards, then training and weight sync, then timers of policies, so that a timer that runs
 * out with the response it waited for sees that response.
 */
export const eventClasses = ['engine', 'reward', 'trainer', 'timer'] as const;

/** One of {@link eventClasses}. */
export type EventClass = (typeof eventClasses)[number];

/** An event in the queue. */
export interface QueuedEvent<T> {
  /** When it happens, in seconds. */
  readonly at: number;
  readonly class: EventClass;
  readonly value: T;
}

interface Entry<T> extends QueuedEvent<T> {
  readonly rank: number;
  readonly sequence: number;
  isWaiting: boolean;
}

/** Events that are to happen. Putting one in or taking one out costs O(log n), cancelling one O(1). */
export class EventQueue<T> {
  readonly #entries = new Heap<Entry<T>>((a, b) => a.at - b.at || a.rank - b.rank || a.sequence - b.sequence);
  #sequence = 0;
  #size = 0;

  /** How many events are to happen. */
  get size(): number {
    return this.#size;
  }

  /**
   * Puts an event in and gives it back, to cancel it by.
   *
   * @throws PolicyError `invalid_input` for a time that is not a finite number
   */
  push(at: number, eventClass: EventClass, value: T): QueuedEvent<T> {
    if (!Number.isFinite(at)) {
      throw new PolicyError('invalid_input', { expected: 'finite seconds', got: at, path: 'at' });
    }
    const rank = eventClasses.indexOf(eventClass);
    const entry = { at, class: eventClass, value, rank, sequence: this.#sequence++, isWaiting: true };
    this.#entries.push(entry);
    this.#size += 1;
    return entry;
  }

  /** Takes an event back; nothing happens if it was taken out or cancelled before. */
  cancel(event: QueuedEvent<T>): void {
    const entry = event as Entry<T>;
    if (!entry.isWaiting) return;
    entry.isWaiting = false;
    this.#size -= 1;
  }

  /** The next event, which stays in; `undefined` when there is none. */
  peek(): QueuedEvent<T> | undefined {
    return this.#first();
  }

  /** Takes the next event out; `undefined` when there is none. */
  pop(): QueuedEvent<T> | undefined {
    const first = this.#first();
    if (first === undefined) return undefined;
    this.#entries.pop();
    first.isWaiting = false;
    this.#size -= 1;
    return first;
  }

  /** When the next event happens, in seconds; `Infinity` when there is none. */
  nextAt(): number {
    return this.#first()?.at ?? Number.POSITIVE_INFINITY;
  }

  #first(): Entry<T> | undefined {
    let first = this.#entries.peek();
    while (first !== undefined && !first.isWaiting) {
      this.#entries.pop();
      first = this.#entries.peek();
    }
    return first;
  }
}
