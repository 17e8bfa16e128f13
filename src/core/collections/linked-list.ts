/** Links of an item of a {@link LinkedList}: its neighbours; `null` at an end of the list, and for an item in no list. */
export interface Linked<T> {
  previous: T | null;
  next: T | null;
}

/** A first-in, first-out queue whose items can leave from anywhere in O(1): each item carries its own links. */
export class LinkedList<T extends Linked<T>> {
  #first: T | null = null;
  #last: T | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the first item, without removing it. */
  peek(): T | undefined {
    return this.#first ?? undefined;
  }

  /** Appends an item, which must not be in a list. */
  push(item: T): void {
    item.previous = this.#last;
    if (this.#last === null) this.#first = item;
    else this.#last.next = item;
    this.#last = item;
    this.#size += 1;
  }

  /** Puts an item, which must not be in a list, behind the last one that it is not before. Usually it is the last of all. */
  insert(item: T, isBefore: (one: T, other: T) => boolean): void {
    let next: T | null = null;
    for (let one = this.#last; one !== null && isBefore(item, one); one = one.previous) next = one;
    if (next === null) return this.push(item);
    const { previous } = next;
    item.previous = previous;
    item.next = next;
    if (previous === null) this.#first = item;
    else previous.next = item;
    next.previous = item;
    this.#size += 1;
  }

  /** Removes an item, which must be in this list. */
  remove(item: T): void {
    const { previous, next } = item;
    if (previous === null) this.#first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
    item.previous = null;
    item.next = null;
    this.#size -= 1;
  }
}
