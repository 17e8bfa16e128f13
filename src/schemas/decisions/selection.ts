/** Decisions: which of the offered prompts are rolled out. */
import { z } from 'zod';
import { promptsIn } from '../moves.ts';
import { prompt, promptChoice } from '../prompts.ts';
import { count, domain, roundId } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const choices = z.array(promptChoice).describe('What was expected of each of them, in the same order.');
const offered = {
  offered: count.describe('Prompts that were offered for the round.'),
  passed: count.describe('Of them: prompts that were passed over.'),
  meanWorth: z.number().describe('Mean worth of the prompts that were taken lately; 0 while none is known.'),
};

export const promptsSelected = defineDecision(
  'prompts.selected',
  'notice',
  'Roll out these prompts, each with so many responses.',
  {
    roundId,
    prompts: z.array(prompt).describe('The prompts, in order.'),
    choices,
  },
  { filled: offered, source_exhausted: offered, only_duplicates: offered },
  { left: promptsIn('prompts') },
);
export const promptsPassed = defineDecision(
  'prompts.passed',
  'notice',
  'These prompts are not rolled out now: offer them again in the next epoch.',
  {
    roundId,
    prompts: z.array(prompt).describe('The prompts, in order.'),
    choices,
  },
  { low_worth: { threshold: z.number().describe('Worth from which a prompt is taken for certain.') } },
  { left: promptsIn('prompts') },
);
export const epochEnded = defineDecision(
  'epoch.ended',
  'notice',
  'All prompts of the data were offered once: what was taken, and what was passed over.',
  {
    epoch: count.describe('Ordinal of the epoch, from 0.'),
    offered: count.describe('Prompts that were offered.'),
    selected: count.describe('Of them: prompts that were taken.'),
    domains: z
      .array(
        z.strictObject({
          domain: domain.optional().describe('The domain; absent: prompts without one, or beyond the 64th.'),
          offered: count.describe('Prompts that were offered.'),
          selected: count.describe('Of them: prompts that were taken.'),
          offeredTokens: z
            .number()
            .nonnegative()
            .describe('Tokens that the responses to all of its offered prompts were expected to have.'),
          selectedTokens: z.number().nonnegative().describe('The same, of the prompts that were taken.'),
        }),
      )
      .describe('The same by domain, in the order in which the domains came first.'),
    longestOffered: count.describe('Prompts among those offered whose expected length is in the longest 1 %.'),
    longestSelected: count.describe('Of them: prompts that were taken.'),
  },
  { source_exhausted: {}, offered_again: {} },
);
