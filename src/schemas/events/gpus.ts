/** Events: GPUs pass between rollout and training. */
import { z } from 'zod';
import { gpuId } from '../training.ts';
import { roundId } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const gpusReleased = defineEvent(
  'gpus.released',
  'These GPUs have left the rollout of the round and may train. May be repeated.',
  { roundId, gpuIds: z.array(gpuId).describe('GPUs that were released.') },
);
export const gpusReturned = defineEvent('gpus.returned', 'These GPUs belong to the rollout again. May be repeated.', {
  roundId,
  gpuIds: z.array(gpuId).describe('GPUs that went back.'),
});
