/** Options of a mock engine that are numbers or choices. */
import { z } from 'zod';
import { parse } from '../core/machine/validate.ts';
import { refuse } from '../errors.ts';
import type { CostModel } from '../sim/models/cost-model.ts';
import { faultSchema } from './faults.ts';

const seconds = z.number().nonnegative();

/** A speed: simulated seconds per second of wall-clock time; 0 stops the simulated time; `max` goes from event to event. */
export const speedSchema = z
  .union([z.number().nonnegative(), z.literal('max')])
  .describe('Simulated seconds in one of the wall clock; 0 stands still until told, `max` goes from event to event.');
/** A speed. */
export type Speed = z.output<typeof speedSchema>;

export const mockEngineOptionsSchema = z.strictObject({
  api: z.enum(['sglang', 'vllm']).default('sglang').describe('Whose routes the engines have.'),
  engines: z.int().min(1).max(256).default(1).describe('Engines, each at a port of its own.'),
  speed: speedSchema.default(1),
  model: z.string().min(1).default('mock-model').describe('Name of the model.'),
  apiKey: z
    .string()
    .min(1)
    .optional()
    .describe('Key that clients must send as `Authorization: Bearer`, or they get 401; `/health` stays open.'),
  contextTokens: z.int().min(2).default(32_768).describe('Most tokens of prompt and response together.'),
  scheduling: z
    .enum(['fcfs', 'priority'])
    .default('fcfs')
    .describe('Order of the waiting queue: by arrival, or by `priority` (lower first), then by arrival.'),
  prefixCaching: z
    .boolean()
    .default(true)
    .describe('Whether a prompt is not prefilled as far as it is cached; the cache has blocks of 16 tokens.'),
  promptTokensDetails: z
    .boolean()
    .default(false)
    .describe('vLLM: `usage.prompt_tokens_details.cached_tokens`, as with `--enable-prompt-tokens-details`.'),
  streamInterval: z.int().min(1).default(16).describe('Tokens between two events of a stream.'),
  incrementalStreaming: z
    .boolean()
    .default(false)
    .describe('SGLang: events of a stream hold what is new, instead of all of the response so far.'),
  tokenizeSeconds: seconds
    .default(0.002)
    .describe('Seconds before a request reaches the scheduler; an abort that comes earlier misses it (SGLang).'),
  abortLagSeconds: seconds.default(0.02).describe('Seconds before the scheduler sees an abort.'),
  disconnectSeconds: seconds
    .optional()
    .describe('Seconds from a connection that the client closes to the abort of its request (SGLang 2, vLLM 0).'),
  updateSeconds: seconds.optional().describe('Seconds of a weight update; what the cost model says if not given.'),
  settleMs: seconds
    .default(2)
    .describe('With speed `max`: milliseconds of the wall clock in which clients may react before time goes on.'),
  maxJumpSeconds: z
    .number()
    .positive()
    .default(1)
    .describe('With speed `max`: most seconds at a time while somebody reads a stream.'),
  faults: z.array(faultSchema).default([]).describe('What goes wrong, and when.'),
});

/** Options with all defaults. */
export type MockEngineOptions = z.output<typeof mockEngineOptionsSchema> & {
  readonly disconnectSeconds: number;
  readonly updateSeconds: number;
};
/** Options as a caller gives them. */
export type MockEngineInput = z.input<typeof mockEngineOptionsSchema>;

/**
 * Reads options.
 *
 * @throws PolicyError `invalid_config` for bad options, including a context that does not fit the KV cache, and a fault of an
 *   engine that does not exist
 */
export function readOptions(input: MockEngineInput, cost: CostModel): MockEngineOptions {
  const options = parse(mockEngineOptionsSchema, input, 'invalid_config');
  if (options.contextTokens > cost.kvCapacityTokens) {
    refuse(
      'invalid_config',
      'contextTokens',
      `at most the KV cache of ${cost.kvCapacityTokens} tokens`,
      options.contextTokens,
    );
  }
  for (const [index, { engine }] of options.faults.entries()) {
    if (engine !== undefined && engine >= options.engines) {
      refuse('invalid_config', `faults[${index}].engine`, `an engine from 0 to ${options.engines - 1}`, engine);
    }
  }
  return {
    ...options,
    disconnectSeconds: options.disconnectSeconds ?? (options.api === 'sglang' ? 2 : 0),
    updateSeconds: options.updateSeconds ?? cost.weightSyncSeconds,
  };
}
