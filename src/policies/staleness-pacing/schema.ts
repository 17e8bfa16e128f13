/** Configuration of staleness-pacing. */
import { z } from 'zod';
import { count, idPrefix, positiveCount } from '../../schemas/units.ts';

export const stalenessPacingConfig = z
  .strictObject({
    groupsPerBatch: positiveCount
      .max(100_000)
      .describe('P: groups of a batch. The trainer makes one version of the weights from each batch.'),
    maxStaleness: count
      .max(1000)
      .default(1)
      .describe('η: most versions that the weights may have advanced from the first token of a group to its batch.'),
    windowGroups: positiveCount
      .optional()
      .describe(
        'W: a batch takes groups from the W oldest alone, in the order of their launches; at least P. Absent: as many as may be in flight.',
      ),
    maxGroups: positiveCount
      .optional()
      .describe(
        'Most groups that are launched and in no batch, where fewer than staleness allows are enough: they are fresher. At least P.',
      ),
    maxBatches: positiveCount
      .max(64)
      .default(1)
      .describe(
        'Batches that the trainer may have at once: the one that it trains, and those that it has fetched ahead. More than η + 1 are never used.',
      ),
    idPrefix: idPrefix
      .default('')
      .describe('Prefix of every id of a launch and of a batch; new after each restart of the host.'),
  })
  .superRefine(({ groupsPerBatch, windowGroups, maxGroups }, context) => {
    for (const [name, value] of Object.entries({ windowGroups, maxGroups })) {
      if (value !== undefined && value < groupsPerBatch)
        context.addIssue({ code: 'custom', path: [name], message: 'at least groupsPerBatch' });
    }
  });
