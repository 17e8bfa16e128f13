/** The plan of micro-batches. */
import { z } from 'zod';
import { count } from '../../schemas/units.ts';

const amount = z.number().nonnegative();

export const microBatch = z
  .strictObject({
    sequences: z
      .array(count)
      .describe('Its sequences, ascending: indices in `lengths`, or in the list of that rank in `lengthsByRank`.'),
    tokens: amount.describe('Tokens that the rank has in it: the sum of length ÷ degree.'),
    work: amount.describe('Work of the rank in it, in the unit of `compute`.'),
    empty: z.boolean().describe('No sequence is in it: the rank runs a pass over padding that counts for nothing.'),
    overCap: z.boolean().describe('One sequence is in it that is above the cap by itself.'),
  })
  .describe('What a rank runs in one forward and backward pass.');

export const microBatchesPlan = z.strictObject({
  count: count.describe('Micro-batches of every rank.'),
  ranks: z
    .array(z.strictObject({ microBatches: z.array(microBatch).describe('In the order in which they are run.') }))
    .describe('What each rank runs.'),
  bounds: z
    .strictObject({ count: count.describe('No plan has fewer micro-batches.') })
    .describe('How good a plan could be at best.'),
  metrics: z
    .strictObject({
      maxTokens: amount.describe('Tokens of the largest micro-batch.'),
      maxWork: amount.describe('Work of the micro-batch that has most.'),
      totalWork: amount.describe('Work of all ranks.'),
      lockstepWork: amount.describe(
        'Most work of a rank in the first micro-batches, plus most in the second ones, and so on: what a step takes if ranks wait for each other at every micro-batch.',
      ),
      empty: count.describe('Empty micro-batches of all ranks.'),
    })
    .describe('How good this one is.'),
});
