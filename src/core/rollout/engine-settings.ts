/** Settings of a policy that chooses where requests run: the room and the speed of its engines. */
import { z } from 'zod';
import { positiveCount, seconds } from '../../schemas/units.ts';

/** Setting: the size of a KV cache. */
export const kvCapacityTokens = positiveCount
  .default(400_000)
  .describe('Tokens that fit the KV cache of an engine, until it reports its own number.');

/** Setting: how fast contexts are read. */
export const prefillTokensPerSecond = z
  .number()
  .min(1)
  .default(10_000)
  .describe('Tokens of a context that an engine reads in a second. The order of magnitude is enough.');

/**
 * Setting: how long a decode step takes.
 *
 * @param what - the unit of work on an engine, `response` or `turn`
 */
export const decodeOf = (what: 'response' | 'turn') =>
  z
    .strictObject({
      stepSeconds: seconds.default(0.01).describe('Seconds of a step, whatever runs.'),
      sequenceSeconds: seconds.default(0.0002).describe(`Seconds that each running ${what} adds to a step.`),
      contextTokenSeconds: seconds
        .default(0.000_000_03)
        .describe(`Seconds that each token in the contexts of running ${what}s adds to a step.`),
    })
    .prefault({})
    .describe(
      `How long an engine takes to generate a token for each of its ${what}s. The order of magnitude is enough.`,
    );
/** How long a decode step takes. */
export type Decode = z.output<ReturnType<typeof decodeOf>>;

/** Seconds of a decode step with so many running sequences and so many tokens in their contexts. */
export function stepSecondsOf(decode: Decode, running: number, contextTokens: number): number {
  return decode.stepSeconds + decode.sequenceSeconds * running + decode.contextTokenSeconds * contextTokens;
}
