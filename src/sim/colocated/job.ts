/** The simulated job: its machines, and its batch. */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { positiveCount } from '../../schemas/units.ts';
import { hardwareSettings } from '../cluster/hardware.ts';
import { costModelSchema } from '../models/cost-model.ts';
import { rewardSettings } from '../rewards/settings.ts';

const vector = z.tuple([z.number(), z.number(), z.number()]);
const machineSchema = z
  .strictObject({
    logFactors: vector.describe('Logarithms of the factors: of what is fixed, of what a sequence costs, of prefills.'),
    covariance: z.tuple([vector, vector, vector]).describe('Their covariance.'),
    points: z.int().nonnegative().describe('Measured points that it rests on.'),
  })
  .describe('How far the engines may be from their costs; that of engines that nobody has measured if absent.');

/** What is known about a machine: by which factors parts of a step take longer than its costs say. */
export type MachineBelief = z.output<typeof machineSchema>;

/** Schema of a job, which every preset fits; for a cluster without a preset, a user writes one. */
export const jobSettings = z.strictObject({
  name: z.string().min(1).describe('Shown in tables and reports.'),
  engines: positiveCount.describe('Inference engines (data-parallel replicas of the actor).'),
  promptsPerRound: positiveCount.describe('P0: prompts that a step trains on.'),
  responsesPerPrompt: positiveCount.describe('R0: responses of a prompt (the group size).'),
  cost: costModelSchema.describe('What an engine, and the steps around the rollout, cost.'),
  hardware: hardwareSettings.optional().describe('GPUs and parallelism; needed by `rollpackerScheduler`.'),
  assumed: z
    .array(z.string())
    .optional()
    .describe('What nobody said about the cluster and was assumed, as phrases; the first line of every answer.'),
  outside: z
    .array(z.string())
    .optional()
    .describe('What lies outside of the measurements that the time model was fitted to, as phrases.'),
  machine: machineSchema.optional(),
  rewards: rewardSettings.optional().describe('Reward workers; needed by `rollpackerScheduler`.'),
});

/** The settings of a job as a caller writes them, before defaults. */
export type JobInput = z.input<typeof jobSettings>;
/** A job with its defaults filled in. */
export type Job = z.output<typeof jobSettings>;

/** Checks a job and fills in its defaults. Throws `PolicyError` `invalid_config` with the path of the bad field. */
export function defineJob(input: JobInput): Job {
  return parse(jobSettings, input, 'invalid_config');
}
