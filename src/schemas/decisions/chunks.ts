/** Decisions: where the chunks of a response are generated, and the lengths of the chunks. */
import { z } from 'zod';
import { count, engineId, requestId, seconds, tokenSum, tokens } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const place = {
  freeTokens: tokenSum.describe('Tokens of the KV cache of the engine that no chunk has, before this one.'),
  expectedTokens: tokens.describe('Length that the response is expected to reach, in tokens.'),
  seconds: seconds.describe(
    'Expected cost there, in seconds of responses: until this one is over, and by which it delays those that run there.',
  ),
};
const waited = { ...place, waitedSeconds: seconds.describe('How long the request waited for room, in seconds.') };
const ended = {
  chunks: count.describe('Chunks that it was given.'),
  moves: count.describe('How often a chunk ran on another engine than the one before.'),
  waitedSeconds: seconds.describe('How long it waited for room, in seconds.'),
};

export const chunkContinue = defineDecision(
  'chunk.continue',
  'command',
  'Generate the next chunk of this response on this engine, up to so many tokens. A host that has lost earlier chunks asks again by `chunks.requested`.',
  {
    requestId,
    engineId,
    fromTokens: tokens.describe('Tokens of the response that come before the chunk.'),
    tokens: z.int().positive().describe('Most tokens of the chunk.'),
  },
  {
    first: waited,
    probe: waited,
    stays: place,
    moved: {
      ...place,
      stayingSeconds: seconds
        .optional()
        .describe('Expected cost on the engine of its last chunk, in seconds; absent if there is no room.'),
    },
    resumed: waited,
    overdue: { ...waited, limitSeconds: seconds.describe('How long a request may wait for room, in seconds.') },
    engine_lost: waited,
    host_restarted: waited,
  },
);
export const chunkAwaited = defineDecision(
  'chunk.awaited',
  'notice',
  'After a restart of the host: this request was opened and has not asked for a chunk; its `chunks.requested` is awaited.',
  { requestId },
  { host_restarted: {} },
);
export const chunkLate = defineDecision(
  'chunk.late',
  'notice',
  'A report about a request that is over, or about a chunk that is not running: nothing changes.',
  { requestId },
  { already_ended: {}, out_of_turn: {} },
);
export const requestEnded = defineDecision(
  'request.ended',
  'notice',
  'A request that was generated in chunks is over: nothing of it is kept.',
  { requestId, tokens: tokens.describe('Tokens that it has generated, as far as was reported.') },
  { completed: ended, failed: ended, aborted: ended },
  { left: { requests: (one) => [one.requestId] } },
);
