/** The GPUs of a job, for policies that move them between parallelisms, and between rollout and training. */
import { z } from 'zod';
import { positiveCount } from '../../schemas/units.ts';
import { costModelSchema } from '../models/cost-model.ts';

const bytes = z.number().positive();

export const hardwareSettings = z.strictObject({
  gpusPerServer: positiveCount.default(8).describe('GPUs of a server.'),
  kvHeads: positiveCount.describe('KV heads of the model.'),
  modelBytes: bytes.describe('Bytes of the weights of the model.'),
  gpuMemoryBytes: bytes.describe('Bytes of memory of one GPU.'),
  memoryUtilization: z.number().positive().max(1).default(0.85).describe('Share of it that engines may use.'),
  kvBytesPerToken: bytes.describe('Bytes of KV cache of one token.'),
  maxResponseTokens: positiveCount.describe('Longest response, in tokens.'),
  costs: z
    .array(z.strictObject({ tp: positiveCount, cost: costModelSchema }))
    .min(1)
    .describe('What an engine costs at each tensor-parallel degree, ascending; the first divides all others.'),
  trainingReplicas: positiveCount.describe(
    'Data-parallel replicas of the trainer: they share all GPUs evenly; the next fewer where that does not go.',
  ),
  trainingGpus: positiveCount
    .optional()
    .describe('GPUs that only train, in a one-step off-policy pipeline; as many as the engines have if absent.'),
  communicatorSeconds: z
    .number()
    .nonnegative()
    .default(1)
    .describe('Seconds of a change of TP for new communicators, beside the weights.'),
  hostBytesPerSecond: bytes
    .default(25e9)
    .describe(
      'Bandwidth from host memory to one GPU, over which a change of TP brings the weights, in bytes per second.',
    ),
  releaseSeconds: z.number().nonnegative().default(3).describe('Seconds until released GPUs can train.'),
});

/** The hardware with its defaults filled in. */
export type Hardware = z.output<typeof hardwareSettings>;

/** Returns the seconds until engines run with another TP, for laying out weights and making communicators. */
export function reshardSeconds({ communicatorSeconds, hostBytesPerSecond, modelBytes }: Hardware, tp: number): number {
  return communicatorSeconds + modelBytes / tp / hostBytesPerSecond;
}
