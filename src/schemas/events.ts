/** Events: facts that the host reports, in the past tense. */
import { z } from 'zod';
import { prompt } from './prompts.ts';
import { domain, engineId, idPrefix, promptId, requestId, roundId, timerId, tokens, weightVersion } from './units.ts';
import { defineEvent, type Of } from './vocabulary.ts';

const message = z.string().max(2000).optional().describe('What went wrong, for operators.');
const kind = z.enum(['short', 'long']).describe('`short`: with speculation; `long`: without.');

export const roundRequested = defineEvent('round.requested', 'The host is ready to begin a rollout round.', {
  roundId,
  weightVersion,
});
export const roundOpened = defineEvent(
  'round.opened',
  'A rollout round begins with these prompts; what is missing is asked for.',
  { roundId, kind, weightVersion, prompts: z.array(prompt) },
);
export const roundFailed = defineEvent(
  'round.failed',
  'The open round is given up by the host: nothing of it was trained.',
  { roundId, message },
);
export const promptsSupplied = defineEvent(
  'prompts.supplied',
  'Prompts that were asked for, in portions of any size.',
  {
    roundId,
    prompts: z.array(prompt),
  },
);
export const sourceExhausted = defineEvent('source.exhausted', 'The data source has no more prompts.', {
  domain: domain.optional().describe('Only this domain is exhausted.'),
});
export const sourceReopened = defineEvent('source.reopened', 'The data source has prompts again (a new epoch).', {});
export const engineAdded = defineEvent('engine.added', 'An inference engine takes requests. May be repeated.', {
  engineId,
});
export const engineDrained = defineEvent('engine.drained', 'An engine finishes what it has and takes nothing new.', {
  engineId,
});
export const engineLost = defineEvent('engine.lost', 'An engine is gone, with all requests that ran on it.', {
  engineId,
});
export const requestStarted = defineEvent('request.started', 'A request runs on this engine.', { requestId, engineId });
export const requestAborted = defineEvent('request.aborted', 'The engine confirms that a request has ended early.', {
  requestId,
  tokens: tokens.optional().describe('Tokens that the request had generated, over all attempts.'),
});
export const responseCompleted = defineEvent('response.completed', 'A request has generated its whole response.', {
  requestId,
  tokens: tokens.describe('Tokens of the response, over all attempts.'),
});
export const responseFailed = defineEvent('response.failed', 'A request has failed and generates no more.', {
  requestId,
  kind: z
    .enum(['infrastructure', 'data'])
    .describe('`infrastructure`: another try may help. `data`: the prompt itself is at fault.'),
  message,
});
export const rewardReady = defineEvent('reward.ready', 'The reward of a completed response is known.', {
  requestId,
  reward: z.number().describe('The raw reward, not a shaped one.'),
});
export const promptJudged = defineEvent('prompt.judged', 'The host has judged a collected prompt (filter `host`).', {
  roundId,
  promptId,
  keep: z.boolean().describe('Whether the prompt counts.'),
});
export const turnFinished = defineEvent('turn.finished', 'A turn of a multi-turn trajectory has been generated.', {
  requestId,
  tokens: tokens.describe('Tokens that the trajectory has generated so far.'),
});
export const environmentWaiting = defineEvent(
  'environment.waiting',
  'A trajectory waits for its environment and needs no engine meanwhile.',
  { requestId },
);
export const environmentResumed = defineEvent('environment.resumed', 'The environment has answered.', { requestId });
export const environmentFailed = defineEvent('environment.failed', 'The environment of a trajectory has failed.', {
  requestId,
  message,
});
export const timerFired = defineEvent('timer.fired', 'A timer that a `timer.set` asked for has run out.', { timerId });
export const hostRestarted = defineEvent(
  'host.restarted',
  'The host has restarted: all that was in flight is gone. No retry budget is charged.',
  { idPrefix },
);

/** Every event of the vocabulary. */
export const events = Object.freeze([
  roundRequested,
  roundOpened,
  roundFailed,
  promptsSupplied,
  sourceExhausted,
  sourceReopened,
  engineAdded,
  engineDrained,
  engineLost,
  requestStarted,
  requestAborted,
  responseCompleted,
  responseFailed,
  rewardReady,
  promptJudged,
  turnFinished,
  environmentWaiting,
  environmentResumed,
  environmentFailed,
  timerFired,
  hostRestarted,
] as const);

/** Any event of the vocabulary. */
export type VocabularyEvent = Of<(typeof events)[number]>;
