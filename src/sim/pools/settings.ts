/** A job on disaggregated pools: engines for the rollout, a trainer on separate GPUs, and a verifier between them. */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { positiveCount } from '../../schemas/units.ts';
import { costModelSchema } from '../models/cost-model.ts';
import { correctnessSettings } from '../rewards/correctness.ts';

/** Schema of the verifier: each response is judged as soon as it is complete, independently of all others. */
const verifierSettings = z.strictObject({
  medianSeconds: z.number().nonnegative().default(0.1).describe('Median seconds from a response to its reward.'),
  spread: z.number().nonnegative().max(5).default(0).describe('Standard deviation of the logarithm of those seconds.'),
  ...correctnessSettings,
});

export const poolsJobSettings = z
  .strictObject({
    name: z.string().min(1).describe('Shown in tables and reports.'),
    engines: positiveCount.default(1).describe('Inference engines of the rollout pool.'),
    trainerGpus: positiveCount.default(1).describe('GPUs of the trainer pool, for tables and pictures.'),
    groupsPerRound: positiveCount.max(100_000).describe('R: groups of a round, each a prompt with its responses.'),
    responsesPerPrompt: positiveCount.max(10_000).describe('K: responses of a group.'),
    globalBatchSamples: positiveCount.describe(
      'B: samples of an update, a multiple of K; an update takes U = B / K groups.',
    ),
    maxTokensPerGpu: positiveCount.optional().describe('Token budget of a micro-batch; it changes no time here.'),
    cost: costModelSchema.describe(
      'What an engine costs, what the trainer takes for an update (`trainBaseSeconds` is its optimizer step), and what it takes to bring new weights to the engines (`weightSyncSeconds`).',
    ),
    verifier: verifierSettings.prefault({}).describe('How long rewards take.'),
  })
  .refine((job) => job.globalBatchSamples % job.responsesPerPrompt === 0, {
    path: ['globalBatchSamples'],
    message: 'a multiple of responsesPerPrompt',
  });

/** The settings of a job as a caller writes them, before defaults. */
export type PoolsJobInput = z.input<typeof poolsJobSettings>;
/** A job with its defaults filled in. */
export type PoolsJob = Readonly<z.output<typeof poolsJobSettings>>;

/** Checks a job and fills in its defaults. Throws `PolicyError` `invalid_config` with the path of the bad field. */
export function definePoolsJob(input: PoolsJobInput): PoolsJob {
  return parse(poolsJobSettings, input, 'invalid_config');
}
