/** Decisions: requests to launch, abort and resume, and what becomes of responses. */
import { z } from 'zod';
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
const attempt = count.describe('How many tries of this response went before, within its budget.');

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
    engineId: engineId.optional().describe('Where to run it (`placement: policy`).'),
    ref: ref.optional(),
    resumeFrom: keptResponse.optional().describe('Tokens to continue from, instead of starting anew.'),
  },
  {
    planned: { inFlight: count },
    retry_infrastructure: { attempt, budget: count },
    retry_data: { attempt, budget: count },
    retry_environment: { attempt, budget: count },
    host_restarted: { inFlight: count },
  },
);
export const requestAbort = defineDecision(
  'request.abort',
  'command',
  'Stop generating this response and confirm with `request.aborted`.',
  { requestId, promptId, engineId: engineId.optional() },
  {
    prompt_collected: { held, needed: count },
    round_completed: { counted: count },
    quota_filled: { counted: count },
    prompt_quarantined: { held },
    response_timeout: { ranSeconds: seconds, limitSeconds: seconds },
    round_failed: {},
    stale_weights: { startVersion: weightVersion, weightVersion },
  },
);
export const requestResume = defineDecision(
  'request.resume',
  'command',
  'Go on generating a trajectory whose environment has answered.',
  { requestId, promptId, engineId: engineId.optional() },
  { environment_resumed: { inFlight: count } },
);
export const requestExpired = defineDecision(
  'request.expired',
  'notice',
  'An abort was never confirmed; its engine slot counts as free.',
  { requestId, promptId },
  { abort_unconfirmed: { graceSeconds: seconds } },
);
export const responseAccepted = defineDecision(
  'response.accepted',
  'notice',
  'A completed response is held for its prompt.',
  { requestId, promptId, domain: domain.optional() },
  { held: { held, needed: count } },
);
export const responseSurplus = defineDecision(
  'response.surplus',
  'notice',
  'A completed response is not needed any more.',
  { requestId, promptId },
  { after_abort: { tokens } },
);
export const responseLate = defineDecision(
  'response.late',
  'notice',
  'A report about a request that was minted earlier and is over: nothing changes.',
  { requestId },
  { completion: { tokens }, report: {} },
);
export const responseDropped = defineDecision(
  'response.dropped',
  'notice',
  'A kept response is given up.',
  { requestId, promptId, tokens, finished: z.boolean().describe('Whether it was complete.') },
  {
    stale_weights: { oldestVersion: weightVersion, weightVersion, maxStaleness: count },
    beyond_round: { needed: count },
  },
);
export const responseAbandoned = defineDecision(
  'response.abandoned',
  'notice',
  'A response has used up its retries and is not tried again; its prompt goes on with the others.',
  { requestId, promptId },
  { infrastructure: { failures: count, budget: count }, environment: { failures: count, budget: count } },
);
