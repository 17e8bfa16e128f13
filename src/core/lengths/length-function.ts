/** A quantity that depends on the sequence length: coefficients, or measured points. */
import { z } from 'zod';
import { refuse } from '../../errors.ts';
import type { LengthFunction } from '../../generated/messages/objects.ts';
import { tokens } from '../../schemas/units.ts';

export type { LengthFunction } from '../../generated/messages/objects.ts';

const quantity = z.number().nonnegative().max(1e18);

/** A polynomial of the sequence length. */
export const lengthPolynomial = z
  .strictObject({
    base: quantity.optional().describe('What does not depend on the length; 0 if absent.'),
    perToken: quantity.optional().describe('For each token; 0 if absent.'),
    perTokenSquared: quantity.optional().describe('For each token times the length (attention); 0 if absent.'),
  })
  .refine((given) => Object.keys(given).length > 0, 'expected base, perToken or perTokenSquared');

/** Measurements at one or more sequence lengths. */
export const lengthPoints = z
  .array(
    z.strictObject({
      tokens: tokens.describe('Length of the sequences, in tokens; longer at each point.'),
      value: quantity.describe('What was measured there.'),
    }),
  )
  .min(1)
  .max(10_000)
  .superRefine((points, context) => {
    const index = points.findIndex((point, at) => at > 0 && point.tokens <= points[at - 1]!.tokens);
    if (index < 0) return;
    const expected = `a whole number > ${points[index - 1]!.tokens}, the tokens of the point before`;
    context.addIssue({ code: 'custom', path: [index, 'tokens'], message: `expected ${expected}` });
  });

export const lengthFunction = z
  .union([lengthPolynomial, lengthPoints])
  .describe('A quantity that depends on the sequence length: a polynomial, or measured points.');

/**
 * Returns the value at a length: linear between two points; below the first point, the value of this point.
 *
 * @throws PolicyError `infeasible` for a length beyond the last point, where nothing was measured
 */
export function valueAt(given: LengthFunction, length: number, path: string): number {
  if (!Array.isArray(given)) {
    const { base = 0, perToken = 0, perTokenSquared = 0 } = given;
    return base + (perToken + perTokenSquared * length) * length;
  }
  const next = given.findIndex((point) => point.tokens >= length);
  if (next < 0) {
    refuse(
      'infeasible',
      path,
      `sequences of at most ${given.at(-1)!.tokens} tokens, the longest that was measured`,
      length,
    );
  }
  const high = given[next]!;
  if (next === 0) return high.value;
  const low = given[next - 1]!;
  const share = (length - low.tokens) / (high.tokens - low.tokens);
  return low.value + share * (high.value - low.value);
}
