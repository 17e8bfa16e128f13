/** Updates of a trainer, and their micro-batches. */
import { z } from 'zod';
import { groupId } from './training.ts';
import { count, tokenSum } from './units.ts';

export type { MicroBatch } from '../generated/messages/objects.ts';

/** The id of one attempt at an update, minted by the policy: `<idPrefix>update#<n>`. */
export const updateId = z
  .string()
  .min(1)
  .max(200)
  .describe('Id of the update, minted by the policy; new for every try.');
/** The id of one attempt to publish weights, minted by the policy: `<idPrefix>publication#<n>`. */
export const publicationId = z
  .string()
  .min(1)
  .max(200)
  .describe('Id of the publication, minted by the policy; new for every try.');
/** Index of an update in its round, from 0. */
export const updateIndex = count.describe('Which update of the round, from 0.');

export const microBatch = z
  .strictObject({
    groups: z.array(groupId).min(1).describe('Whole groups, in the order of the update.'),
    tokens: tokenSum.describe('Tokens of these groups, prompts included where they are known.'),
    dynamic: z
      .boolean()
      .describe('Whether it is one group over the budget, which has to be cut into micro-batches of its own samples.'),
  })
  .describe('Whole groups that are computed together.');
