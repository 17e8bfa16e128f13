/** Events: timers and restarts. */
import { idPrefix, timerId } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const timerFired = defineEvent('timer.fired', 'A timer that a `timer.set` asked for has run out.', { timerId });
export const hostRestarted = defineEvent(
  'host.restarted',
  'The host has restarted: all that was in flight is gone. No retry budget is charged.',
  { idPrefix },
);
