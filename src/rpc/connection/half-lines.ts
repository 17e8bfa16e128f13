/** Bounds the memory for incomplete lines of all connections. */

/** An object that holds an incomplete line. */
export interface HalfLine {
  /** Drops the line to make room for other lines. The rest of the line is skipped when it arrives. */
  crowdOut(): void;
}

/**
 * Memory for incomplete lines, shared by all connections.
 *
 * If there is too little memory, the oldest incomplete line is dropped. Usually a client finishes its line soon, so other clients
 * can push it out only by filling the whole memory in that time.
 */
export class HalfLines {
  readonly #most: number;
  #bytes = 0;
  /** Bytes of each line, in the order in which lines began. */
  readonly #held = new Map<HalfLine, number>();

  /** @param most - bytes for all lines together; enough for the longest line */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes of all lines together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Sets the bytes of a line, or 0 when the line has ended. This may drop lines, even this one. */
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
