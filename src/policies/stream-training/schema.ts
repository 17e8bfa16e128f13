/** Configuration of stream-training. */
import { z } from 'zod';
import { refuse } from '../../errors.ts';
import type { StreamTrainingConfig } from '../../generated/settings/stream-training.ts';
import { gpuId, replicaId } from '../../schemas/training.ts';
import { idPrefix, positiveCount } from '../../schemas/units.ts';

const replica = z.strictObject({
  id: replicaId,
  gpuIds: z.array(gpuId).min(1).describe('GPUs of the replica; it streams when all of them are released.'),
});

const once = z.strictObject({
  once: z.number().positive().max(1).describe('Most of the round that the one fetch may take, above 0, up to 1.'),
});

const shape = z.strictObject({
  replicas: z
    .array(replica)
    .min(1)
    .describe('Data-parallel replicas of the trainer, each with its `id` and its `gpuIds`; a GPU belongs to one.'),
  groupsPerRound: positiveCount.describe('P0: groups that a round trains on.'),
  fetch: z
    .union([z.literal('stream'), once])
    .default('stream')
    .describe(
      '`stream`: again and again, as groups are completed. `{ once }`: one fetch of what is there, up to this fraction.',
    ),
  minFetchGroups: positiveCount.default(1).describe('Fewest groups of a fetch: what fills a micro-batch.'),
  reference: z
    .enum(['none', 'swap'])
    .default('none')
    .describe('`swap`: reference logits are computed on the replica, with the weights swapped for this pass.'),
  pace: z
    .enum(['replica', 'shared'])
    .default('replica')
    .describe(
      'Whose measurements tell how long work takes: the own ones of a replica, or, for replicas of equal GPUs, those of all.',
    ),
  gradientOffload: z
    .enum(['idle', 'never'])
    .default('idle')
    .describe('When a streaming replica moves its gradients to the host; it always does before its GPUs go back.'),
  unit: z
    .enum(['samples', 'tokens', 'groups', 'constant'])
    .default('samples')
    .describe('What the loss is averaged over; `constant`: it is divided by `divisor`.'),
  divisor: z.number().positive().optional().describe('What the loss is divided by (`unit: constant`).'),
  reduction: z
    .enum(['mean', 'sum'])
    .default('sum')
    .describe('What a replica accumulates: the sum over its units, or their mean over everything that it trained.'),
  collective: z
    .enum(['sum', 'mean'])
    .default('mean')
    .describe('What the collective makes of the gradients; DDP and FSDP of PyTorch take the mean.'),
  optimizerStepsPerRound: positiveCount.default(1).describe('Has to be 1: only then no gradient needs newer weights.'),
  epochs: positiveCount.default(1).describe('Has to be 1: a second pass would need the weights after the first.'),
  advantageNormalization: z
    .enum(['none', 'group', 'batch'])
    .default('group')
    .describe('Over what advantages are normalised; `batch` cannot be known before the round is over.'),
  idPrefix: idPrefix.default('').describe('Prefix of every fetch id; new after each restart of the host.'),
});

export const streamTrainingConfig = shape.superRefine((config, context) => {
  const addIssue = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message });
  const ids = new Set<string>();
  const gpus = new Set<string>();
  config.replicas.forEach(({ id, gpuIds }, at) => {
    if (ids.has(id)) addIssue(['replicas', at, 'id'], 'ids that differ');
    ids.add(id);
    gpuIds.forEach((gpu, index) => {
      if (gpus.has(gpu)) addIssue(['replicas', at, 'gpuIds', index], 'a GPU that no other replica has');
      gpus.add(gpu);
    });
  });
  if ((config.divisor !== undefined) !== (config.unit === 'constant'))
    addIssue(['divisor'], 'a divisor with `unit: constant`, and only with it');
  if (config.unit === 'constant' && config.reduction === 'mean')
    addIssue(['reduction'], '`sum` with `unit: constant`: a local mean has another divisor');
});

/**
 * Refuses a configuration for which streaming cannot give the exact gradient.
 *
 * @throws PolicyError `infeasible`
 */
export function assertExact(config: StreamTrainingConfig): void {
  if (config.optimizerStepsPerRound > 1)
    refuse(
      'infeasible',
      'optimizerStepsPerRound',
      '1: later steps need gradients at weights that are not there while it streams',
      config.optimizerStepsPerRound,
    );
  if (config.epochs > 1)
    refuse('infeasible', 'epochs', '1: a second pass needs the weights that the first one makes', config.epochs);
  if (config.advantageNormalization === 'batch')
    refuse(
      'infeasible',
      'advantageNormalization',
      'none or group: statistics of the batch are not known while it streams',
      config.advantageNormalization,
    );
}
