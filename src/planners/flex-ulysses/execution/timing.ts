/** The times of attention and all-to-alls: written in JSON, so that a remote caller can give measurements. */
import { z } from 'zod';

const seconds = z.number().nonnegative().max(1e6);

const attention = z.strictObject({
  perPack: seconds.default(0).describe('For each pack, whatever its size.'),
  perToken: seconds.default(0).describe('For each token.'),
  perTokenSquared: seconds.default(0).describe('For each token times the length of its sequence.'),
});

const allToAll = z.strictObject({
  perPeer: seconds.default(0).describe('For each other device of the group, whatever is sent.'),
  perToken: seconds.default(0).describe('For each token that a device sends inside its node.'),
  perTokenBetweenNodes: seconds.default(0).describe('For each token that a device sends to other nodes.'),
  perTokenSquared: seconds.default(0).describe('For the square of the tokens that a device sends.'),
});

/** Coefficients of the times, in seconds. */
const coefficients = z
  .strictObject({
    attentionSeconds: attention
      .optional()
      .describe('Attention on one device with all heads; degree p divides all but `perPack` by p; H800 if absent.'),
    allToAllSeconds: allToAll
      .optional()
      .describe('One all-to-all: of n tokens a device has n/p, and sends (p − 1)/p of these; H800 if absent.'),
  })
  .refine((given) => Object.keys(given).length > 0, 'expected attentionSeconds or allToAllSeconds');

/** Coefficients of the times, in seconds. */
export interface TimingCoefficients {
  /** Coefficients for the attention over one sequence, in seconds. */
  readonly attentionSeconds: z.output<typeof attention>;
  /** Coefficients for an all-to-all of one sequence's tokens, in seconds. */
  readonly allToAllSeconds: z.output<typeof allToAll>;
}

/**
 * Fitted to the first and last row of Table 3 in FlexRL (one sequence of 65,536 tokens, and 64 sequences of 1024). Measured on
 * H800 with 64 query heads of 128; H200 has the same compute.
 */
const attentionSeconds = { perPack: 0, perToken: 2.236e-8, perTokenSquared: 4.2244e-11 };

/**
 * FlexRL's two clusters. All-to-alls: least squares of the relative errors over the rows of Table 5 (32 query and 8 key heads of
 * 128, groups of 2 to 32 on nodes of 8). A row is read as the time of both all-to-alls of a layer, so one all-to-all takes half
 * this time.
 */
export const timingPresets = Object.freeze({
  H200: {
    attentionSeconds,
    allToAllSeconds: {
      perPeer: 8.91e-6,
      perToken: 1.1245e-7,
      perTokenBetweenNodes: 8.505e-7,
      perTokenSquared: 1.0255e-12,
    },
  },
  H800: {
    attentionSeconds,
    allToAllSeconds: {
      perPeer: 1.372e-4,
      perToken: 1.158e-7,
      perTokenBetweenNodes: 9.39e-7,
      perTokenSquared: 1.037e-12,
    },
  },
} satisfies Record<string, TimingCoefficients>);

export const timingModel = z
  .union([z.enum(['H200', 'H800']), coefficients])
  .describe('A preset, by its name, or coefficients.');

/** Returns the coefficients of a model. */
export function coefficientsOf(timing: z.output<typeof timingModel>): TimingCoefficients {
  if (typeof timing === 'string') return timingPresets[timing];
  const { attentionSeconds, allToAllSeconds } = timingPresets.H800;
  return {
    attentionSeconds: timing.attentionSeconds ?? attentionSeconds,
    allToAllSeconds: timing.allToAllSeconds ?? allToAllSeconds,
  };
}

/**
 * Returns the seconds for the attention of a pack on each device of its group.
 *
 * @param tokens - tokens of the pack, with padding
 * @param squares - sum of the squared lengths of its sequences
 */
export function attentionTime(timing: TimingCoefficients, degree: number, tokens: number, squares: number): number {
  const { perPack, perToken, perTokenSquared } = timing.attentionSeconds;
  return perPack + (perToken * tokens + perTokenSquared * squares) / degree;
}

/**
 * Returns the seconds of one all-to-all of a pack; 0 in a group of one.
 *
 * @param tokens - tokens of the pack, with padding
 * @param besides - the least number of devices of the group on one node, including the device itself
 */
export function allToAllTime(timing: TimingCoefficients, degree: number, tokens: number, besides: number): number {
  if (degree === 1) return 0;
  const { perPeer, perToken, perTokenBetweenNodes, perTokenSquared } = timing.allToAllSeconds;
  const toEach = tokens / degree / degree;
  const inNode = toEach * (besides - 1);
  const between = toEach * (degree - besides);
  const linear = perToken * inNode + perTokenBetweenNodes * between;
  return perPeer * (degree - 1) + linear + perTokenSquared * ((inNode + between) * (inNode + between));
}
