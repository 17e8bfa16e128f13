/** A gate per session: while a session is in the middle of a paused call, everything else for it waits. */
import { Fifo } from '../../core/collections/fifo.ts';
import type { Turns } from './turns.ts';

/** A waiting action, which returns a promise if it pauses. */
type Waiting = () => Promise<unknown> | undefined;

/** Keeps calls of the same session apart, by the ids of the sessions. */
export class Gate {
  readonly #turns: Turns;
  /** By session in the middle of a call: actions that wait for its end, in the order of arrival. */
  readonly #busy = new Map<string, Fifo<Waiting>>();
  #closed = false;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /**
   * Acts on a session, at once unless the session is in the middle of a call. Returns the result or a promise of it, and throws
   * the action's errors. After the gate is closed, waiting actions are not run.
   */
  run<T>(session: string, act: () => T | Promise<T>): T | Promise<T> {
    const waiting = this.#busy.get(session);
    if (waiting !== undefined) return this.#wait(waiting, act);
    const result = act();
    if (result instanceof Promise) {
      const behind = new Fifo<Waiting>();
      this.#busy.set(session, behind);
      void this.#after(result, session, behind);
    }
    return result;
  }

  /** Drops waiting actions because the server stops: running them would answer calls that came too late. */
  close(): void {
    this.#closed = true;
    for (const waiting of this.#busy.values()) waiting.clear();
  }

  #wait<T>(waiting: Fifo<Waiting>, act: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      waiting.push(() => {
        try {
          const result = act();
          resolve(result);
          return result instanceof Promise ? result : undefined;
        } catch (error) {
          reject(error as Error);
          return undefined;
        }
      });
    });
  }

  async #after(result: Promise<unknown>, session: string, waiting: Fifo<Waiting>): Promise<void> {
    await result.catch(() => undefined);
    for (let next = waiting.shift(); next !== undefined && !this.#closed; next = waiting.shift()) {
      const paused = next();
      if (paused !== undefined) await paused.catch(() => undefined);
      if (this.#turns.isOver) await this.#turns.next();
    }
    this.#busy.delete(session);
  }
}
