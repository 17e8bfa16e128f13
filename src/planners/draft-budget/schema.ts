/** Input and plan of draft-budget. */
import { z } from 'zod';
import { count, positiveCount } from '../../schemas/units.ts';

/** Limits of the input: far above any engine. */
const mostSequences = 1_000_000;
const mostDraftTokens = 64;

const seconds = z.number().nonnegative().max(1e6);
const tally = z.number().nonnegative().max(1e18);

const draftGroup = z
  .strictObject({
    sequences: positiveCount.max(mostSequences).describe('Sequences of the group.'),
    remainingTokens: positiveCount
      .max(1e12)
      .optional()
      .describe('Tokens that each still generates, as predicted: drafts beyond its end count for nothing.'),
    weight: z
      .number()
      .nonnegative()
      .max(1e12)
      .default(1)
      .describe('What a token of these sequences is worth beside a token of others.'),
  })
  .describe('Running sequences that are alike.');

/** Observed acceptance at one position. */
const seenPosition = z.strictObject({
  offered: tally.describe('Drafts that had a token at this position; no more than at the position before.'),
  accepted: tally.describe('How many of these tokens were accepted; no more than at the position before.'),
});

/** A measured decode step. */
const measuredPass = z.strictObject({
  tokens: positiveCount.max(1e12).describe('Tokens in the step, one for each sequence; more at each point.'),
  seconds: seconds.positive().describe('Seconds of the step.'),
});

/** The cost of drafting. */
const drafterCost = z.strictObject({
  stepSeconds: seconds
    .default(0)
    .describe('Seconds that every step with drafts takes longer, however many: sampling, host, cache of the drafter.'),
  passSeconds: seconds.describe('Seconds to draft one more token for all sequences: one pass of the drafter.'),
  secondsPerToken: seconds.default(0).describe('Further seconds for each drafted token.'),
});

type Seen = z.output<typeof seenPosition>;

/** Returns the first position that cannot follow its predecessor. */
function misplaced(seen: readonly Seen[]): [number, keyof Seen, number] | undefined {
  for (const [at, { offered, accepted }] of seen.entries()) {
    const before = seen[at - 1] ?? { offered: Infinity, accepted: Infinity };
    if (offered > before.offered) return [at, 'offered', before.offered];
    const most = Math.min(offered, before.accepted);
    if (accepted > most) return [at, 'accepted', most];
  }
  return undefined;
}

export const draftBudgetInput = z
  .strictObject({
    groups: z.array(draftGroup).min(1).max(10_000).describe('The sequences that the engine decodes together.'),
    seen: z
      .array(seenPosition)
      .max(mostDraftTokens)
      .default([])
      .describe('What was seen of acceptance, from the first drafted token on.'),
    prior: z
      .strictObject({
        acceptance: z
          .number()
          .min(0)
          .max(1)
          .describe('Chance that a drafted token is accepted if those before it were.'),
        tokens: z.number().positive().max(1e12).describe('Observations that this belief counts for, at each position.'),
      })
      .default({ acceptance: 0.5, tokens: 20 })
      .describe('What is believed of acceptance before anything is seen.'),
    passSeconds: z
      .array(measuredPass)
      .min(1)
      .max(10_000)
      .describe('Seconds of a decode step without drafts, at numbers of sequences; no larger step is planned.'),
    drafter: drafterCost.describe('What drafting costs.'),
    maxDraftTokens: count.max(mostDraftTokens).describe('Most tokens that the engine can draft for a sequence.'),
    perSequence: z
      .boolean()
      .default(false)
      .describe('Whether the engine takes a budget for each sequence; otherwise all get the same.'),
    margin: z
      .number()
      .min(0)
      .max(1)
      .default(0.02)
      .describe('Least gain, relative, for which anything is drafted: less is within the errors of measurement.'),
  })
  .superRefine((input, context) => {
    const refuse = (path: (string | number)[], expected: string): void =>
      context.addIssue({ code: 'custom', path, message: `expected ${expected}` });
    const all = input.groups.reduce((sum, { sequences }) => sum + sequences, 0);
    if (all > mostSequences) refuse(['groups'], `at most ${mostSequences} sequences`);
    const { passSeconds } = input;
    const back = passSeconds.findIndex((point, at) => at > 0 && point.tokens <= passSeconds[at - 1]!.tokens);
    if (back > 0)
      refuse(['passSeconds', back, 'tokens'], `more than ${passSeconds[back - 1]!.tokens}, the point before`);
    const wrong = misplaced(input.seen);
    if (wrong !== undefined) refuse(['seen', wrong[0], wrong[1]], `at most ${wrong[2]}`);
  });

export const draftBudgetPlan = z.strictObject({
  draftTokens: count.describe('Most tokens to draft for a sequence in a step; 0 turns speculation off.'),
  groups: z
    .array(
      z.strictObject({
        draftTokens: count.describe('Tokens to draft for each sequence of the group.'),
        deeper: count.describe('How many of its sequences get one token more; 0 unless `perSequence`.'),
      }),
    )
    .describe('The budget of each group, in their order.'),
  acceptance: z
    .array(z.number().min(0).max(1))
    .describe('Estimated chance that a draft is accepted up to its first token, its second, and so on.'),
  passTokens: count.describe('Tokens in the step: one for each sequence, and all drafted ones.'),
  expectedTokens: z.number().nonnegative().describe('Tokens that a step is expected to generate, of all sequences.'),
  stepSeconds: seconds.describe('Seconds of a step, drafting included.'),
  speedup: z.number().min(1).describe('Weighted tokens per second, relative to no drafts; 1 if nothing is drafted.'),
});
