/** Events: reports on rounds and their prompts. */
import { z } from 'zod';
import { prompt } from '../prompts.ts';
import { domain, message, roundId, roundKind, weightVersion } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const roundRequested = defineEvent('round.requested', 'The host is ready to begin a rollout round.', {
  roundId,
  weightVersion,
});
export const roundOpened = defineEvent(
  'round.opened',
  'A rollout round begins with these prompts; what is missing is asked for.',
  {
    roundId,
    kind: roundKind,
    weightVersion,
    prompts: z.array(prompt).describe('Prompts that it begins with, in order.'),
  },
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
    prompts: z.array(prompt).describe('In any number and order; one that is here already is merged.'),
  },
);
export const sourceExhausted = defineEvent('source.exhausted', 'The data source has no more prompts.', {
  domain: domain.optional().describe('Only this domain is exhausted.'),
});
export const sourceReopened = defineEvent('source.reopened', 'The data source has prompts again (a new epoch).', {});
