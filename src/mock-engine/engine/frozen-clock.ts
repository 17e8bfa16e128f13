/** The clock of one engine, which stops while the engine is paused or hangs. */
export class FrozenClock {
  readonly #reasons = new Set<string>();
  #frozenAt = 0;
  #lostSeconds = 0;

  /** Whether the clock is stopped. */
  get isFrozen(): boolean {
    return this.#reasons.size > 0;
  }

  /** Returns the engine's own time at a simulated time. */
  own(now: number): number {
    return (this.isFrozen ? this.#frozenAt : now) - this.#lostSeconds;
  }

  /** Returns the simulated time for a time on the engine's own clock; `Infinity` while the clock is stopped. */
  moment(own: number): number {
    return this.isFrozen ? Number.POSITIVE_INFINITY : own + this.#lostSeconds;
  }

  freeze(reason: string, now: number): void {
    if (!this.isFrozen) this.#frozenAt = now;
    this.#reasons.add(reason);
  }

  /** Removes a reason to stop; the clock continues when no reason is left. */
  thaw(reason: string, now: number): void {
    if (this.#reasons.delete(reason) && !this.isFrozen) this.#lostSeconds += now - this.#frozenAt;
  }
}
