/** Schemas of the part of a plan that describes its execution. */
import { z } from 'zod';
import { count, positiveCount } from '../../../schemas/units.ts';

const amount = z.number().nonnegative();

export const pack = z
  .strictObject({
    degree: positiveCount.describe('Sharding degree: how many devices share the pack.'),
    devices: z.array(count).min(1).describe('Those devices, ascending: an aligned group of neighbours.'),
    sequences: z.array(count).min(1).describe('Indices in `lengths`, the longest first, ties by index.'),
    tokens: count.describe('Tokens of its sequences together.'),
    paddedTokens: count.describe(
      'Tokens with the padding at its end: a multiple of `degree`, each device has an equal share.',
    ),
    work: amount.describe('Compute of its sequences together: they do not attend to each other.'),
  })
  .describe('Sequences of one group that run as one.');

export const schedule = z
  .strictObject({
    makespanSeconds: amount.describe('Until the last device is done, with all-to-alls behind computation.'),
    computeSeconds: amount.describe('Attention of the device that has most.'),
    bubbleSeconds: amount.describe('Seconds until then in which a device does not compute: the mean over the devices.'),
    bubbleRatio: z
      .number()
      .min(0)
      .max(1)
      .describe('`bubbleSeconds` ÷ `makespanSeconds`; 0 where there is nothing to do.'),
    serialSeconds: amount.describe('The same if every device ran its `order` from the front, one thing at a time.'),
  })
  .describe('Predicted times of the attention of a layer.');

export const visionShare = z
  .strictObject({
    device: count.describe('The device.'),
    slices: z
      .array(
        z.strictObject({
          sequence: count.describe('Index of the sequence in `lengths`.'),
          from: count.describe('First frame of the slice, from 0 in the sequence.'),
          to: count.describe('Frame behind its last one.'),
        }),
      )
      .describe('Frames that it encodes, by sequence ascending.'),
    frames: count.describe('How many these are.'),
  })
  .describe('The frames that one device encodes.');

/** The part of a plan that determines its execution. */
export interface ExecutionOrder {
  /** The packs. */
  readonly packs: readonly { readonly degree: number; readonly devices: readonly number[] }[];
  /** For each device, the indices of its packs in `packs`, in the order in which it issues their collectives. */
  readonly order: readonly (readonly number[])[];
}
