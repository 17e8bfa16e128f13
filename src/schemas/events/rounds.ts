/** Events: reports on rounds and their prompts. */
import { z } from 'zod';
import { promptsIn } from '../moves.ts';
import { prompt } from '../prompts.ts';
import { domain, message, roundId, roundKind, weightVersion } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const roundRequested = defineEvent(
  'round.requested',
  'The host is ready to begin a rollout round: engines are known where the policy places requests, and the last round has drained.',
  {
    roundId,
    weightVersion,
  },
);
export const roundOpened = defineEvent(
  'round.opened',
  'A rollout round begins with these prompts; what is missing is asked for.',
  {
    roundId,
    kind: roundKind,
    weightVersion,
    prompts: z.array(prompt).describe('Prompts that it begins with, in order.'),
  },
  { entered: promptsIn('prompts') },
);
export const roundFailed = defineEvent(
  'round.failed',
  'The open round is given up by the host: nothing of it was trained.',
  { roundId, message },
);
export const promptsSupplied = defineEvent(
  'prompts.supplied',
  'Prompts that `prompts.request` asked for, in portions of any size.',
  {
    roundId: roundId.describe('The round of the `prompts.request`; prompts for another round are returned.'),
    prompts: z
      .array(prompt)
      .describe(
        'In any number and order; what is beyond the count stands by. A prompt that is here already is merged.',
      ),
  },
  { entered: promptsIn('prompts') },
);
export const sourceExhausted = defineEvent(
  'source.exhausted',
  'The data source has no more prompts, for good or until `source.reopened`.',
  {
    domain: domain.optional().describe('Only this domain is exhausted.'),
  },
);
export const sourceReopened = defineEvent('source.reopened', 'The data source has prompts again (a new epoch).', {});
