/** Events: measurements of rollout steps under their parallelism, and profiles. */
import { z } from 'zod';
import { expertParallel, profileConfiguration, profileRow, rolloutWorkload, tensorParallel } from '../parallelism.ts';
import { count, message, positiveSeconds, roundId, roundKind } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const stepFinished = defineEvent(
  'step.finished',
  'The rollout of a round has ended.',
  {
    roundId,
    kind: roundKind,
    tp: tensorParallel.describe('Tensor-parallel degree that it ran with.'),
    ep: expertParallel.optional(),
    preemptions: count.describe('Requests that the engines preempted, over all engines.'),
    seconds: positiveSeconds.describe('Seconds of the rollout, without the change of parallelism before it; > 0.'),
    workload: rolloutWorkload.describe('What the round demanded.'),
  },
  { entered: { steps: (one) => [one.roundId] } },
);
export const kindTpFailed = defineEvent('kind-tp.failed', 'A `kind-tp.set` could not be carried out.', {
  kind: roundKind,
  tp: tensorParallel,
  ep: expertParallel.optional(),
  message,
});
export const profileObserved = defineEvent(
  'profile.observed',
  'What a decode step took in a rollout, to be held against the profile.',
  {
    roundId,
    ...profileConfiguration.shape,
    decodeStepSeconds: positiveSeconds.describe('Seconds of one decode step of the batch, > 0.'),
  },
);
export const profileMeasured = defineEvent(
  'profile.measured',
  'Rows of the profile that were measured: new ones, and ones that replace what was known of the same point.',
  { rows: z.array(profileRow).min(1).max(4096).describe('The rows; the last one of a point counts.') },
);
