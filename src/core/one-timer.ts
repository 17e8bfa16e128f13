/** The timer of a policy that has one. */
import { refuse } from '../errors.ts';
import type { Message } from '../schemas/messages.ts';

/** Makes the check of `timer.fired`. */
export const checkTimer =
  (timerId: string) =>
  (_: unknown, event: Message<'timer.fired'>): void => {
    if (event.timerId !== timerId) refuse('unknown_id', 'timerId', timerId, event.timerId);
  };

/** Handles `timer.fired` where that only means that the timer is not set any more; what is due is looked for after every event. */
export function forgetTimer(state: { timerAt: number | null }): void {
  state.timerAt = null;
}
