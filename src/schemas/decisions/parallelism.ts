/** Decisions: the parallelism of rollouts, and what must be profiled for it. */
import { z } from 'zod';
import { expertParallel, profileConfiguration, replicaGroup, tensorParallel } from '../parallelism.ts';
import { count, roundId, roundKind, seconds } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const ratio = z.number().nonnegative();
const from = { fromTp: tensorParallel, fromEp: expertParallel.optional() };
const wanted = { wantedTp: tensorParallel, wantedEp: expertParallel.optional() };
const predicted = { predictedSeconds: seconds, fromPredictedSeconds: seconds.optional() };

export const tpSet = defineDecision(
  'tp.set',
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
    start_profile: { predictedSeconds: seconds },
    host_restarted: {},
    profile_selected: { ...from, ...predicted },
    routing_skewed: { ...from, ...predicted, routingSkew: ratio },
    preemptions_rose: { ...from, preemptions: count, previousPreemptions: count },
    preemption_free: { ...from, steps: count },
    undone: { ...from, measuredToPredicted: ratio, before: ratio },
    not_applied: from,
  },
);
export const tpUse = defineDecision(
  'tp.use',
  'command',
  'Run this round with these replicas: change the engines, where they differ, before its requests are launched.',
  {
    roundId,
    kind: roundKind,
    tp: tensorParallel,
    ep: expertParallel.optional(),
    replicas: z.array(replicaGroup).min(1).describe('Every replica with its GPUs, each inside one server.'),
  },
  { round_planned: {} },
);
export const tpKept = defineDecision(
  'tp.kept',
  'notice',
  'The parallelism of this kind of round stays as it is.',
  {
    roundId: roundId.optional().describe('The round that has ended, if one has.'),
    kind: roundKind,
    tp: tensorParallel,
    ep: expertParallel.optional(),
  },
  {
    first_step: { preemptions: count },
    steady: { preemptions: count, previousPreemptions: count, calmSteps: count },
    cooldown: { preemptions: count, stepsLeft: count },
    at_bound: { minTp: tensorParallel, maxTp: tensorParallel },
    vetoed: { ...wanted, wantedPredictedSeconds: seconds, predictedSeconds: seconds },
    does_not_fit: wanted,
    load_unchanged: { ...wanted, loadTokens: ratio, barredAtTokens: ratio },
    settled: { ...wanted, changes: count, mostChanges: count },
    other_parallelism: { ranTp: tensorParallel, ranEp: expertParallel.optional() },
    repeated: {},
    not_applied: { failedTp: tensorParallel, failedEp: expertParallel.optional() },
    late: { failedTp: tensorParallel, failedEp: expertParallel.optional() },
  },
);
export const profileMeasure = defineDecision(
  'profile.measure',
  'command',
  'Measure these points and answer with `profile.measured`; asked for again while observations stay far off.',
  { configurations: z.array(profileConfiguration).min(1).describe('Points to measure, by batch size and length.') },
  {
    observed_far: { rounds: count, observedSeconds: seconds, profileSeconds: seconds },
    not_profiled: { rounds: count, observedSeconds: seconds },
  },
);
