/** Decides whether an engine takes requests, and holds the requests that arrive while it does not. */
import type { Generation } from './generation.ts';

/** A gate that is closed as long as there is a reason. */
export class Gate {
  readonly #reasons = new Set<string>();
  #held: Generation[] = [];
  #made = 0;

  get isClosed(): boolean {
    return this.#reasons.size > 0;
  }

  /** Reasons why the gate is closed. */
  get reasons(): readonly string[] {
    return [...this.#reasons];
  }

  /** Requests that wait. */
  get held(): readonly Generation[] {
    return this.#held;
  }

  /** Returns a unique name for a reason to close the gate. */
  newReason(reason: string): string {
    this.#made += 1;
    return `${reason} ${this.#made}`;
  }

  isClosedBy(reason: string): boolean {
    return this.#reasons.has(reason);
  }

  close(reason: string): void {
    this.#reasons.add(reason);
  }

  hold(generation: Generation): void {
    this.#held.push(generation);
  }

  /** Removes a reason. Returns the waiting requests if no reason is left. */
  open(reason: string): Generation[] {
    this.#reasons.delete(reason);
    return this.isClosed ? [] : this.take(() => true);
  }

  /** Removes and returns the requests that match. */
  take(matches: (generation: Generation) => boolean): Generation[] {
    const taken = this.#held.filter(matches);
    this.#held = this.#held.filter((one) => !matches(one));
    return taken;
  }

  /** Removes all reasons, and returns the waiting requests. */
  clear(): Generation[] {
    this.#reasons.clear();
    return this.take(() => true);
  }
}
