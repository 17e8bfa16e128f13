/** Bounds the memory for messages that wait for all clients. */

/** A queue of messages for one client. */
export interface Output {
  /** Bytes that wait. */
  readonly bytes: number;
}

/** The waiting messages of all clients together. */
export class Outputs {
  readonly #most: number;
  #bytes = 0;
  /** Queues that are not empty, with their bytes at the last check. */
  readonly #waiting = new Map<Output, number>();

  /** @param most - bytes for all clients together */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether too much waits in total, and this client has more than an equal share of it. */
  isTooMuch(one: Output): boolean {
    this.#ask(one);
    if (this.#bytes <= this.#most) return false;
    // Other clients may have read since.
    for (const other of [...this.#waiting.keys()]) this.#ask(other);
    return this.#bytes > this.#most && one.bytes * this.#waiting.size >= this.#bytes;
  }

  leave(one: Output): void {
    this.#bytes -= this.#waiting.get(one) ?? 0;
    this.#waiting.delete(one);
  }

  #ask(one: Output): void {
    const { bytes } = one;
    if (bytes === 0 && !this.#waiting.has(one)) return;
    this.leave(one);
    this.#bytes += bytes;
    if (bytes > 0) this.#waiting.set(one, bytes);
  }
}
