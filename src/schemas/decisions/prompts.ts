/** Decisions: the fate of prompts. */
import { z } from 'zod';
import { notCompared } from '../faults.ts';
import { endsPrompt, groupKey, promptsIn, wholePrompt } from '../moves.ts';
import { countedResponse, droppedResponse, prompt } from '../prompts.ts';
import { count, domain, positiveCount, promptId, ref, requestId, roundId, tokens, weightVersion } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const held = count.describe('Responses of the prompt that are held.');
const needed = count.describe('Responses that it needs.');
const quota = {
  counted: count.describe('Prompts of the round that count, this one included.'),
  needed: count.describe('Prompts that the round needs.'),
};
const tries = {
  failures: count.describe('Failures of this kind.'),
  budget: count.describe('Most failures that lead to another try.'),
};
const startVersion = weightVersion.describe('Version of the weights that its first tokens are of.');
const launched = positiveCount
  .optional()
  .describe(
    'Responses of the prompt that were begun, where more were than its group has: only the first to end are named.',
  );
const maxStaleness = count.describe('Most versions that its tokens may be behind.');

export const promptCollected = defineDecision(
  'prompt.collected',
  'notice',
  'A prompt has its R0 responses.',
  { promptId, roundId, requestIds: z.array(requestId).describe('Requests of its held responses, by index.') },
  {
    responses_held: {
      held,
      launched: count.describe('Responses of the prompt that were begun, those kept from earlier rounds included.'),
    },
  },
);
export const promptCounted = defineDecision(
  'prompt.counted',
  'notice',
  'A prompt counts for the round.',
  {
    promptId,
    roundId,
    domain: domain.optional(),
    promptTokens: tokens.optional().describe('Tokens of the prompt itself, where they are known.'),
    responses: z.array(countedResponse).describe('Its responses, by index.'),
    launched,
  },
  { no_filter: quota, passed: quota },
  { entered: { groups: (one) => [groupKey(one.roundId, one.promptId)] } },
);
export const promptFiltered = defineDecision(
  'prompt.filtered',
  'notice',
  'A collected prompt did not pass the filter: it leaves, is not deferred, and is replaced.',
  {
    promptId,
    roundId,
    ref: ref.optional(),
    dropped: z.array(droppedResponse).describe('Responses that are given up.'),
    launched,
  },
  {
    zero_variance: {
      standardDeviation: z.number().describe('Population standard deviation of the raw rewards.'),
      tolerance: z.number().describe('Up to which it counts as none.'),
    },
    host: {},
  },
  { left: endsPrompt },
);
export const promptFailed = defineDecision(
  'prompt.failed',
  'notice',
  'A prompt has used up its retries: it leaves the round for good, and another prompt takes its place.',
  {
    promptId,
    roundId,
    ref: ref.optional(),
    dropped: z.array(droppedResponse).describe('Responses that are given up.'),
  },
  {
    infrastructure: tries,
    data: tries,
    environment: tries,
    timeout: tries,
    reward: tries,
    not_compared: notCompared,
  },
  { left: endsPrompt },
);
export const promptDeferred = defineDecision(
  'prompt.deferred',
  'notice',
  'An unfinished prompt leaves the round. `long-prompt-queue`, and recipes with it such as `tail-batching`, keep it for a later round.',
  {
    prompt: prompt.describe('The prompt, with what it carries.'),
    roundId,
    dropped: z.array(droppedResponse).describe('Responses that are given up, each with its cause.'),
  },
  {
    round_completed: { held, needed },
    quota_filled: { held, needed },
    round_failed: { held, needed },
    stale_weights: { startVersion, weightVersion, maxStaleness },
  },
  { entered: promptsIn('prompt'), left: wholePrompt },
);
export const promptCarried = defineDecision(
  'prompt.carried',
  'notice',
  'An unfinished prompt goes on running into the next round (`maxStaleness` above 0).',
  { promptId, roundId },
  { within_staleness: { startVersion, maxStaleness } },
);
export const promptReturned = defineDecision(
  'prompt.returned',
  'notice',
  'A prompt that was not started, or whose round has failed or is over, leaves the round as it came. `long-prompt-queue`, and recipes with it such as `tail-batching`, keep it for a later round: do not supply it again.',
  {
    prompt: prompt.describe('The prompt, with what it carries.'),
    roundId,
    dropped: z.array(droppedResponse).describe('Responses that are given up.'),
  },
  { not_started: {}, round_closed: {}, round_failed: {} },
  { entered: promptsIn('prompt'), left: wholePrompt },
);
export const promptMerged = defineDecision(
  'prompt.merged',
  'notice',
  'A prompt that is here already was supplied again: one of the two is dropped.',
  {
    promptId,
    roundId: roundId.optional(),
    ref: ref.optional(),
    dropped: z.array(droppedResponse).describe('Responses that are given up.'),
  },
  {
    already_in_round: {},
    already_queued: { deferrals: count.describe('How often the one that is kept has been deferred.') },
  },
  { left: endsPrompt },
);
