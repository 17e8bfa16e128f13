/** Decisions: commands for the host, in the imperative, and notices, in the past tense. */
import { z } from 'zod';
import { droppedResponse, finalPrompt, keptResponse, prompt } from './prompts.ts';
import {
  count,
  domain,
  engineId,
  promptId,
  ref,
  requestId,
  roundId,
  seconds,
  timerId,
  tokens,
  weightVersion,
} from './units.ts';
import { defineDecision, type Of } from './vocabulary.ts';

const kind = z.enum(['short', 'long']);
const factor = z.number();
const held = count.describe('Responses of the prompt that are held.');
const attempt = count.describe('How many tries of this response went before, within its budget.');

export const promptsRequest = defineDecision(
  'prompts.request',
  'command',
  'Supply this many prompts, in portions of any size.',
  {
    roundId,
    count: z.int().positive().describe('How many more prompts are wanted.'),
    domains: z.record(domain, z.int().positive()).optional().describe('The same, by domain, where quotas are set.'),
  },
  {
    round_opened: { target: count, known: count },
    filtered: { target: count, admitted: count },
    quarantined: { target: count, admitted: count },
    merged: { target: count, admitted: count },
    host_restarted: { target: count, admitted: count },
  },
);
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
export const timerSet = defineDecision(
  'timer.set',
  'command',
  'Answer with `timer.fired` at this time; a later one with the same id replaces it.',
  { timerId, fireAtSeconds: seconds.describe('When, on the clock of the session, in seconds.') },
  { abort_grace: { graceSeconds: seconds }, response_timeout: { limitSeconds: seconds } },
);

export const responseAccepted = defineDecision(
  'response.accepted',
  'notice',
  'A completed response is held for its prompt.',
  { requestId, promptId },
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
export const rewardRequest = defineDecision(
  'reward.request',
  'command',
  'Give the reward of a kept response with `reward.ready`: it is needed, and has not come while the prompt was away.',
  { requestId, promptId },
  { kept_without_reward: {} },
);
export const judgementLate = defineDecision(
  'judgement.late',
  'notice',
  'A judgement of a prompt that is not waiting for one any more: nothing changes.',
  { promptId, roundId },
  { not_waiting: {} },
);
export const requestExpired = defineDecision(
  'request.expired',
  'notice',
  'An abort was never confirmed; its engine slot counts as free.',
  { requestId, promptId },
  { abort_unconfirmed: { graceSeconds: seconds } },
);
export const promptCollected = defineDecision(
  'prompt.collected',
  'notice',
  'A prompt has its R0 responses.',
  { promptId, roundId, requestIds: z.array(requestId) },
  { responses_held: { held, launched: count } },
);
export const promptCounted = defineDecision(
  'prompt.counted',
  'notice',
  'A prompt counts for the round.',
  { promptId, roundId },
  { no_filter: { counted: count, needed: count }, passed: { counted: count, needed: count } },
);
export const promptFiltered = defineDecision(
  'prompt.filtered',
  'notice',
  'A collected prompt did not pass the filter: it leaves, is not deferred, and is replaced.',
  { promptId, roundId, ref: ref.optional(), dropped: z.array(droppedResponse) },
  { zero_variance: { standardDeviation: z.number(), tolerance: z.number() }, host: {} },
);
export const promptQuarantined = defineDecision(
  'prompt.quarantined',
  'notice',
  'A prompt has used up its retries: it leaves, by name, and is replaced.',
  { promptId, roundId, ref: ref.optional(), dropped: z.array(droppedResponse) },
  {
    infrastructure: { failures: count, budget: count },
    data: { failures: count, budget: count },
    environment: { failures: count, budget: count },
  },
);
export const promptDeferred = defineDecision(
  'prompt.deferred',
  'notice',
  'An unfinished prompt leaves the round, to be tried again in a later one.',
  { prompt, roundId, dropped: z.array(droppedResponse).describe('Responses that are given up, each with its cause.') },
  {
    round_completed: { held, needed: count },
    quota_filled: { held, needed: count },
    round_failed: { held, needed: count },
    stale_weights: { startVersion: weightVersion, weightVersion, maxStaleness: count },
  },
);
export const promptCarried = defineDecision(
  'prompt.carried',
  'notice',
  'An unfinished prompt goes on running into the next round (`maxStaleness` above 0).',
  { promptId, roundId },
  { within_staleness: { startVersion: weightVersion, maxStaleness: count } },
);
export const promptReturned = defineDecision(
  'prompt.returned',
  'notice',
  'A prompt that was not started, or of which the round has failed, is handed back as it came.',
  { prompt, roundId, dropped: z.array(droppedResponse).describe('Responses that are given up.') },
  { not_started: {}, round_closed: {}, round_failed: {} },
);
export const promptMerged = defineDecision(
  'prompt.merged',
  'notice',
  'A prompt that is here already was supplied again: one of the two is dropped.',
  { promptId, roundId: roundId.optional(), ref: ref.optional(), dropped: z.array(droppedResponse) },
  { already_in_round: {}, already_queued: { deferrals: count } },
);
export const roundPlanned = defineDecision(
  'round.planned',
  'notice',
  'What the next round is: its kind, and the queued prompts that it begins with.',
  { roundId, kind, weightVersion, queued: z.array(prompt) },
  {
    queue_below_threshold: { queued: count, promptsPerRound: count },
    queue_full: { queued: count, promptsPerRound: count },
    prompt_overdue: { deferrals: count, waitedRounds: count },
    source_exhausted: { queued: count },
  },
);
export const roundCompleted = defineDecision(
  'round.completed',
  'notice',
  'The round has all that it trains on; only the ids named here are final.',
  {
    roundId,
    kind,
    weightVersion,
    prompts: z.array(finalPrompt).describe('In the order in which the prompts entered the round.'),
    openedSeconds: seconds.describe('When the round was opened.'),
    deferred: count.describe('Prompts deferred or carried at its end.'),
  },
  {
    quota_reached: { counted: count, needed: count },
    source_exhausted: { counted: count, needed: count },
    only_duplicates: { counted: count, needed: count },
    round_failed: { counted: count, needed: count },
  },
);
export const roundDrained = defineDecision(
  'round.drained',
  'notice',
  'Nothing of the round is in flight any more: the weights may be updated.',
  { roundId },
  { all_ended: { afterSeconds: seconds } },
);
export const sourceDrained = defineDecision(
  'source.drained',
  'notice',
  'There is nothing left to plan a round with.',
  { roundId },
  { source_exhausted: {} },
);
export const speculationChosen = defineDecision(
  'speculation.chosen',
  'notice',
  'The speculation factor that the next rounds use (`speculation: auto`).',
  { promptSpeculation: factor, responseSpeculation: factor },
  {
    exploring: { round: count, rounds: count },
    fixed: { secondsPerRound: seconds, measuredRounds: count },
  },
);

/** Every decision of the vocabulary. */
export const decisions = Object.freeze([
  promptsRequest,
  requestLaunch,
  requestAbort,
  requestResume,
  timerSet,
  responseAccepted,
  responseSurplus,
  responseLate,
  responseDropped,
  responseAbandoned,
  rewardRequest,
  judgementLate,
  requestExpired,
  promptCollected,
  promptCounted,
  promptFiltered,
  promptQuarantined,
  promptDeferred,
  promptCarried,
  promptReturned,
  promptMerged,
  roundPlanned,
  roundCompleted,
  roundDrained,
  sourceDrained,
  speculationChosen,
] as const);

/** Any decision of the vocabulary. */
export type VocabularyDecision = Of<(typeof decisions)[number]>;
