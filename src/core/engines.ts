/** Engines of a policy that chooses where requests run: what it is told of their speed and room, and the engines that a host names. */
import { z } from 'zod';
import { refuse } from '../errors.ts';
import type { Message } from '../schemas/messages.ts';
import { positiveCount, seconds } from '../schemas/units.ts';

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
 * @param what - what runs on an engine, `response` or `turn`
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

/** Seconds of a step in which so many run, with so many tokens in their contexts. */
export function stepSecondsOf(decode: Decode, running: number, contextTokens: number): number {
  return decode.stepSeconds + decode.sequenceSeconds * running + decode.contextTokenSeconds * contextTokens;
}

interface WithEngines {
  readonly engines: ReadonlyMap<string, unknown>;
}
interface OfEngine {
  readonly engineId: string;
}

/** Refuses an unknown engine. */
export function checkEngine({ engines }: WithEngines, { engineId }: OfEngine): void {
  if (!engines.has(engineId)) refuse('unknown_id', 'engineId', 'an engine that was added', engineId);
}

/** Makes the handler that drains the engines which are not named, and adds the others. */
export function changeEngines<State extends WithEngines>(
  add: (state: State, engine: OfEngine) => void,
  drain: (state: State, engine: OfEngine) => void,
) {
  return (state: State, { engineIds }: Message<'engines.changed'>): void => {
    const named = new Set(engineIds);
    for (const engineId of [...state.engines.keys()]) if (!named.has(engineId)) drain(state, { engineId });
    for (const engineId of engineIds) add(state, { engineId });
  };
}
