/** Decisions: requests to launch, abort and resume, and the fate of responses. */
import { z } from 'zod';
import { faultDomain, notCompared, sharedFailures } from '../faults.ts';
import { keptResponse } from '../prompts.ts';
import {
  count,
  domain,
  engineId,
  promptId,
  ref,
  requestId,
  roundId,
  seconds,
  tokens,
  weightVersion,
} from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const held = count.describe('Responses of the prompt that are held.');
const needed = count.describe('Responses that the prompt needs.');
const counted = count.describe('Prompts that count for the round, or for the quota.');
const inFlight = count.describe('Requests in flight, without this one.');
const retry = {
  attempt: count.describe('How many tries of this response went before, within its budget.'),
  budget: count.describe('Most further tries after failures of this kind.'),
};
const pauseSeconds = seconds.describe('How long the response has waited since the try before, in seconds.');
const paused = { ...retry, pauseSeconds, ...faultDomain };
const uncharged = count.describe('How many tries of this response no budget was charged with.');
const tries = {
  failures: count.describe('Failures of this kind.'),
  budget: count.describe('Most failures that lead to another try.'),
};

export const requestLaunch = defineDecision(
  'request.launch',
  'command',
  'Start generating one response.',
  {
    requestId,
    promptId,
    roundId,
    index: count.describe('Which response of the prompt, from 0.'),
    weightVersion,
    engineId: engineId.optional().describe('Where to run it; always given with `placement: policy`.'),
    ref: ref.optional(),
    promptTokens: tokens.optional().describe('Tokens of the prompt itself, if the host has given them.'),
    resumeFrom: keptResponse.optional().describe('Tokens to continue from, instead of starting anew.'),
  },
  {
    planned: { inFlight },
    retry_infrastructure: paused,
    retry_data: retry,
    retry_environment: paused,
    retry_timeout: paused,
    probe: {
      ...faultDomain,
      failures: sharedFailures,
      pauseSeconds: seconds.describe('Time since the single try before, in seconds.'),
    },
    retry_stale_weights: { attempt: uncharged },
    retry_engine_lost: {
      attempt: uncharged,
      losses: count.describe('Engines that the prompt has lost, one after the other.'),
    },
    retry_ended_early: { attempt: uncharged, tokens: tokens.describe('Tokens that it goes on from.') },
    host_restarted: { inFlight },
  },
  { entered: { requests: (one) => [one.requestId] } },
);
export const requestAbort = defineDecision(
  'request.abort',
  'command',
  'Stop generating this response and confirm with `request.aborted`.',
  { requestId, promptId, engineId: engineId.optional() },
  {
    prompt_collected: { held, needed },
    round_completed: { counted },
    quota_filled: { counted },
    prompt_failed: { held },
    response_timeout: {
      ranSeconds: seconds.describe('How long the request has run, in seconds.'),
      limitSeconds: seconds.describe('How long it may run, in seconds.'),
    },
    round_failed: {},
    prompt_left: {},
    stale_weights: {
      startVersion: weightVersion.describe('Version of the weights that its first tokens are of.'),
      weightVersion,
    },
  },
);
export const requestResume = defineDecision(
  'request.resume',
  'command',
  'Go on generating a trajectory: its tool has answered, or the host has restarted. Then it goes on where its last finished turn has ended, or from its prompt if the host has not kept it.',
  { requestId, promptId, engineId: engineId.optional(), ref: ref.optional() },
  {
    tool_finished: { inFlight },
    host_restarted: { inFlight, tokens: tokens.describe('Tokens that its finished turns have generated.') },
  },
);
export const requestExpired = defineDecision(
  'request.expired',
  'notice',
  'An abort was never confirmed; its engine slot counts as free.',
  { requestId, promptId },
  { abort_unconfirmed: { graceSeconds: seconds.describe('How long the confirmation was waited for, in seconds.') } },
);
export const responseAccepted = defineDecision(
  'response.accepted',
  'notice',
  'A completed response is held for its prompt.',
  { requestId, promptId, domain: domain.optional() },
  {
    held: { held, needed },
    other_weights: {
      held,
      needed,
      weightVersions: z
        .array(weightVersion)
        .describe(
          'Versions of the weights that generated it, as its engine says, ascending: not all are those that were asked for.',
        ),
      weightVersion: weightVersion.describe('Version of the weights of its round.'),
    },
  },
  { entered: { samples: (one) => [one.requestId] } },
);
export const responseSurplus = defineDecision(
  'response.surplus',
  'notice',
  'A completed response is not needed any more.',
  { requestId, promptId },
  {
    after_abort: { tokens: tokens.describe('Tokens of the response.') },
    control: { tokens: tokens.describe('Tokens of the response.') },
  },
  { left: { responses: (one) => [one.requestId] } },
);
export const responseLate = defineDecision(
  'response.late',
  'notice',
  'A report about a request that is over, or a reward that its round did not wait for: nothing changes.',
  { requestId },
  { completion: { tokens: tokens.describe('Tokens of the response.') }, report: {} },
  { left: { responses: ({ requestId, reason }) => (reason.code === 'completion' ? [requestId] : []) } },
);
export const responseDropped = defineDecision(
  'response.dropped',
  'notice',
  'A complete response, or one whose tokens were kept, is given up.',
  {
    requestId,
    promptId,
    tokens: tokens.describe('Tokens of the response, over all attempts.'),
    finished: z.boolean().describe('Whether it was complete.'),
  },
  {
    stale_weights: {
      oldestVersion: weightVersion.describe('Oldest version of the weights that it has tokens of.'),
      weightVersion,
      maxStaleness: count.describe('Most versions that its tokens may be behind.'),
    },
    beyond_round: { needed: count.describe('Responses of the prompt that the round takes.') },
    no_reward: {},
  },
  { left: { responses: ({ requestId, finished }) => (finished ? [requestId] : []) } },
);
export const responseAbandoned = defineDecision(
  'response.abandoned',
  'notice',
  'A response has used up its retries and is not tried again; its prompt goes on with the others.',
  { requestId, promptId },
  { infrastructure: tries, data: tries, environment: tries, timeout: tries, not_compared: notCompared },
);
