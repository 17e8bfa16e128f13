/** Training replicas, groups of responses, and shares of the work. */
import { z } from 'zod';
import { count, idText, tokenSum, weightVersion } from './units.ts';

export type { PacedGroup, TrainingShare } from '../generated/messages/objects.ts';

/** The id of a group, which is the id of the prompt. */
export const groupId = idText(512).describe('Id of the group: that of the prompt whose responses it is made of.');
/** The id of one launch of a group, minted by the policy: `<idPrefix>launch#<n>`. */
export const launchId = idText(200).describe('Id of the launch of the group, minted by the policy; new for every try.');
/** The id of a data-parallel replica of the trainer. */
export const replicaId = idText(512).describe('Id of the data-parallel training replica.');
/** The id of a GPU, given by the host. */
export const gpuId = idText(512).describe('Id of the GPU, given by the host.');
/** The id of a fetch or a share, minted by the policy: `<idPrefix><replica>#<n>`. */
export const fetchId = idText(1200).describe('Id of the fetch or share, minted by the policy.');

export const trainingShare = z
  .strictObject({
    fetchId,
    replica: replicaId,
    groups: z
      .array(groupId)
      .describe('Whole groups, longest first; none for a replica that only takes part in the step.'),
    samples: count.describe('Samples of these groups.'),
    tokens: tokenSum.describe('Tokens of these groups.'),
  })
  .describe('What one replica trains of the rest of a round.');

export const pacedGroup = z
  .strictObject({
    groupId,
    launchId,
    weightVersion: weightVersion.describe('Version of the weights that its first tokens are of, or an older one.'),
  })
  .describe('A group of a batch, and how old it may be.');
