/** Decisions: environments to start and to end, and the requests that get them. */
import { z } from 'zod';
import { count, environment, requestId, seconds, slotId } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const waiting = count.describe('Programs that wait for an environment of this kind.');
const idle = count.describe('Environments of this kind that are ready and have no program, this one included.');
const slots = count.describe('Most environments of this kind.');
const failures = count.describe('Failures one after the other.');
const retrySeconds = seconds.describe('Time until one is tried, in seconds.');
const waitedSeconds = seconds.describe('How long the program has waited, in seconds.');

export const slotPrewarm = defineDecision(
  'slot.prewarm',
  'command',
  'Start an environment of this kind, and report `slot.ready` or `slot.failed`.',
  { slotId, environment },
  {
    requested: { waiting },
    predicted: {
      expected: count.describe('Programs that will need one before another could start.'),
      idle: count.describe('Environments of this kind that are ready or start, and have no program.'),
    },
    trial: { failures: count.describe('Failures one after the other, since which none was started.') },
  },
);
export const slotAssign = defineDecision(
  'slot.assign',
  'command',
  'Give this environment to this program, which keeps it until `program.closed`.',
  { slotId, requestId, environment },
  {
    oldest: { waitedSeconds, waiting },
    retry: {
      waitedSeconds,
      failures: count.describe('Environments of this program that have failed.'),
      budget: count.describe('How many may fail before it gets no other.'),
    },
    host_restarted: {},
  },
);
export const slotReclaim = defineDecision(
  'slot.reclaim',
  'command',
  'End this environment, or reset it for another program: report `slot.released` or `slot.ready`. A program that it still has fails.',
  { slotId, environment, requestId: requestId.optional() },
  {
    closed: {},
    tool_timeout: {
      tool: z.string().describe('Name of the tool.'),
      waitedSeconds: seconds.describe('How long its tool has run, in seconds.'),
      limitSeconds: seconds.describe('How long it may run, in seconds.'),
    },
    start_timeout: {
      waitedSeconds: seconds.describe('How long it has been starting, in seconds.'),
      limitSeconds: seconds.describe('How long it may take, in seconds.'),
    },
    idle: { idle, idleSeconds: seconds.describe('How long this one had no program, in seconds.') },
    fewer: { slots },
  },
  { left: { programs: ({ requestId: id }) => (id === undefined ? [] : [id]) } },
);
export const slotDenied = defineDecision(
  'slot.denied',
  'notice',
  'A program that has asked for an environment gets none: it may ask again.',
  { requestId, environment },
  {
    failed: {
      failures: count.describe('Environments of this program that have failed.'),
      budget: count.describe('How many may fail before it gets no other.'),
    },
    failing: { failures, retrySeconds },
    no_slots: {},
    closed: {},
  },
  { left: { programs: (one) => [one.requestId] } },
);
export const slotsSuspended = defineDecision(
  'slots.suspended',
  'notice',
  'Environments of this kind fail one after the other: none is started until a trial succeeds.',
  { environment },
  { failing: { failures, retrySeconds } },
);
export const slotsRecovered = defineDecision(
  'slots.recovered',
  'notice',
  'Environments of a kind that was suspended are started again as needed.',
  { environment },
  {
    started: { suspendedSeconds: seconds.describe('How long none was started, in seconds.') },
    host_restarted: { suspendedSeconds: seconds.describe('How long none was started, in seconds.') },
  },
);
export const slotExpired = defineDecision(
  'slot.expired',
  'notice',
  'The end of an environment was not confirmed in time: its place counts as free.',
  { slotId, environment },
  { end_unconfirmed: { graceSeconds: seconds.describe('How long the confirmation was waited for, in seconds.') } },
);
export const slotLate = defineDecision(
  'slot.late',
  'notice',
  'A report about an environment that is gone: nothing changes.',
  { slotId },
  { already_ended: {} },
);
