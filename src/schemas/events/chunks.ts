/** Events: requests whose responses are generated in chunks. */
import { z } from 'zod';
import { chunkRequest } from '../prompts.ts';
import { promptId, requestId, tokens } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const requestOpened = defineEvent(
  'request.opened',
  'A response is to be generated in chunks. A host without an admission gives the request an id of its own.',
  { requestId, promptId: promptId.optional() },
  { entered: { requests: (one) => [one.requestId] } },
);
export const chunksRequested = defineEvent(
  'chunks.requested',
  'These requests need engines for their next chunks. All of a round in one event, so that the longest can be first. A request that asks again goes on from what this event says.',
  {
    requests: z
      .array(chunkRequest)
      .min(1)
      .refine((all) => new Set(all.map((one) => one.requestId)).size === all.length, 'expected each request once')
      .describe('The requests, each once.'),
  },
);
export const chunkFinished = defineEvent(
  'chunk.finished',
  'A chunk has been generated, and the response is not over. If it is over, `response.completed` says so instead.',
  { requestId, tokens: tokens.describe('Tokens of the response so far, over all chunks.') },
);
