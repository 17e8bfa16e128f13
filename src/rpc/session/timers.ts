/** Timers of a session that the server runs: `timer.set` starts a timer, and the server sends `timer.fired` when it is due. */

import type { Clock } from '../../core/machine/clock.ts';
import type { AnyDecision } from '../../core/machine/definition.ts';

/** A running timer. */
export interface ArmedTimer {
  readonly timerId: string;
  readonly fireAtSeconds: number;
}

interface Running extends ArmedTimer {
  readonly cancel: () => void;
}

const nothing = (): void => undefined;

/** Seconds until a timer is tried again if the backlog was full. */
const retrySeconds = 0.25;

/** The timers of one session. */
export class Timers {
  readonly #clock: Clock;
  /** Sends `timer.fired`; returns false if the session cannot accept it now. */
  readonly #fire: (timerId: string, at: number) => boolean;
  readonly #inTurn: (act: () => void) => void;
  readonly #running = new Map<string, Running>();
  /** False while the session is restored: no timer fires then. */
  #started = true;

  /** @param inTurn - calls back at once, or when the session is no longer in the middle of a call */
  constructor(
    clock: Clock,
    fire: (timerId: string, at: number) => boolean,
    inTurn: (act: () => void) => void = (act) => act(),
  ) {
    this.#clock = clock;
    this.#fire = fire;
    this.#inTurn = inTurn;
  }

  /** Starts the timers of these decisions; a later timer replaces an earlier one with the same id. */
  arm(decisions: readonly AnyDecision[]): void {
    for (const one of decisions) if (one.type === 'timer.set') this.set(one as unknown as ArmedTimer);
  }

  set({ timerId, fireAtSeconds }: ArmedTimer): void {
    this.#start(timerId, fireAtSeconds, Math.max(0, fireAtSeconds - this.#clock.now()));
  }

  /** Stops timers from firing until {@link Timers.start}. */
  hold(): void {
    this.#started = false;
  }

  start(): void {
    this.#started = true;
    for (const one of this.armed()) this.set(one);
  }

  /** Forgets a timer that has fired. */
  delete(timerId: string): void {
    this.#running.get(timerId)?.cancel();
    this.#running.delete(timerId);
  }

  /** Returns the running timers, in the order of their ids. */
  armed(): ArmedTimer[] {
    const all = [...this.#running.values()].map(({ timerId, fireAtSeconds }) => ({ timerId, fireAtSeconds }));
    return all.sort((a, b) => (a.timerId < b.timerId ? -1 : 1));
  }

  /** Stops all timers for good. Running timers are still listed, because a snapshot of a stopping server contains them. */
  close(): void {
    for (const { cancel } of this.#running.values()) cancel();
  }

  #start(timerId: string, fireAtSeconds: number, seconds: number): void {
    this.#running.get(timerId)?.cancel();
    if (!this.#started) return void this.#running.set(timerId, { timerId, fireAtSeconds, cancel: nothing });
    const due = (): void => {
      // Meanwhile the timer may have been set again, or the session may have ended.
      if (this.#running.get(timerId) !== one) return;
      this.#running.delete(timerId);
      // A timer of the platform may fire a fraction of a millisecond early.
      const taken = this.#fire(timerId, Math.max(fireAtSeconds, this.#clock.now()));
      if (!taken) this.#start(timerId, fireAtSeconds, retrySeconds);
    };
    const one: Running = {
      timerId,
      fireAtSeconds,
      cancel: this.#clock.after(seconds, () => this.#inTurn(due)),
    };
    this.#running.set(timerId, one);
  }
}
