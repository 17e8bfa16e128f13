/** The file format of `rollflex simulate --calibrate`: measured steps of a job. */
import { z } from 'zod';
import type { MeasuredRollout } from './calibrate.ts';

const seconds = z.number().positive();

/** Schema of a measured step. Its lengths are in the file itself, or in a trace. */
const measuredStepSchema = z
  .strictObject({
    seconds: seconds.describe('Seconds from the start of the rollout until its last response was complete.'),
    engines: z.int().positive().optional().describe('Engines that it ran on; those of the job if absent.'),
    prompts: z
      .array(
        z.strictObject({
          promptTokens: z.int().nonnegative().optional(),
          responses: z.array(z.int().positive()).min(1).describe('Tokens of each response.'),
        }),
      )
      .min(1)
      .optional()
      .describe('All prompts of the rollout, each with the same number of responses.'),
    trace: z.string().min(1).optional().describe('A trace with them instead; relative to the file.'),
    step: z.int().nonnegative().optional().describe('Of a trace that was imported: the prompts of this step only.'),
    trainSeconds: seconds
      .optional()
      .describe('Seconds of training on all of its responses, with the passes before: from the rewards to the update.'),
    rewardSeconds: z.number().nonnegative().optional().describe('Seconds from the last response to the last reward.'),
    syncSeconds: z.number().nonnegative().optional().describe('Seconds to bring new weights to the engines.'),
  })
  .refine(({ prompts, trace }) => (prompts === undefined) !== (trace === undefined), {
    error: 'either prompts or trace',
  })
  .refine(({ trace, step }) => trace !== undefined || step === undefined, {
    error: 'step together with trace',
    path: ['step'],
  });

/** Schema of the file. */
export const calibrationFileSchema = z.strictObject({
  rollouts: z.array(measuredStepSchema).min(2).describe('A short and a long one are fitted; others are checks.'),
});

/** A measured step: its rollout and, if known, its later stages. */
export interface MeasuredStep extends MeasuredRollout {
  /** Seconds from the last reward until the end of the update, including the passes before training. */
  readonly trainSeconds?: number;
  /** Seconds from the last response until the last reward. */
  readonly rewardSeconds?: number;
  /** Seconds until the engines had the new weights. */
  readonly syncSeconds?: number;
}
