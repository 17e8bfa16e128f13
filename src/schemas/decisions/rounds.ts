/** Decisions: what rounds contain, and how they end. */
import { z } from 'zod';
import { promptsIn, requestIds } from '../moves.ts';
import { finalPrompt, prompt } from '../prompts.ts';
import { count, domain, positiveCount, promptId, roundId, roundKind, seconds, weightVersion } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const factor = z.number();
const target = count.describe('Prompts that the round is to begin, speculation included.');
const known = count.describe('Prompts that are here for it, those that wait included.');
const admitted = count.describe('Prompts that were admitted to it, or wait to be.');
const queued = count.describe('Prompts in the queue.');
const promptsPerRound = count.describe('P0: prompts that a round trains on.');
const quota = {
  counted: count.describe('Prompts of the round that count.'),
  needed: count.describe('Prompts that the round needs.'),
};

export const promptsRequest = defineDecision(
  'prompts.request',
  'command',
  'Supply this many prompts, in portions of any size.',
  {
    roundId,
    count: z.int().positive().describe('Prompts that are still missing.'),
    domains: z.record(domain, z.int().positive()).optional().describe('The same, by domain, where quotas are set.'),
  },
  {
    round_opened: { target, known },
    window_begun: {
      rounds: count.describe('Rounds that are composed together.'),
      target: count.describe('Prompts from which they are composed.'),
      known: count.describe('Prompts that are here for them.'),
    },
    within_staleness: {
      groups: count.describe('Groups that are launched, or wait to be, and are in no batch yet.'),
      allowed: count.describe('How many these may be, so that none gets too old.'),
    },
    filtered: { target, admitted },
    passed_over: { target, admitted },
    failed: { target, admitted },
    merged: { target, admitted },
    to_compare: { target, admitted },
    host_restarted: { target, admitted },
  },
);
export const roundPlanned = defineDecision(
  'round.planned',
  'notice',
  'What the next round is: its kind, and the queued prompts that it begins with.',
  {
    roundId,
    kind: roundKind,
    weightVersion,
    queued: z.array(prompt).describe('Queued prompts that it begins with, in order.'),
  },
  {
    queue_below_threshold: { queued, promptsPerRound },
    queue_full: { queued, promptsPerRound },
    prompt_overdue: {
      deferrals: count.describe('How often the prompt that is overdue has been deferred.'),
      waitedRounds: count.describe('How many rounds it has waited.'),
    },
    source_exhausted: {
      queued,
      carried: count.optional().describe('Prompts that run on into it, if there are any.'),
    },
    composed: {
      waiting: count.describe('Prompts that were here before the round took its own.'),
      due: count.describe('Prompts of the round that were due, whatever their length.'),
      longestTokens: z.number().describe('Greatest expected length of the longest response of its other prompts.'),
      shortestTokens: z
        .number()
        .describe('Least expected length of the same; equal lengths keep the order of the data.'),
    },
  },
  { left: promptsIn('queued') },
);
export const promptsReleased = defineDecision(
  'prompts.released',
  'notice',
  'Queued prompts join the open round, because the source has no others for it. Those that it does not start come back.',
  { roundId, queued: z.array(prompt).describe('These prompts, in order.') },
  { source_exhausted: { queued } },
  { left: promptsIn('queued') },
);
export const roundCompleted = defineDecision(
  'round.completed',
  'notice',
  'The round has all that it trains on: the responses named here, and no others. Its reason says why they may be fewer than planned, or none.',
  {
    roundId,
    kind: roundKind,
    weightVersion,
    prompts: z.array(finalPrompt).describe('In the order in which the prompts entered the round.'),
    openedSeconds: seconds.describe('When the round was opened.'),
    deferred: count.describe('Prompts deferred or carried at its end.'),
  },
  {
    quota_reached: quota,
    source_exhausted: quota,
    only_duplicates: quota,
    filtered: {
      ...quota,
      filtered: count.describe('Prompts that it has filtered.'),
      maxFiltered: positiveCount.describe('After how many it asks for no more.'),
    },
    round_failed: quota,
    all_ended: quota,
  },
  {
    left: {
      prompts: ({ prompts }) => prompts.map((one) => one.promptId),
      responses: ({ prompts }) => prompts.flatMap((one) => requestIds(one.responses)),
    },
  },
);
export const roundDrained = defineDecision(
  'round.drained',
  'notice',
  'Nothing of the round is in flight any more: the weights may be updated.',
  { roundId },
  { all_ended: { afterSeconds: seconds.describe('Since the round was complete, in seconds.') } },
);
export const sourceDrained = defineDecision(
  'source.drained',
  'notice',
  'Answers `round.requested` where no prompt is left: no round with this id begins, so that no `round.drained` follows.',
  { roundId },
  { source_exhausted: {} },
);
export const speculationChosen = defineDecision(
  'speculation.chosen',
  'notice',
  'The speculation factor that the next rounds use (`speculation: auto`).',
  {
    promptSpeculation: factor.describe('Factor for prompts.'),
    responseSpeculation: factor.describe('Factor for responses.'),
  },
  {
    exploring: {
      round: count.describe('Rounds that were measured so far.'),
      rounds: count.describe('How many are to be measured.'),
    },
    fixed: {
      secondsPerRound: seconds.describe('Seconds of a round with the factor that is chosen.'),
      measuredRounds: count.describe('Rounds that were measured, with all factors.'),
    },
  },
);
export const roundResumed = defineDecision(
  'round.resumed',
  'notice',
  'A round was open when the host restarted, and is open still: it waits to be ended, or to be given up by `round.failed`.',
  {
    roundId,
    weightVersion: weightVersion
      .optional()
      .describe('Version of the weights that it is generated with, where it is known.'),
    promptIds: z.array(promptId).describe('Prompts, or groups, of the round that are known here, in order.'),
  },
  { host_restarted: { prompts: count.describe('How many these are.') } },
);
