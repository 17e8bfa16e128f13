/** Configuration of complete-group-pipelining. */
import { z } from 'zod';
import { advantageFields } from '../../schemas/advantages.ts';
import { idPrefix, positiveCount } from '../../schemas/units.ts';

const shape = z.strictObject({
  responsesPerPrompt: positiveCount.describe('K: responses of a complete group.'),
  globalBatchSamples: positiveCount.describe(
    'B: samples of an update, a multiple of `responsesPerPrompt`; an update takes U = B / K groups.',
  ),
  maxTokensPerGpu: positiveCount
    .optional()
    .describe('Token budget of a micro-batch; absent: an update is one micro-batch.'),
  pipelining: z
    .boolean()
    .default(true)
    .describe('Whether updates are dispatched while the rollout goes on; `false`: after it, as a serial trainer does.'),
  filter: z
    .enum(['none', 'zero-variance'])
    .default('none')
    .describe('`zero-variance`: groups whose rewards are all the same are not trained.'),
  incompleteGroups: z
    .enum(['drop', 'train'])
    .default('drop')
    .describe('What becomes of a group in which a reward is missing for good.'),
  otherVersions: z
    .enum(['refuse', 'drop'])
    .default('refuse')
    .describe('A group with a sample of other weights than its round: an `invalid_event`, or left out by name.'),
  ...advantageFields,
  idPrefix: idPrefix.default('').describe('Prefix of every update id; new after each restart of the host.'),
});

export const pipeliningConfig = shape.superRefine(({ globalBatchSamples, responsesPerPrompt }, context) => {
  if (globalBatchSamples % responsesPerPrompt === 0) return;
  const message = `expected a multiple of responsesPerPrompt, ${responsesPerPrompt}`;
  context.addIssue({ code: 'custom', path: ['globalBatchSamples'], message });
});
