/** Decisions: which environments are started, who gets them, and which are ended. */
import { count, environment, requestId, seconds, slotId } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const waiting = count.describe('Programs that wait for an environment of this kind.');
const idle = count.describe('Environments of this kind that are ready and have no program, this one included.');

export const slotPrewarm = defineDecision(
  'slot.prewarm',
  'command',
  'Start an environment of this kind, and report `slot.ready` or `slot.failed`.',
  { slotId, environment },
  {
    requested: { waiting },
    predicted: { expected: count.describe('Programs that will need one before another could start.'), idle },
    trial: { failures: count.describe('Failures one after the other, since which none was started.') },
  },
);
export const slotAssign = defineDecision(
  'slot.assign',
  'command',
  'Give this environment to this program.',
  { slotId, requestId, environment },
  { oldest: { waitedSeconds: seconds.describe('How long the program has waited, in seconds.'), waiting } },
);
export const slotReclaim = defineDecision(
  'slot.reclaim',
  'command',
  'End this environment, or reset it for another program: report `slot.released` or `slot.ready`. A program that it still has fails.',
  { slotId, environment, requestId: requestId.optional() },
  {
    closed: {},
    tool_timeout: {
      waitedSeconds: seconds.describe('How long its tool has run, in seconds.'),
      limitSeconds: seconds.describe('How long it may run, in seconds.'),
    },
    idle: { idle },
    fewer: { slots: count.describe('Most environments of this kind.') },
  },
);
export const slotsSuspended = defineDecision(
  'slots.suspended',
  'notice',
  'Environments of this kind fail one after the other: none is started until a trial succeeds.',
  { environment },
  {
    failing: {
      failures: count.describe('Failures one after the other.'),
      retrySeconds: seconds.describe('Time until one is tried, in seconds.'),
    },
  },
);
export const slotsRecovered = defineDecision(
  'slots.recovered',
  'notice',
  'An environment of a kind that was suspended has started: they are started again as needed.',
  { environment },
  { started: { suspendedSeconds: seconds.describe('How long none was started, in seconds.') } },
);
export const slotLate = defineDecision(
  'slot.late',
  'notice',
  'A report about an environment that is gone: nothing changes.',
  { slotId },
  { already_ended: {} },
);
