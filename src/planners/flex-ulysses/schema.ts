/** Input of flex-ulysses. */
import { z } from 'zod';
import { count, positiveCount } from '../../schemas/units.ts';
import { costModel } from './costs.ts';
import { previousPlan } from './plan-schema.ts';

/** Limits of the input: a larger plan would take longer than a training step justifies. */
const mostSequences = 1_000_000;
const mostDevices = 65_536;

const length = count.max(1e9);

export const flexUlyssesInput = z.strictObject({
  lengths: z.array(length).max(mostSequences).describe('Tokens of each sequence of the batch, 0 to 1e9.'),
  devices: positiveCount.max(mostDevices).describe('Devices, numbered from 0, neighbours beside each other.'),
  maxDegree: positiveCount
    .max(mostDevices)
    .default(8)
    .describe('Largest sharding degree; degrees are the powers of two up to it that divide the devices and the heads.'),
  attentionHeads: positiveCount
    .max(65_536)
    .optional()
    .describe('Query heads of the model: a degree divides them, as each device takes whole heads; no limit if absent.'),
  kvHeads: positiveCount
    .max(65_536)
    .optional()
    .describe('Key and value heads: a degree divides them, or is a multiple of them (then they are repeated).'),
  devicesPerNode: positiveCount
    .max(mostDevices)
    .default(8)
    .describe('Devices of one node; the all-to-all of a group that does not fit into one node costs more.'),
  memorySlack: z
    .number()
    .min(1)
    .max(1e6)
    .default(1.1)
    .describe('Most tokens of a device, relative to the mean over all devices (α in the paper).'),
  memoryCapTokens: z
    .number()
    .nonnegative()
    .max(1e15)
    .optional()
    .describe('Most tokens of a device; stands in place of `memorySlack`.'),
  overCap: z
    .enum(['refuse', 'allow'])
    .default('refuse')
    .describe(
      'What becomes of a plan that does not keep `memoryCapTokens`: it is refused, or given, with `memoryRelaxed`.',
    ),
  balanceTolerance: z
    .number()
    .min(0)
    .max(10)
    .default(0.01)
    .describe('How much more compute than the best balance needs a device may have, relative, to save communication.'),
  effort: z
    .enum(['fast', 'default', 'thorough'])
    .default('default')
    .describe('How long `search` looks for less communication: a budget of steps, the same on every machine.'),
  maxSteps: positiveCount
    .max(1e13)
    .optional()
    .describe('Most steps of `search`, a few nanoseconds each; by `effort` and the number of sequences if absent.'),
  strategy: z
    .enum(['search', 'paper', 'bucketing', 'karmarkar-karp', 'ulysses'])
    .default('search')
    .describe('`search`: the best plan; `paper`: Algorithms 2 and 3 of FlexRL; the others are baselines.'),
  ulyssesDegree: positiveCount
    .optional()
    .describe('The one degree of `strategy: ulysses`, which must be admissible; the largest if absent.'),
  packThresholdTokens: length
    .optional()
    .describe('A longer sequence runs alone, 0 to 1e9; `packCapTokens`, given or not, if absent.'),
  packCapTokens: length
    .optional()
    .describe(
      'Most tokens of a pack of several sequences, at least the threshold; if absent a quarter of a top group.',
    ),
  frames: z
    .array(length)
    .max(mostSequences)
    .optional()
    .describe('Images or frames of each sequence, as many numbers as `lengths` has: they are spread over the devices.'),
  costs: costModel.prefault({}).describe('What a sequence costs; the proxies of the paper if absent.'),
  previous: previousPlan
    .optional()
    .describe('An earlier plan, for a batch that has changed little: the search starts from its assignments.'),
});
