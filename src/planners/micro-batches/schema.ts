/** Input of micro-batches. */
import { z } from 'zod';
import { lengthFunction } from '../../core/lengths/length-function.ts';
import { count, positiveCount } from '../../schemas/units.ts';

/** Limits of the input: a larger plan would take longer than a training step justifies. */
const mostSequences = 1_000_000;
const mostRanks = 65_536;

const length = count.max(1e9);

/** An assignment of flex-ulysses: the ranks of a sequence are given. */
const placedSequence = z.strictObject({
  sequence: count.describe('Index of the sequence in `lengths`.'),
  degree: positiveCount.max(mostRanks).describe('How many ranks share it; each has length ÷ degree of its tokens.'),
  devices: z.array(count).min(1).max(mostRanks).describe('Those ranks: neighbours, ascending.'),
});

const fields = z.strictObject({
  lengthsByRank: z
    .array(z.array(length))
    .min(1)
    .max(mostRanks)
    .optional()
    .describe('Tokens of each sequence of each data-parallel rank, where sequences have their rank already.'),
  lengths: z
    .array(length)
    .max(mostSequences)
    .optional()
    .describe('Tokens of each sequence of the whole batch, in place of `lengthsByRank`.'),
  ranks: positiveCount.max(mostRanks).optional().describe('Ranks that share `lengths`; needed with it.'),
  assignments: z
    .array(placedSequence)
    .max(mostSequences)
    .optional()
    .describe('Where each of `lengths` lies, as flex-ulysses says; they are dealt out to the ranks if absent.'),
  maxTokensPerMicroBatch: positiveCount
    .max(1e15)
    .describe(
      'Most tokens that a rank has in one micro-batch; the sum of length ÷ degree where sequences are sharded.',
    ),
  overlong: z
    .enum(['refuse', 'alone'])
    .default('refuse')
    .describe('What becomes of a sequence above the cap: no plan, or a micro-batch for itself that says `overCap`.'),
  minMicroBatches: count.max(1e6).default(0).describe('Fewest micro-batches of a rank.'),
  divisibleBy: positiveCount
    .max(mostRanks)
    .default(1)
    .describe('What divides the number of micro-batches of a rank, as virtual pipeline stages ask for.'),
  compute: lengthFunction
    .default({ perToken: 24_576, perTokenSquared: 1 })
    .describe('Work of a whole sequence, by its length, in any unit, which is balanced; that of verl if absent.'),
});

type Fields = z.output<typeof fields>;

/** Returns the first fault in the assignments of a batch, with the path of the fault. */
function misplaced({ lengths = [], ranks = 0, assignments = [] }: Fields): [(string | number)[], string] | undefined {
  if (assignments.length !== lengths.length) return [[], `${lengths.length} of them, as many as lengths`];
  const seen = new Set<number>();
  for (const [index, { sequence, degree, devices }] of assignments.entries()) {
    if (sequence >= lengths.length) return [[index, 'sequence'], `a sequence below ${lengths.length}`];
    if (seen.has(sequence)) return [[index, 'sequence'], 'each sequence once'];
    seen.add(sequence);
    if (devices.length !== degree) return [[index, 'devices'], `${degree} devices, as many as the degree`];
    const wrong = devices.findIndex((device, at) => device !== devices[0]! + at || device >= ranks);
    if (wrong >= 0) return [[index, 'devices', wrong], `neighbours, ascending, below ${ranks}`];
  }
  return undefined;
}

export const microBatchesInput = fields.superRefine((input, context) => {
  const refuse = (path: (string | number)[], expected: string): void =>
    context.addIssue({ code: 'custom', path, message: `expected ${expected}` });
  const { lengthsByRank, lengths, ranks, assignments } = input;
  if (lengthsByRank !== undefined) {
    if (lengths !== undefined) refuse(['lengths'], 'none beside lengthsByRank');
    if (ranks !== undefined) refuse(['ranks'], 'none beside lengthsByRank');
    if (assignments !== undefined) refuse(['assignments'], 'none beside lengthsByRank');
    if (lengthsByRank.reduce((sum, one) => sum + one.length, 0) > mostSequences) {
      refuse(['lengthsByRank'], `at most ${mostSequences} sequences`);
    }
    return;
  }
  if (lengths === undefined) refuse(['lengths'], 'lengths, or lengthsByRank');
  if (ranks === undefined) refuse(['ranks'], 'a number of ranks');
  if (lengths === undefined || ranks === undefined || assignments === undefined) return;
  const wrong = misplaced(input);
  if (wrong !== undefined) refuse(['assignments', ...wrong[0]], wrong[1]);
});
