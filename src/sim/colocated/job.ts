/** The simulated job: its machines, and its batch. */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { positiveCount } from '../../schemas/units.ts';
import { hardwareSettings } from '../cluster/hardware.ts';
import { costModelSchema } from '../models/cost-model.ts';
import { rewardSettings } from '../rewards/settings.ts';

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
