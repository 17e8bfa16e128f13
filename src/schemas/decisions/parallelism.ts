/** Decisions: the parallelism of rollouts, and the profiles that it needs. */
import { z } from 'zod';
import { expertParallel, profileConfiguration, replicaGroup, tensorParallel } from '../parallelism.ts';
import { count, roundId, roundKind, seconds } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const ratio = z.number().nonnegative();
const from = {
  fromTp: tensorParallel.describe('Tensor-parallel degree before.'),
  fromEp: expertParallel.optional().describe('Expert-parallel degree before.'),
};
const wanted = {
  wantedTp: tensorParallel.describe('Tensor-parallel degree that it would have changed to.'),
  wantedEp: expertParallel.optional().describe('Expert-parallel degree that it would have changed to.'),
};
const predictedSeconds = seconds.describe('Seconds of a rollout step that the profile predicts.');
const predicted = {
  predictedSeconds,
  fromPredictedSeconds: seconds.optional().describe('The same with the degrees before, where the profile knows them.'),
};
const preemptions = count.describe('Preemptions of the step, over all engines.');
const previousPreemptions = count.describe('Preemptions of the step of this kind before.');
const failed = {
  failedTp: tensorParallel.describe('Tensor-parallel degree that could not be set.'),
  failedEp: expertParallel.optional().describe('Expert-parallel degree that could not be set.'),
};
const far = {
  rounds: count.describe('Rounds of such observations in a row.'),
  observedSeconds: seconds.describe('Seconds of a decode step that were observed.'),
};

const ofStep = {
  left: { steps: ({ roundId: id }: { readonly roundId?: string | undefined }) => (id === undefined ? [] : [id]) },
};

export const kindTpSet = defineDecision(
  'kind-tp.set',
  'command',
  'Run rounds of this kind with these replicas, from the next one on; what runs now is not touched.',
  {
    roundId: roundId.optional().describe('The round whose end led to it, if one did.'),
    kind: roundKind,
    tp: tensorParallel,
    ep: expertParallel.optional(),
    replicas: z.array(replicaGroup).min(1).describe('Every replica with its GPUs, each inside one server.'),
  },
  {
    start_configured: {},
    start_smallest: {},
    start_profile: { predictedSeconds },
    host_restarted: {},
    profile_selected: { ...from, ...predicted },
    routing_skewed: {
      ...from,
      ...predicted,
      routingSkew: ratio.describe('Observed tokens of the most loaded expert rank ÷ their mean over the ranks.'),
    },
    preemptions_rose: { ...from, preemptions, previousPreemptions },
    preemption_free: { ...from, steps: count.describe('Steps in a row without a preemption.') },
    undone: {
      ...from,
      measuredToPredicted: ratio.describe('Measured ÷ predicted seconds of the step after the change.'),
      before: ratio.describe(
        'The same before the change: of the last step, or the mean over its steps if that is more.',
      ),
    },
    not_applied: from,
  },
  ofStep,
);
export const roundTpSet = defineDecision(
  'round-tp.set',
  'command',
  'Run this round with these replicas: change the engines, where they differ, before its requests are launched.',
  {
    roundId,
    kind: roundKind,
    tp: tensorParallel,
    ep: expertParallel.optional(),
    replicas: z.array(replicaGroup).min(1).describe('Every replica with its GPUs, each inside one server.'),
  },
  { round_planned: {}, host_restarted: {} },
);
export const kindTpKept = defineDecision(
  'kind-tp.kept',
  'notice',
  'The parallelism of this kind of round stays as it is.',
  {
    roundId: roundId.optional().describe('The round that has ended, if one has.'),
    kind: roundKind,
    tp: tensorParallel,
    ep: expertParallel.optional(),
  },
  {
    first_step: { preemptions },
    steady: { preemptions, previousPreemptions, calmSteps: count.describe('Steps in a row without a preemption.') },
    cooldown: { preemptions, stepsLeft: count.describe('Steps of the cooldown that are left after this one.') },
    at_bound: {
      minTp: tensorParallel.describe('Least tensor-parallel degree that is possible.'),
      maxTp: tensorParallel.describe('Greatest tensor-parallel degree that is possible.'),
    },
    vetoed: {
      ...wanted,
      wantedPredictedSeconds: seconds.describe('Seconds that the profile predicts with the degrees that were wanted.'),
      predictedSeconds: seconds.describe('Seconds that it predicts with those that stay.'),
    },
    does_not_fit: wanted,
    load_unchanged: {
      ...wanted,
      loadTokens: ratio.describe('Load of the step, in tokens.'),
      barredAtTokens: ratio.describe('Load at which these degrees were undone or refused, in tokens.'),
    },
    settled: {
      ...wanted,
      changes: count.describe('Changes that were made at this load.'),
      mostChanges: count.describe('Most changes at one load.'),
    },
    other_parallelism: {
      ranTp: tensorParallel.describe('Tensor-parallel degree that the round has run with.'),
      ranEp: expertParallel.optional().describe('Expert-parallel degree that the round has run with.'),
    },
    repeated: {},
    not_applied: failed,
    late: failed,
  },
  ofStep,
);
export const profileMeasure = defineDecision(
  'profile.measure',
  'command',
  'Measure these points and answer with `profile.measured`; asked for again while observations stay far off.',
  { configurations: z.array(profileConfiguration).min(1).describe('Points to measure, by batch size and length.') },
  {
    observed_far: { ...far, profileSeconds: seconds.describe('Seconds that the profile says for such a step.') },
    not_profiled: far,
  },
);
