/** Simulated time: what happens later, in order. */
export class Clock {
  now = 0;
  #pending: { readonly at: number; readonly run: () => void }[] = [];

  /** Runs something at a time; things of one time in the order in which they were asked for. */
  at(at: number, run: () => void): void {
    this.#pending.push({ at, run });
    this.#pending.sort((a, b) => a.at - b.at);
  }

  /** When the next thing is due; `Infinity` if there is none. */
  nextAt(): number {
    return this.#pending[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Goes on to the next thing, and runs it. */
  step(): void {
    const next = this.#pending.shift()!;
    this.now = Math.max(this.now, next.at);
    next.run();
  }
}
