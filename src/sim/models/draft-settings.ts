/** Speculative decoding of an engine: what a drafted token costs, and how often it is accepted. */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { count, positiveCount } from '../../schemas/units.ts';

const cost = z.number().nonnegative();
const chance = z.number().min(0).max(1);

/** Limit on the tokens that are drafted for a sequence in a step. */
const limit = 64;

/** Tokens by the size of the batch, as engines take them at their start. */
const schedule = z
  .array(
    z.strictObject({
      sequences: positiveCount.describe('From so many sequences on; 1 in the first entry, then more in each.'),
      tokens: count.max(limit).describe('Tokens drafted for each of them.'),
    }),
  )
  .min(1)
  .superRefine((entries, context) => {
    const wrong = entries.findIndex(({ sequences }, at) => sequences <= (entries[at - 1]?.sequences ?? 0));
    const path = [Math.max(0, wrong), 'sequences'];
    if (entries[0]!.sequences !== 1) context.addIssue({ code: 'custom', path, message: 'expected 1' });
    else if (wrong > 0) context.addIssue({ code: 'custom', path, message: 'expected more than the entry before' });
  });

/** Schema of the drafts of an engine. */
export const draftSettings = z.strictObject({
  tokens: z
    .union([count.max(limit), z.literal('planned'), schedule])
    .default('planned')
    .describe(
      'Tokens drafted for each sequence in a step: a number, or a number for each size of the batch; `planned` asks the planner `draft-budget`.',
    ),
  maxTokens: count.max(limit).default(8).describe('Most tokens that are drafted, where `tokens` is not one number.'),
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

/**
 * Returns the drafts of an EAGLE head, by published numbers: of a step with one sequence, a pass of the head takes 11.5 %, and all
 * else that drafts need takes 3.3 %. They are fitted to Llama-3.1-8B on one H100, in vLLM (133 tokens per second, and 201.69, 198 and
 * 169.92 with 2, 4 and 7 drafted tokens), where its acceptance was 0.58.
 *
 * @param cost - of which a step with one sequence is taken
 * @throws PolicyError `invalid_input`
 */
export function eagleDrafts(
  { memoryBoundSeconds, overheadSeconds }: { readonly memoryBoundSeconds: number; readonly overheadSeconds: number },
  given: { readonly acceptance: number } & Partial<DraftSettings>,
): DraftSettings {
  const step = memoryBoundSeconds + overheadSeconds;
  const cost = { passSeconds: 0.115 * step, stepSeconds: 0.033 * step };
  return parse(draftSettings, { ...cost, ...given }, 'invalid_input');
}

/** Returns the most tokens that are drafted for a sequence in a step. */
export function mostTokens({ tokens, maxTokens }: DraftSettings): number {
  return typeof tokens === 'number' ? tokens : maxTokens;
}

/** Returns the tokens that a step with so many drafted tokens gives a sequence, in expectation: 1 + a + a² + … */
export function expectedTokens(acceptance: number, drafted: number): number {
  let [sum, chance] = [1, 1];
  for (let at = 0; at < drafted; at += 1) {
    chance *= acceptance;
    sum += chance;
  }
  return sum;
}
