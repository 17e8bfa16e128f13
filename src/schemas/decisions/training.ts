/** Decisions: the work of training replicas, and the steps of the optimizer. */
import { z } from 'zod';
import { groupKey } from '../moves.ts';
import { publicationId, updateId } from '../pipelining.ts';
import { fetchId, groupId, replicaId, trainingShare } from '../training.ts';
import { count, positiveCount, roundId, seconds, tokenSum, weightVersion } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const groups = z.array(groupId);
const samples = count.describe('Samples of these groups.');
const allTokens = tokenSum.describe('Tokens of these groups.');
const numberOfGroups = count.describe('How many groups.');
const waitingGroups = count.describe('Groups of the round that wait to be trained.');
const trainedGroups = count.describe('Groups that were trained.');
const streamed = count.describe('Groups that replicas had been sent when the round was complete.');
const afterSeconds = seconds.describe('Since the round was complete, in seconds.');
const all = {
  groups: (one: { readonly roundId: string; readonly groups: readonly string[] }) =>
    one.groups.map((groupId) => groupKey(one.roundId, groupId)),
};

export const trainFetch = defineDecision(
  'train.fetch',
  'command',
  'Add the gradients of these groups to those of the replica, without synchronising them, and answer `train.consumed`.',
  {
    roundId,
    fetchId,
    replica: replicaId,
    groups: groups.describe('Whole groups, in the order in which they were completed.'),
    samples,
    tokens: allTokens,
    gradientSync: z.literal(false).describe('Gradients stay on the replica until the round is over.'),
    optimizerLoaded: z.literal(false).describe('Optimizer states need no memory yet.'),
  },
  {
    probe: { waitingGroups },
    fair_share: {
      waitingGroups,
      waitingTokens: tokenSum.describe('Tokens of these groups.'),
      replicas: count.describe('Replicas that train.'),
    },
    round_end: {
      waitingGroups,
      missingGroups: count.describe('Groups of the round that are not complete.'),
      restSeconds: seconds.describe('When the rollout is expected to end, seconds from now.'),
      secondsPerToken: seconds.describe('Seconds that the replica takes for a token.'),
    },
    once: { waitingGroups, capGroups: count.describe('Most groups that are fetched at once.') },
  },
);
const shared = {
  remaining: count.describe('Groups that are spread by this decision.'),
  streamed,
  replicas: count.describe('Replicas that take part.'),
};
export const trainFinish = defineDecision(
  'train.finish',
  'command',
  'Train what remains of the round, each replica its share, and answer `train.finished` for each share.',
  {
    roundId,
    remaining: count.describe('Groups that are spread by this decision.'),
    shares: z.array(trainingShare).describe('By replica, in the order of the configuration.'),
    expectedSeconds: seconds
      .optional()
      .describe('When the last replica is expected to be done, seconds from now; absent if nothing was measured yet.'),
  },
  {
    round_completed: shared,
    replica_lost: shared,
    host_restarted: shared,
    partly_consumed: shared,
    step_failed: shared,
  },
);
const requeued = {
  consumed: count.describe('Groups whose gradients the replica had accumulated.'),
  inFlight: count.describe('Groups that it had been sent and had not reported.'),
};
export const trainRequeued = defineDecision(
  'train.requeued',
  'notice',
  'Groups are to be trained again: their gradients are gone, or were never made.',
  { roundId, replica: replicaId, groups: groups.describe('In the order in which they will be fetched again.') },
  {
    replica_lost: requeued,
    host_restarted: requeued,
    step_failed: requeued,
    not_final: requeued,
    partly_consumed: requeued,
  },
);
export const trainingLate = defineDecision(
  'training.late',
  'notice',
  'A report that is repeated, or about a fetch, an update, a publication, a release or a round that is over: nothing changes.',
  {
    roundId: roundId.optional(),
    fetchId: fetchId.optional(),
    updateId: updateId.optional(),
    publicationId: publicationId.optional(),
  },
  {
    fetch_over: {},
    release_over: {},
    round_over: {},
    round_completed: {},
    update_over: {},
    already_consumed: {},
    publication_over: {},
    // The optimizer has made a step that the policy had withdrawn: its groups are trained again, and the weights may contain them
    // twice.
    step_withdrawn: {},
  },
);
export const groupLate = defineDecision(
  'group.late',
  'notice',
  'A completed group that is here already, or of a round that trains on others: it is not trained.',
  { roundId, groupId },
  { known: {}, launch_over: {}, round_completed: {}, round_over: {} },
  { left: { groups: (one) => [groupKey(one.roundId, one.groupId)] } },
);
export const groupsDropped = defineDecision(
  'groups.dropped',
  'notice',
  'Completed groups that are not trained.',
  { roundId, groups: groups.describe('In the order in which they were completed.') },
  {
    round_failed: { groups: numberOfGroups },
    not_final: { groups: numberOfGroups },
    zero_variance: {
      standardDeviation: z.number().describe('Population standard deviation of the raw rewards.'),
      tolerance: z.number().describe('Up to which it counts as none.'),
    },
    incomplete: {
      samples: count.describe('Responses of the group that have a reward.'),
      needed: count.describe('Responses that a group needs.'),
    },
    other_weights: { weightVersion, got: weightVersion.describe('Version of the weights that generated the group.') },
  },
  { left: all },
);
export const gradientsOffload = defineDecision(
  'gradients.offload',
  'command',
  'Move the accumulated gradients of the replica to host memory.',
  { roundId, replica: replicaId },
  { idle: { groups: numberOfGroups }, gpus_returned: { groups: numberOfGroups } },
);
export const gradientsReload = defineDecision(
  'gradients.reload',
  'command',
  'Bring the accumulated gradients of the replica back into GPU memory.',
  { roundId, replica: replicaId },
  { fetch: { groups: numberOfGroups }, finish: { groups: numberOfGroups } },
);
export const gradientsDiscard = defineDecision(
  'gradients.discard',
  'command',
  'Stop what the replica computes, and drop the gradients that it has accumulated.',
  { roundId, replica: replicaId },
  {
    round_failed: { groups: numberOfGroups },
    not_final: { groups: numberOfGroups },
    step_failed: { groups: numberOfGroups },
  },
);
export const weightsSwap = defineDecision(
  'weights.swap',
  'command',
  'Put these weights on the GPUs of the replica, in place of the others.',
  {
    roundId,
    replica: replicaId,
    to: z.enum(['reference', 'actor']).describe('Which weights the replica has next.'),
  },
  { reference_pass: { groups: numberOfGroups } },
);
export const referenceCompute = defineDecision(
  'reference.compute',
  'command',
  'Compute the reference logits of the groups that the replica trains next.',
  { roundId, fetchId, replica: replicaId, groups: groups.describe('In the order in which they are trained.') },
  { reference_pass: { groups: numberOfGroups } },
);
const units = {
  units: z.number().nonnegative().describe('Units of the loss on this replica: samples, tokens or groups.'),
  total: z.number().nonnegative().describe('Units on all replicas, or the divisor that is configured.'),
  replicas: count.describe('Replicas of the collective.'),
};
export const gradientScale = defineDecision(
  'gradient.scale',
  'command',
  'Multiply the accumulated gradients of the replica by this factor, before they are synchronised.',
  {
    roundId,
    replica: replicaId,
    factor: z.number().nonnegative().describe('Factor; 0 for a replica without units of a mean.'),
  },
  { local_mean: units, local_sum: units },
);
export const optimizerStep = defineDecision(
  'optimizer.step',
  'command',
  'Synchronise the scaled gradients over these replicas, step once, and answer `optimizer.stepped`.',
  {
    roundId,
    updateId: updateId.describe('Id of this try to step, minted by the policy; it goes into the answer.'),
    replicas: z
      .array(replicaId)
      .optional()
      .describe('Every replica of the collective, those without groups included; absent: all of the trainer.'),
    groups: z
      .array(groupId)
      .optional()
      .describe('Groups whose gradients it steps on, where a round has several updates.'),
    samples: count.describe('Samples in the gradients.'),
    tokens: tokenSum.describe('Tokens in the gradients.'),
  },
  {
    all_finished: { groups: trainedGroups, streamed, afterSeconds },
    update_consumed: {
      groups: count.describe('Groups of the update.'),
      groupsPerUpdate: positiveCount.describe('Groups of a whole update.'),
      update: count.describe('Which update of the round, from 0.'),
      seconds: seconds.describe('How long the trainer has computed for it, in seconds.'),
    },
  },
);
export const roundTrained = defineDecision(
  'round.trained',
  'notice',
  'Every group of the round is in one optimizer step, each in one, and the weights are new.',
  { roundId, groups: groups.describe('In the order in which they were completed.') },
  {
    stepped: { groups: trainedGroups, streamed, afterSeconds },
    published: {
      groups: trainedGroups,
      updates: count.describe('Updates that they were trained in.'),
      afterSeconds,
    },
    nothing_to_train: {},
  },
  { left: all },
);
