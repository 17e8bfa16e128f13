/** Bounds the memory of incomplete lines, over all connections. */

/** Holder of an incomplete line. */
export interface HalfLine {
  /** Drops the line for the room of others. The rest of the line is skipped as it arrives. */
  crowdOut(): void;
}

/**
 * Shared room for incomplete lines.
 *
 * If there is too little, the line that began first is dropped. A client finishes a message soon, whatever others hold; to
 * push it out, they would have to fill all the room in that time.
 */
export class HalfLines {
  readonly #most: number;
  #bytes = 0;
  /** Bytes of each, in the order in which they began. */
  readonly #held = new Map<HalfLine, number>();

  /** @param most - bytes for all of them, enough for one alone */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes of all of them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Sets the bytes that a line takes, 0 once it has ended. The line itself may be dropped. */
  hold(line: HalfLine, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(line) ?? 0);
    if (bytes === 0) this.#held.delete(line);
    else this.#held.set(line, bytes);
    while (this.#bytes > this.#most) {
      const [oldest, size] = this.#held.entries().next().value!;
      this.#held.delete(oldest);
      this.#bytes -= size;
      oldest.crowdOut();
    }
  }
}
