/** Events: timers and restarts. */
import { z } from 'zod';
import { idPrefix, timerId, weightVersion } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const timerFired = defineEvent('timer.fired', 'A timer that a `timer.set` asked for has run out.', { timerId });
export const hostRestarted = defineEvent(
  'host.restarted',
  'The host has restarted: all that was in flight is gone. No retry budget is charged.',
  {
    idPrefix,
    weightVersion: weightVersion
      .optional()
      .describe(
        'Version of the weights that the trainer goes on from, where that may be another than before, ahead or behind; absent: the same.',
      ),
  },
);
export const hostDecided = defineEvent(
  'host.decided',
  'What the host of a session in shadow mode has decided by itself; the session takes it, not its policy.',
  {
    decision: z
      .looseObject({ type: z.string().min(1).max(256).describe('A decision of the policy.') })
      .describe('The decision, with those of its fields that the host knows.'),
  },
);
