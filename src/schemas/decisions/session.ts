/** Decisions: timers. */
import { z } from 'zod';
import { rewardBudgetSeconds } from '../reward-workers.ts';
import { senders } from '../senders.ts';
import { count, positiveCount, roundId, seconds, timerId } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const graceSeconds = seconds.describe('How long the report of a worker is waited for beyond that, in seconds.');

export const timerSet = defineDecision(
  'timer.set',
  'command',
  'Answer with `timer.fired` at this time, not before it; a later `timer.set` with the same id replaces it.',
  {
    timerId,
    fireAtSeconds: seconds.describe('When, on the clock of the host, in seconds.'),
    aheadSeconds: z
      .number()
      .positive()
      .optional()
      .describe(
        'By how much `at` is ahead of the clock of the host, in seconds: this clock has begun anew when the host restarted, and times go on from the latest. Absent while they agree.',
      ),
  },
  {
    abort_grace: { graceSeconds: seconds.describe('How long the confirmation of an abort is waited for, in seconds.') },
    response_timeout: { limitSeconds: seconds.describe('How long a request may run, in seconds.') },
    stale_weights: {
      longestPauseSeconds: seconds.describe(
        'How long the next try after weights that are too old is put off at most, in seconds.',
      ),
    },
    retry_pause: {
      longestPauseSeconds: seconds.describe('How long a retry, or a single try, is put off at most, in seconds.'),
    },
    reward_budget: { budgetSeconds: rewardBudgetSeconds, graceSeconds },
    reward_cancel_grace: { graceSeconds },
    environment_due: {
      due: z
        .enum(['start', 'tool', 'end', 'idle', 'trial'])
        .describe('What has taken too long then, or whether an environment is idle, or tried, for long enough.'),
    },
    program_waits: { limitSeconds: seconds.describe('How long a program may wait for room, in seconds.') },
    owed: { owed: positiveCount.describe('Answers that are owed.') },
  },
);

const late = {
  waitedSeconds: seconds.describe('How long the oldest of these answers has been awaited, in seconds.'),
  limitSeconds: seconds.describe('Beyond which such an answer is overdue, in seconds.'),
  usualSeconds: seconds.optional().describe('How long such an answer usually takes: the median, in seconds.'),
  answers: count.describe('From how many answers that was learnt; older ones weigh less.'),
};
const silentSeconds = seconds.describe('How long nothing has come, in seconds.');

export const roundStalled = defineDecision(
  'round.stalled',
  'notice',
  'Work goes on and gains nothing: prompts, or groups, are filtered, and none counts. Nobody owes anything. It is said once, until one counts.',
  {
    roundId,
    filtered: positiveCount.describe('How many were filtered since one counted last, in this round and before it.'),
    sinceSeconds: seconds.describe('When the first of them was, on the clock of `at`, in seconds.'),
  },
  {
    filtered: {
      mostFiltered: positiveCount.describe('From how many on this is said.'),
      highFiltered: count
        .optional()
        .describe('How many are filtered, at most, before 99 % of those that count; absent before the first one.'),
      counted: count.describe('From how many that count that was learnt; older ones weigh less.'),
    },
  },
);

export const hostOwes = defineDecision(
  'host.owes',
  'notice',
  'An answer is overdue. It is said once, until the answer comes or something comes again from where it was silent.',
  {
    sender: z.enum(senders).describe('Who has to act.'),
    by: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .describe('Id of the engine, worker, node or replica that has to act, where it is known.'),
    event: z.string().describe('Type of the event that is awaited longest.'),
    ids: z
      .record(z.string(), z.string())
      .describe('The fields of this event that say which one it is, such as `requestId`.'),
    count: positiveCount.describe('Answers that are owed for this cause, those included that are not overdue yet.'),
    sinceSeconds: seconds.describe('Since when the oldest of them is owed, on the clock of `at`, in seconds.'),
  },
  {
    overdue: late,
    silent: { ...late, silentSeconds },
    nothing_comes: {
      ...late,
      silentSeconds,
      causes: positiveCount.describe('Engines, workers and kinds of answers that owe something; all are silent.'),
    },
  },
);
