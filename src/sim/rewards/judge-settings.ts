/** A judge model in the simulated job: its placement and its costs. */
import { z } from 'zod';
import { judgeOffloadInput } from '../../planners/judge-offload/schema.ts';
import { positiveCount } from '../../schemas/units.ts';

/** Schema of the judge. Without it, plain workers make the judgements, with times of their own. */
export const judgeSettings = z.strictObject({
  placement: z
    .enum(['dedicated', 'colocated'])
    .default('dedicated')
    .describe('`dedicated`: on GPUs of its own. `colocated`: a replica on every GPU of the actor.'),
  gpus: positiveCount
    .default(1)
    .describe('GPUs of its own, a replica each, beside those of the job (`dedicated` only).'),
  slots: positiveCount
    .default(4)
    .describe('Most responses that a replica has; it judges them one after the other, first come, first served.'),
  withoutOffload: z
    .enum(['after', 'resident'])
    .default('after')
    .describe(
      'Beside the actor where `judge-offload` does not lay it out: it is loaded when the rollout is over, or it stays on the GPU as a whole and takes turns with the actor (no MPS).',
    ),
  pipelined: z
    .boolean()
    .default(true)
    .describe('Whether streamed layers are fetched while others compute; if not, a layer is fetched and then run.'),
  model: judgeOffloadInput.describe(
    'The judge as `judge-offload` takes it; a judgement is one pass over the response. `sequenceTokens`: the longest.',
  ),
});

/** The judge with its defaults filled in. */
export type JudgeSettings = z.output<typeof judgeSettings>;
