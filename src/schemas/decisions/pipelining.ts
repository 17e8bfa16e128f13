/** Decisions: feeding a trainer with complete groups during the rollout. */
import { z } from 'zod';
import { microBatch, publicationId, updateId, updateIndex } from '../pipelining.ts';
import { groupId } from '../training.ts';
import { count, positiveCount, requestId, roundId, seconds, tokenSum, weightVersion } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const waiting = count.describe('Groups that wait for an update, this one included.');
const dispatched = {
  waiting: count.describe('Groups that waited for an update.'),
  groupsPerUpdate: positiveCount.describe('Groups of a whole update.'),
};

export const groupTrainable = defineDecision(
  'group.trainable',
  'notice',
  'A group is complete, with statistics and advantages: it waits for its update.',
  {
    roundId,
    groupId,
    order: count.describe('Its place among the trainable groups of the round, from 0: the order of training.'),
    samples: positiveCount.describe('Responses of the group.'),
    tokens: tokenSum.describe('Tokens of the group, prompts included where they are known.'),
    mean: z.number().describe('Mean of its rewards.'),
    std: z.number().nonnegative().describe('Their standard deviation, of the kind that is configured.'),
    requestIds: z.array(requestId).min(1).describe('Its responses, by index.'),
    advantages: z.array(z.number()).min(1).describe('The advantage of each of them, in the same order.'),
  },
  { materialized: { ...dispatched, waiting } },
);
const again = {
  attempts: count.describe('Tries of this update before this one.'),
  consumed: count.describe('Groups of it that the try before had reported.'),
};
export const trainDispatch = defineDecision(
  'train.dispatch',
  'command',
  'Accumulate the gradients of this update, after the optimizer has stepped on the one before, and answer `update.consumed`.',
  {
    roundId,
    updateId,
    update: updateIndex,
    weightVersion: weightVersion.describe('Version of the weights that generated every response of it.'),
    groups: z.array(groupId).min(1).describe('Whole groups, in the order in which they became trainable.'),
    samples: count.describe('Samples of these groups: what the loss of the update is divided by.'),
    tokens: tokenSum.describe('Tokens of these groups, prompts included where they are known.'),
    microBatches: z.array(microBatch).min(1).describe('The same groups, in the same order, under the token budget.'),
  },
  {
    batch_ready: dispatched,
    round_end: dispatched,
    update_lost: again,
    trainer_restarted: again,
    host_restarted: again,
  },
);
export const updateCancel = defineDecision(
  'update.cancel',
  'command',
  'Stop these updates, and drop the gradients that they have accumulated: their round is given up.',
  { roundId, updateIds: z.array(updateId).min(1).describe('In the order of their updates.') },
  { round_failed: { groups: count.describe('Groups of these updates.') } },
);
const publication = {
  groups: count.describe('Groups that were trained.'),
  updates: count.describe('Updates that they were trained in.'),
};
export const weightsPublish = defineDecision(
  'weights.publish',
  'command',
  'Export the weights of the trainer to the rollout engines, and answer `weights.published`.',
  {
    roundId,
    publicationId,
    weightVersion: weightVersion.describe('Version that the round was generated with: the one that is replaced.'),
  },
  {
    all_consumed: {
      ...publication,
      afterSeconds: seconds.describe('Since the rollout of the round ended, in seconds.'),
    },
    round_failed: publication,
    trainer_restarted: publication,
    host_restarted: publication,
  },
);
const ratio = z.number().min(0).max(1);
export const pipelineMeasured = defineDecision(
  'pipeline.measured',
  'notice',
  'How well the trainer was fed in the round: times from the opening of the round, and waiting ratios.',
  {
    roundId,
    rolloutSeconds: seconds.describe('Until every group had its rewards: when a serial trainer would begin.'),
    firstBatchSeconds: seconds.describe('Until the groups of the first update were trainable.'),
    firstDispatchSeconds: seconds.describe('Until the first update was dispatched.'),
    recoverySeconds: seconds.describe(
      'What pipelining takes off the wait (RolloutPipe equation 3): `rolloutSeconds` − `firstBatchSeconds`.',
    ),
    trainEndSeconds: seconds.describe('Until the optimizer had made its last step.'),
    waitSeconds: seconds.describe('Seconds of these in which the trainer had no update.'),
    computeSeconds: seconds.describe('Seconds that the trainer has reported; work that was lost counts too.'),
    startWaitingRatio: ratio.describe(
      'RolloutPipe equation 4: `firstDispatchSeconds` ÷ `trainEndSeconds`, the wait before the first update alone.',
    ),
    computeWaitingRatio: ratio.describe('RolloutPipe §5.1: `waitSeconds` ÷ (`waitSeconds` + `computeSeconds`).'),
    wallClockWaitingRatio: ratio.describe('RolloutPipe §3.2, in words: `waitSeconds` ÷ `trainEndSeconds`.'),
  },
  {
    round_trained: {
      ...publication,
      dropped: count.describe('Groups that were not trained.'),
      dispatches: count.describe('Tries of these updates.'),
    },
  },
);
