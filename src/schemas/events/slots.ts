/** Events: environments of programs, such as sandboxes, as a pool of slots. */
import { count, environment, message, requestId, slotId } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const slotsChanged = defineEvent(
  'slots.changed',
  'From now on so many environments of this kind may exist at once; those above it end with their programs.',
  { environment, slots: count.describe('Most environments of this kind.') },
);
export const slotRequested = defineEvent(
  'slot.requested',
  'A program needs an environment before it can go on.',
  {
    requestId,
    environment,
  },
  { entered: { programs: (one) => [one.requestId] } },
);
export const slotReady = defineEvent(
  'slot.ready',
  'An environment has started, or was reset after its program, and can be given to a program.',
  { slotId },
);
export const slotFailed = defineEvent(
  'slot.failed',
  'An environment did not start, or has broken, and is gone: through no fault of the code in it.',
  { slotId, message },
);
export const slotReleased = defineEvent('slot.released', 'An environment has ended, and its place is free.', {
  slotId,
});
