/** A VLM RL job: model, GPUs, batch, and the memory of its machines. */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { refuse } from '../../errors.ts';
import { vlmGpuIds, vlmModel, vlmModelIds } from './models.ts';

export const vlmJobSchema = z.strictObject({
  model: z.enum(vlmModelIds).default('mimo-vl-7b').describe('The model; its parallelism is that of FlexRL §5.1.'),
  gpu: z.enum(vlmGpuIds).default('h800').describe('The GPU.'),
  gpus: z.int().positive().max(4096).default(32).describe('GPUs; all of them roll out, and all of them train.'),
  gpusPerNode: z.int().positive().max(1024).default(8).describe('GPUs of one node; each node preprocesses as well.'),
  batchSequences: z.int().positive().max(100_000).default(64).describe('Sequences that a step trains on.'),
  controllerMemoryGb: z.number().positive().default(1024).describe('Host memory of the controller, in GB (1e9 bytes).'),
  nodeMemoryGb: z.number().positive().default(1024).describe('Host memory of each node, in GB (1e9 bytes).'),
});

/** The settings of a job as a caller writes them, without defaults. */
export type VlmJobInput = z.input<typeof vlmJobSchema>;
/** A job with its defaults filled in. */
export type VlmJob = Readonly<z.output<typeof vlmJobSchema>>;

/**
 * Checks the settings of a job, and fills in defaults.
 *
 * @throws PolicyError `invalid_config` for values out of range, and for a number of GPUs that is not divisible among the inference
 *   engines
 */
export function defineVlmJob(input: VlmJobInput = {}): VlmJob {
  const job = parse(vlmJobSchema, input, 'invalid_config');
  const { rolloutTp, label } = vlmModel(job.model);
  if (job.gpus % rolloutTp !== 0) {
    const expected = `a multiple of ${rolloutTp}, the tensor parallelism of ${label} in rollouts`;
    refuse('invalid_config', 'gpus', expected, job.gpus);
  }
  return job;
}

/** Returns the number of a job's nodes, of which the last may be used only in part. */
export const nodesOf = ({ gpus, gpusPerNode }: VlmJob): number => Math.ceil(gpus / gpusPerNode);
