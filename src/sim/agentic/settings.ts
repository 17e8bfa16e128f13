/** An agentic rollout: engines with a prefix cache, and slots for environments. */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { positiveCount } from '../../schemas/units.ts';
import { costModelSchema } from '../models/cost-model.ts';

const seconds = z.number().nonnegative();

export const agenticJobSettings = z.strictObject({
  name: z.string().min(1).describe('Shown in tables.'),
  engines: positiveCount.max(4096).default(1).describe('Inference engines.'),
  cost: costModelSchema
    .omit({ drafts: true })
    .describe('What an engine costs; only what it says of decoding, prefill and the KV cache is read.'),
  chunkTokens: positiveCount
    .default(8192)
    .describe('Most tokens of a step, prefill and decoding together: longer prefills are divided into chunks.'),
  prefixCache: z
    .boolean()
    .default(true)
    .describe('Whether an engine keeps what running requests leave of the KV cache, least recently used out first.'),
  reportSeconds: seconds
    .default(5)
    .describe('Time between two reports of an engine on its load (`engine.reported`), in seconds; 0: only the first.'),
  slots: z
    .record(
      z.string(),
      z.strictObject({
        slots: positiveCount.describe('Most environments of this kind.'),
        startSeconds: seconds.default(0).describe('Median time until an environment has started, in seconds.'),
        spread: seconds.max(5).default(0).describe('Standard deviation of the logarithm of that time.'),
        failureShare: z.number().min(0).max(1).default(0).describe('Share of the starts that fail.'),
      }),
    )
    .optional()
    .describe('Environments by kind, where programs need one before their first turn; absent: they need none.'),
});

/** The settings of a job as a caller writes them, before defaults. */
export type AgenticJobInput = z.input<typeof agenticJobSettings>;
/** A job with its defaults filled in. */
export type AgenticJob = Readonly<z.output<typeof agenticJobSettings>>;

/** Checks a job and fills in its defaults. Throws `PolicyError` `invalid_config` with the path of the bad field. */
export function defineAgenticJob(input: AgenticJobInput): AgenticJob {
  return parse(agenticJobSettings, input, 'invalid_config');
}
