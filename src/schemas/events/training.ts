/** Events: reports on the training of a round. */
import { z } from 'zod';
import { groupKey } from '../moves.ts';
import { updateId } from '../pipelining.ts';
import { fetchId, groupId, launchId, replicaId } from '../training.ts';
import { count, positiveCount, roundId, seconds, tokenSum } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

const trained = {
  fetchId,
  replica: replicaId,
  groups: z.array(groupId).describe('Groups whose gradients are accumulated; those left out go to another try.'),
  samples: count.describe('Samples in the accumulated gradients of these groups.'),
  tokens: tokenSum.describe('Tokens that the loss counted in these groups.'),
  seconds: seconds.describe('How long the replica worked on them, in seconds; reference pass included.'),
};

export const groupCompleted = defineEvent(
  'group.completed',
  'A group has all its responses, rewards and advantages and counts for the round.',
  {
    roundId,
    groupId,
    samples: positiveCount.describe('Responses of the group.'),
    tokens: tokenSum.describe('Tokens of the group, all responses together.'),
    launchId: launchId
      .optional()
      .describe('The `group.launch` that it answers; needed where a policy launches groups (`staleness-pacing`).'),
  },
  { entered: { groups: (one) => [groupKey(one.roundId, one.groupId)] } },
);
export const groupRejected = defineEvent(
  'group.rejected',
  'A group that was launched does not train: a filter rejects it, or it has failed for good. Another one takes its place.',
  {
    roundId,
    groupId,
    launchId,
    cause: z
      .enum(['filtered', 'failed'])
      .describe('`filtered`: its rewards teach nothing, for example. `failed`: it has no responses, or too few.'),
  },
);
export const trainConsumed = defineEvent(
  'train.consumed',
  'A replica has accumulated the gradients of a `train.fetch`.',
  trained,
);
export const trainFinished = defineEvent(
  'train.finished',
  'A replica has accumulated the gradients of its share of a `train.finish`.',
  trained,
);
export const optimizerStepped = defineEvent(
  'optimizer.stepped',
  'The optimizer has stepped on the gradients of the round, or of one of its updates.',
  { roundId, updateId: updateId.describe('That of the `optimizer.step` which was carried out.') },
);
export const replicaLost = defineEvent(
  'replica.lost',
  'A training replica is gone, with the gradients that it had accumulated. May be repeated.',
  { replica: replicaId },
);
export const replicaAdded = defineEvent(
  'replica.added',
  'A training replica is there again, without gradients. May be repeated.',
  { replica: replicaId },
);
