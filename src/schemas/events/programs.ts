/** Events: reports on programs. A program is a trajectory of turns with tools between them, and has the id of its request. */
import { z } from 'zod';
import { freeText, promptId, requestId, seconds, tokens } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const programOpened = defineEvent(
  'program.opened',
  'A program has begun: the trajectory of one request, in turns. A host without an admission gives it an id of its own.',
  {
    requestId,
    promptId: promptId.optional(),
    promptTokens: tokens
      .optional()
      .describe('Tokens with which every program of this prompt begins; an engine caches them once.'),
  },
  { entered: { programs: (one) => [one.requestId] } },
);
export const programClosed = defineEvent(
  'program.closed',
  'A program is over, however it has ended: it needs no engine any more.',
  { requestId },
);
export const turnRequested = defineEvent(
  'turn.requested',
  'A program needs an engine for its next turn. If it asks again before the turn has finished, the turn runs anew.',
  {
    requestId,
    contextTokens: tokens.describe('Tokens that the turn begins with: all that the engine has to have read.'),
  },
);
export const turnFinished = defineEvent('turn.finished', 'A turn of a multi-turn trajectory has been generated.', {
  requestId,
  tokens: tokens.describe('Tokens that the trajectory has generated so far.'),
  cachedTokens: tokens
    .optional()
    .describe('Tokens of the context that the engine had in its prefix cache, where it tells.'),
});
export const toolStarted = defineEvent(
  'tool.started',
  'A trajectory waits for a tool, or for several at once, and needs no engine meanwhile.',
  {
    requestId,
    tool: freeText(512).describe(
      'Name of the tool; the one that takes longest, of several. 512 characters of it are kept.',
    ),
    expectedSeconds: seconds.optional().describe('How long it will take, in seconds, if the host knows.'),
  },
);
export const toolFinished = defineEvent('tool.finished', 'The tool has answered, and the trajectory may go on.', {
  requestId,
  outcome: z
    .enum(['success', 'error', 'timeout'])
    .describe(
      'What the trajectory sees. If the environment itself has failed, so that it cannot go on, `response.failed` says so.',
    ),
});
