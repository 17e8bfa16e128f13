/** The plan of flex-ulysses. */
import { z } from 'zod';
import { count, positiveCount } from '../../schemas/units.ts';
import { pack, schedule, visionShare } from './execution/schema.ts';

const amount = z.number().nonnegative();

export const assignment = z
  .strictObject({
    sequence: count.describe('Index of the sequence in `lengths`.'),
    degree: positiveCount.describe('Sharding degree: how many devices share it.'),
    devices: z.array(count).min(1).describe('Those devices, ascending: an aligned group of neighbours.'),
  })
  .describe('Where one sequence goes.');

const bounds = z.strictObject({
  compute: amount.describe('No plan within the memory limit has a smaller `metrics.maxCompute`.'),
  communication: amount.describe('No plan within both limits has a smaller `metrics.communication`.'),
});

const limits = z.strictObject({
  compute: amount.describe('Most compute of a device that the plan was held to.'),
  memoryTokens: amount.describe('Most tokens of a device that the plan was held to.'),
});

const metrics = z.strictObject({
  maxCompute: amount.describe('Compute of the device that has most, in the unit of the cost model.'),
  meanCompute: amount.describe('Mean over the devices.'),
  maxMemoryTokens: amount.describe('Tokens of the device that has most: the sum of length ÷ degree.'),
  communication: amount.describe('Cost of sharding, summed over the sequences.'),
  traffic: amount.describe('Tokens that leave their device in one all-to-all, over all devices: length · (p − 1) ÷ p.'),
  sharded: count.describe('Sequences with a degree above 1.'),
  movedFrames: count
    .optional()
    .describe(
      'With `frames`: those that a device encodes that has no part of their sequence; no even spread has fewer.',
    ),
});

const cut = z.strictObject({
  by: z
    .enum(['steps', 'deadline'])
    .describe('`steps`: the same on every machine; `deadline`: another run may give another plan.'),
  parts: z
    .array(z.enum(['balance', 'communication']))
    .describe('What could be better: `limits.compute`, or `metrics.communication`.'),
});

export const flexUlyssesPlan = z.strictObject({
  assignments: z.array(assignment).describe('Where each sequence goes, in the order of `lengths`.'),
  bounds: bounds.describe('How good a plan could be at best.'),
  limits: limits.describe('What the plan was held to.'),
  metrics: metrics.describe('How good this one is.'),
  packs: z.array(pack).describe('What runs as one, highest degree first, then by group, then longest first.'),
  order: z
    .array(z.array(count))
    .describe('Of each device, indices in `packs`: sharded ones in the order of their collectives, then the others.'),
  schedule: schedule.describe('Predicted times of one forward pass of one attention layer, by `costs.timing`.'),
  vision: z.array(visionShare).optional().describe('With `frames`: which frames each device encodes.'),
  memoryRelaxed: z
    .boolean()
    .describe('Whether a device has more tokens than asked for; by `search` only where no plan can do better.'),
  cut: cut.optional().describe('Only where the search ended early: why, and what was cut short.'),
});

const unread = z.unknown().optional().describe('Not read; it is here so that a plan can be given back whole.');

/** An earlier plan; only its assignments are read. */
export const previousPlan = z.strictObject({
  assignments: z.array(assignment).describe('Where each sequence went, by its index in `lengths`.'),
  bounds: unread,
  limits: unread,
  metrics: unread,
  packs: unread,
  order: unread,
  schedule: unread,
  vision: unread,
  memoryRelaxed: unread,
  cut: unread,
});
