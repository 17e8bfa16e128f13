/** Input and plan of gradient-renormalization. */
import { z } from 'zod';
import { count } from '../../schemas/units.ts';

const counts = {
  samples: count.describe('Responses in it; one response that was cut into several rows is one.'),
  tokens: count
    .optional()
    .describe('Tokens in it that the loss counts; needed with `unit: tokens` where there are samples.'),
  groups: count.optional().describe('Whole groups in it; needed with `unit: groups` where there are samples.'),
  weights: z
    .number()
    .nonnegative()
    .max(1e18)
    .optional()
    .describe(
      'Sum of the weights of its samples, by which the loss multiplies each (`weight` of `prompt-selection`); needed with `unit: weights` where there are samples.',
    ),
};

/** Counts of samples, tokens and groups of one micro-batch. */
const microBatchCounts = z.strictObject(counts);
/** Counts that one data-parallel replica has trained on. */
const replicaCounts = z.strictObject({
  ...counts,
  microBatches: z
    .array(microBatchCounts)
    .optional()
    .describe('Its micro-batches, empty ones included; their counts add up to its own.'),
});

/** A count of a replica or of a micro-batch. */
export type CountName = keyof typeof counts;
const countNames: readonly CountName[] = ['samples', 'tokens', 'groups', 'weights'];
type Counts = z.output<typeof microBatchCounts>;
type Refine = z.RefinementCtx;
type Path = (string | number)[];

/** Returns a count: the given number, or 0 without samples. */
export const countIn = (counted: Counts, name: CountName): number | undefined =>
  counted[name] ?? (counted.samples === 0 ? 0 : undefined);

/** Adds an issue whose message names the expected value. */
const refuse = (context: Refine, path: Path, expected: string): void =>
  context.addIssue({ code: 'custom', path, message: `expected ${expected}` });

function refuseCounts(counted: Counts, unit: string, path: Path, context: Refine): void {
  for (const name of ['tokens', 'groups', 'weights'] as const) {
    const value = counted[name];
    if (value === undefined) {
      if (unit === name && counted.samples > 0) refuse(context, [...path, name], `a count: the unit is ${name}`);
    } else if (counted.samples === 0 && value > 0) refuse(context, [...path, name], '0, as there are no samples');
  }
  if ((counted.groups ?? 0) > counted.samples) refuse(context, [...path, 'groups'], 'no more groups than samples');
}

export const renormalizationInput = z
  .strictObject({
    replicas: z
      .array(replicaCounts)
      .min(1)
      .describe(
        'All data-parallel replicas that take part in the collective, also those that have trained on nothing.',
      ),
    unit: z
      .enum(['samples', 'tokens', 'groups', 'weights', 'constant'])
      .default('samples')
      .describe('What the loss of the whole batch is a mean over; `constant`: its sum over samples ÷ `divisor`.'),
    divisor: z
      .number()
      .min(1e-9)
      .max(1e18)
      .optional()
      .describe('What the sum over the batch is divided by; with `unit: constant` only.'),
    reduction: z
      .enum(['mean', 'sum'])
      .default('mean')
      .describe('What a replica (a micro-batch) computes over its own units; with `unit: constant` over samples.'),
    collective: z
      .enum(['sum', 'mean'])
      .default('sum')
      .describe('What the all-reduce or reduce-scatter does over the replicas; DDP and FSDP take the mean.'),
    accumulation: z
      .enum(['sum', 'mean'])
      .default('sum')
      .describe(
        'What the framework does over the micro-batches of a replica; `mean`: it divides by their number, empty ones included.',
      ),
    accumulated: z
      .boolean()
      .default(false)
      .describe('Whether micro-batches are added up already, so that none can get a factor of its own any more.'),
  })
  .superRefine(({ replicas, unit, divisor }, context) => {
    if (unit === 'constant' && divisor === undefined) refuse(context, ['divisor'], 'a divisor: the unit is constant');
    if (unit !== 'constant' && divisor !== undefined) refuse(context, ['divisor'], 'none, unless the unit is constant');
    for (const [index, replica] of replicas.entries()) {
      const path = ['replicas', index];
      refuseCounts(replica, unit, path, context);
      const { microBatches } = replica;
      if (microBatches === undefined) continue;
      for (const [at, one] of microBatches.entries()) refuseCounts(one, unit, [...path, 'microBatches', at], context);
      for (const name of countNames) {
        const own = countIn(replica, name);
        const counts = microBatches.map((one) => countIn(one, name));
        if (own === undefined || counts.includes(undefined)) continue;
        const sum = counts.reduce((all, one) => all! + one!, 0);
        // Weights are no whole numbers, so that their sums are rounded.
        if (Math.abs(sum! - own) > 1e-9 * own) refuse(context, [...path, name], `the sum of its micro-batches, ${sum}`);
      }
    }
  });

const factor = z.number().nonnegative();

export const renormalizationPlan = z.strictObject({
  factors: z
    .array(factor)
    .describe('For each replica: what its local gradient is multiplied by before the collective.'),
  microBatchFactors: z
    .array(z.array(factor))
    .optional()
    .describe(
      'For each micro-batch of each replica: what its gradient (or loss) is multiplied by instead, before it is added up; a replica without micro-batches is one. Absent without micro-batches, or if they are accumulated.',
    ),
  total: z.number().positive().describe('Units of the whole batch, N; with `unit: constant` the divisor.'),
});
