/** Events: reports on runs of code in a sandbox. */
import { z } from 'zod';
import { message, runId, seconds, testCaseId } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const sandboxRequested = defineEvent('sandbox.requested', 'A test case is to be run in a sandbox.', {
  runId,
  testCaseId,
});
export const sandboxFinished = defineEvent('sandbox.finished', 'A run has ended.', {
  runId,
  outcome: z
    .enum(['correct', 'wrong', 'timeout', 'infrastructure'])
    .describe(
      '`timeout`: stopped at the timeout that it was given. `infrastructure`: the sandbox failed, not the code in it.',
    ),
  seconds: seconds.max(1e9).describe('How long the code ran, in seconds; without waiting for a sandbox.'),
  message,
});
export const sandboxCancelled = defineEvent('sandbox.cancelled', 'The host has given up a run: nobody needs it.', {
  runId,
});
export const sandboxReportRequested = defineEvent(
  'sandbox.report.requested',
  'The host asks what other timeouts would have cost and saved.',
  {
    factors: z
      .array(z.number().min(1).max(1000))
      .min(1)
      .max(64)
      .optional()
      .describe('Values of λ to judge, each 1 to 1000; 1, 1.25, 1.5, 2, 3, 4, 6, 8 and 16 if absent.'),
  },
);
