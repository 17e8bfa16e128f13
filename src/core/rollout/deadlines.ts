/**
 * Deadlines of a policy, with a timer for the first of them. Any event after a deadline ends what is overdue, and sets a lost
 * timer again: a host that loses a timer delays nothing beyond its next event.
 */
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Context } from '../machine/definition.ts';

/** What {@link Deadlines} needs to know about a policy. */
export interface DeadlinesOf<State> {
  readonly timerId: string;
  /** Seconds by which a timer may be late before it counts as lost; 0 if any event ends what is overdue. */
  readonly patienceSeconds?: number;
  /** Returns when the first deadline is, in seconds; nothing if there is none. Called after every event: must be O(log n). */
  first(state: State): number | undefined;
  /** Returns the reason of the timer for the first deadline. */
  reason(state: State): Message<'timer.set'>['reason'];
  /** Returns when the timer fires, in seconds; `null` if none is set. */
  timerAt(state: State): number | null;
  /** Notes when the timer fires. */
  setTimerAt(state: State, at: number | null): void;
}

/** The usual place in the state for the time at which the policy's only timer fires. */
export const onlyTimer: Pick<DeadlinesOf<{ timerAt: number | null }>, 'timerAt' | 'setTimerAt'> = {
  timerAt: (state) => state.timerAt,
  setTimerAt: (state, at) => {
    state.timerAt = at;
  },
};

/** The place in the state for one of several timers. */
export const timerNamed = <Name extends string>(
  name: Name,
): Pick<DeadlinesOf<{ timers: Record<Name, number | null> }>, 'timerAt' | 'setTimerAt'> => ({
  timerAt: ({ timers }) => timers[name],
  setTimerAt: ({ timers }, at) => {
    timers[name] = at;
  },
});

/** Deadlines that share a timer. */
export class Deadlines<State> {
  readonly timerId: string;
  readonly #of: DeadlinesOf<State>;

  constructor(of: DeadlinesOf<State>) {
    this.timerId = of.timerId;
    this.#of = of;
  }

  /** Returns the time of the first deadline, in seconds; `undefined` without deadlines. */
  first(state: State): number | undefined {
    return this.#of.first(state);
  }

  /**
   * Whether the first deadline has passed. Ask this at the end of every event, whether a timer has fired or not, and end what is
   * overdue.
   */
  isOver(state: State, at: number): boolean {
    const first = this.#of.first(state);
    return first !== undefined && first <= at;
  }

  /**
   * Sets the timer for the first deadline, if no timer fires until then. Call it at the end of every event.
   *
   * @returns the time of the first deadline, in seconds; `undefined` without deadlines
   */
  arm(state: State, ctx: Context<Message<'timer.set'>>): number | undefined {
    const first = this.#of.first(state);
    if (first === undefined) return undefined;
    const timerAt = this.#of.timerAt(state);
    const { patienceSeconds = 0 } = this.#of;
    // A timer whose time has passed is lost or on its way; a second timer does no harm.
    if (timerAt !== null && timerAt + patienceSeconds >= ctx.at && timerAt <= first) return first;
    const fireAtSeconds = Math.max(first, ctx.at);
    this.#of.setTimerAt(state, fireAtSeconds);
    const { timerId } = this;
    ctx.emit({ type: 'timer.set', at: ctx.at, timerId, fireAtSeconds, reason: this.#of.reason(state) });
    return first;
  }

  /** Notes that the host has no timer any more: the timer has fired, in time or not, or the host has restarted. */
  forget(state: State): void {
    this.#of.setTimerAt(state, null);
  }
}

type Timer<State> = Pick<Deadlines<State>, 'timerId' | 'forget'>;

/** Makes the check of `timer.fired` for a policy with these deadlines. */
export const checkTimer =
  (...all: readonly Timer<never>[]) =>
  (_: unknown, { timerId }: Message<'timer.fired'>): void => {
    if (all.some((one) => one.timerId === timerId)) return;
    const ids = all.map((one) => one.timerId).join(', ');
    refuse('unknown_id', 'timerId', all.length === 1 ? ids : `one of ${ids}`, timerId);
  };

/** Makes the handler of `timer.fired`, which only forgets the timer: overdue things end after every event. */
export const timerFired =
  <State>(...all: readonly Timer<State>[]) =>
  (state: State, { timerId }: Message<'timer.fired'>): void => {
    for (const one of all) if (one.timerId === timerId) one.forget(state);
  };
