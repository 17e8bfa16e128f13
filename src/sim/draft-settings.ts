/** Speculative decoding of an engine: what a drafted token costs, and how often it is accepted. */
import { z } from 'zod';
import { count } from '../schemas/units.ts';

const cost = z.number().nonnegative();
const chance = z.number().min(0).max(1);

/** Most tokens that can be drafted for a sequence in a step. */
const mostTokens = 64;

/** Schema of the drafts of an engine. */
export const draftSettings = z.strictObject({
  tokens: z
    .union([count.max(mostTokens), z.literal('planned')])
    .default('planned')
    .describe(
      'Tokens drafted for each sequence in a step; `planned` asks the planner `draft-budget` for each batch size.',
    ),
  maxTokens: count.max(mostTokens).default(8).describe('With `planned`: most tokens that are drafted.'),
  acceptance: chance.describe('Chance that a drafted token is accepted if those before it were.'),
  believed: z
    .strictObject({
      acceptance: chance.describe('The belief, before anything is seen.'),
      tokens: z.number().positive().describe('Observations that it counts for.'),
    })
    .optional()
    .describe('With `planned`: the `prior` of the planner. It also gets what was accepted so far.'),
  stepSeconds: cost.default(0).describe('Seconds that every step with drafts takes longer, however many.'),
  passSeconds: cost.describe('Seconds to draft one more token for all sequences.'),
  secondsPerToken: cost.default(0).describe('Further seconds for each drafted token.'),
});

/** Drafts of an engine, with defaults filled in. */
export type DraftSettings = z.output<typeof draftSettings>;
