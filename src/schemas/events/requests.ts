/** Events: reports on requests. */
import { z } from 'zod';
import { engineId, message, requestId, tokens, weightVersion } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

const weightVersions = z
  .array(weightVersion)
  .min(1)
  .optional()
  .describe('Versions of the weights that generated it, where the engine tells, ascending; `rolloutpipe` reads them.');

export const requestStarted = defineEvent(
  'request.started',
  'A request runs on this engine. Needed where the host places requests, so that `engine.lost` finds them.',
  { requestId, engineId },
);
export const requestProgressed = defineEvent(
  'request.progressed',
  'A request has generated tokens since the last such report, as a host may tell that limits the time of responses: a response that goes on is no hang.',
  { requestId, tokens: tokens.describe('Tokens that the request has generated so far, over all attempts.') },
);
export const requestAborted = defineEvent('request.aborted', 'The engine confirms that a request has ended early.', {
  requestId,
  tokens: tokens.optional().describe('Tokens that the request had generated, over all attempts.'),
  weightVersions: weightVersions.describe(
    'Versions of the weights that generated these, where the engine tells, ascending.',
  ),
});
export const responseCompleted = defineEvent(
  'response.completed',
  'A request has generated its whole response.',
  { requestId, tokens: tokens.describe('Tokens of the response, over all attempts.'), weightVersions },
  { entered: { responses: (one) => [one.requestId] } },
);
export const responseFailed = defineEvent('response.failed', 'A request has failed and generates no more.', {
  requestId,
  kind: z
    .enum(['infrastructure', 'data', 'environment'])
    .describe(
      '`infrastructure`: another try may help. `data`: the prompt itself is at fault. `environment`: the sandbox or the tools of a trajectory have failed, not the code in them.',
    ),
  message,
});
