/** Decisions: the timeout of code in a sandbox, and the reward of its result. */
import { z } from 'zod';
import { timeoutEstimate } from '../sandbox.ts';
import { count, positiveSeconds, runId, seconds, testCaseId } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const anchorSeconds = seconds.describe('The longest correct run of the test case, in seconds.');
const ranSeconds = seconds.describe('How long the run took, in seconds.');
const timeoutSeconds = positiveSeconds.describe('How long the code may run, in seconds.');
const maxTimeoutSeconds = positiveSeconds.describe('Tmax: the longest timeout, in seconds.');

export const sandboxRun = defineDecision(
  'sandbox.run',
  'command',
  'Run the code, and stop it after this time.',
  { runId, testCaseId, timeoutSeconds },
  {
    anchored: {
      anchorSeconds,
      timeoutFactor: z.number().describe('λ: the timeout is this many times the anchor.'),
      minTimeoutSeconds: seconds.describe('Tmin: the shortest timeout, in seconds.'),
      maxTimeoutSeconds,
    },
    no_anchor: { maxTimeoutSeconds },
    exploration: { anchorSeconds, exploreEvery: count.describe('How many runs there are for one that explores.') },
  },
);
export const sandboxScored = defineDecision(
  'sandbox.scored',
  'notice',
  'A run has ended and scores.',
  { runId, testCaseId, score: z.union([z.literal(0), z.literal(1)]).describe('1 for a correct run, else 0.') },
  {
    correct: { seconds: ranSeconds, timeoutSeconds, anchorSeconds },
    wrong: { seconds: ranSeconds, timeoutSeconds },
    timeout: { seconds: ranSeconds, timeoutSeconds, maxTimeoutSeconds },
  },
);
export const sandboxUnscored = defineDecision(
  'sandbox.unscored',
  'notice',
  'A run has ended without a score, through no fault of the code: it may be run again, as a new run.',
  { runId, testCaseId },
  { infrastructure: { seconds: ranSeconds }, cancelled: {}, host_restarted: {} },
);
export const sandboxLate = defineDecision(
  'sandbox.late',
  'notice',
  'A report about a run that is over: nothing changes.',
  { runId },
  { already_ended: {} },
);
export const sandboxReport = defineDecision(
  'sandbox.report',
  'notice',
  'What other timeouts would have cost and saved, from the runs that are remembered.',
  {
    runs: count.describe('Runs remembered: those that had an anchor and scored.'),
    correctRuns: count.describe('Correct ones among them.'),
    exploredRuns: count.describe('Runs among them that were given the maximum to explore.'),
    exploredCorrectRuns: count.describe('Correct ones among those: `exploredKilled` is to be held against them.'),
    runSeconds: seconds.describe('Seconds that they took.'),
    fixedSeconds: seconds.describe('Seconds with the maximum for all; timed-out ones count up to it.'),
    estimates: z.array(timeoutEstimate).describe('One for each λ asked for, in that order.'),
    testCases: count.describe('Test cases with an anchor.'),
    forgottenTestCases: count.describe('Test cases that left because there were too many.'),
  },
  { requested: { historyRuns: count.describe('Most runs that are remembered.') } },
);
