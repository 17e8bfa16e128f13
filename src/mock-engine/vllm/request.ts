/** Parses the bodies of vLLM's routes that generate. */

import type { Prompt } from '../engine/prompts/prompt.ts';
import type { PlannedResponse } from '../engine/prompts/response-book.ts';
import type { Limits } from '../engine/requests/generation.ts';
import { plan, type RouteContext, type Wanted } from '../generating.ts';
import { Fields } from '../http/fields.ts';
import { type Json, refuse } from '../http/http.ts';

/** One choice of an answer, with its limits. */
export interface Choice {
  readonly wanted: Wanted;
  readonly planned: PlannedResponse;
  readonly limits: Limits;
}

/** The responses that a body asks for. */
export interface OpenAiRequest {
  /** Responses in the order of prompts, and then of samples. */
  readonly choices: readonly Choice[];
  /** Number of choices per prompt. */
  readonly perPrompt: number;
  /** Tokens of all prompts together. */
  readonly promptTokens: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
  /** Number of alternatives to list per token; `undefined` if no log-probabilities are requested. */
  readonly logProbs: number | undefined;
  readonly tokenIds: boolean;
}

/** Differences between the routes. */
export interface RouteRules {
  /** Default number of response tokens: a number, or the rest of the context (`room`). */
  readonly usualMost: number | 'room';
  /** Returns the prompts, each with the id of its request. Throws `HttpError`. */
  readonly prompts: () => readonly { readonly prompt: Prompt; readonly requestId: string }[];
  /** Sampling fields, if they are in a separate object (`/inference/v1/generate`). */
  readonly sampling?: Fields;
  /** Field with the number of alternatives per token. */
  readonly alternatives: 'logprobs' | 'top_logprobs';
}

/** Reads a body: the types of its fields, then the model, the prompts, and the ranges, in the order of vLLM. Throws `HttpError`. */
export function readRequest(stand: RouteContext, body: Json, rules: RouteRules): OpenAiRequest {
  const { model, scheduling } = stand.cluster.options;
  const fields = new Fields(body);
  const sampling = rules.sampling ?? fields;
  const asked = fields.string('model') ?? model;
  const stream = fields.boolean('stream') ?? false;
  const priority = fields.whole('priority') ?? 0;
  const options = fields.object('stream_options');
  const wanted = readSampling(sampling, rules.alternatives);
  if (!stream && rules.sampling === undefined && fields.raw('stream_options') !== undefined) {
    refuse('Stream options can only be defined when `stream=True`.', 400, { param: 'stream_options' });
  }
  if (asked !== model) refuse(`The model \`${asked}\` does not exist.`, 404, { param: 'model' });
  if (fields.boolean('echo') === true) refuse('echo: the mock engine does not echo prompts');
  const prompts = rules.prompts();
  checkRanges(wanted);
  const given = { wanted, usualMost: rules.usualMost, isRaw: rules.sampling !== undefined };
  const choices = prompts.flatMap(({ prompt, requestId }) =>
    Array.from({ length: wanted.n }, (_, index) =>
      choiceOf(stand, { prompt, requestId, priority: scheduling === 'priority' ? priority : 0 }, index, given),
    ),
  );
  let promptTokens = 0;
  for (let at = 0; at < choices.length; at += wanted.n) promptTokens += choices[at]!.planned.promptTokens;
  return {
    choices,
    perPrompt: wanted.n,
    promptTokens,
    stream,
    includeUsage: options.boolean('include_usage') ?? false,
    continuousUsage: options.boolean('continuous_usage_stats') ?? false,
    logProbs: wanted.logProbs,
    tokenIds: fields.boolean('return_token_ids') ?? false,
  };
}

/** The fields that say how to sample. */
type Sampling = ReturnType<typeof readSampling>;

function readSampling(from: Fields, alternatives: RouteRules['alternatives']) {
  // Chat asks for log-probabilities by a boolean, and for alternatives by a number.
  const isChat = alternatives === 'top_logprobs';
  const listed = from.whole(alternatives);
  const isAsked = isChat ? from.boolean('logprobs') === true : listed !== undefined;
  return {
    n: from.whole('n') ?? 1,
    seed: from.whole('seed'),
    most: from.whole('max_completion_tokens') ?? from.whole('max_tokens'),
    minTokens: from.whole('min_tokens') ?? 0,
    ignoreEos: from.boolean('ignore_eos') ?? false,
    temperature: from.number('temperature') ?? 1,
    logProbs: isAsked ? (listed ?? 0) : undefined,
    tokens: lengthOf(from),
  };
}

/** Returns the length of the response if the request sets it. */
function lengthOf(fields: Fields): number | undefined {
  const name = 'response_tokens';
  const tokens = fields.object('vllm_xargs').whole(name) ?? fields.object('extra_args').whole(name);
  return tokens === undefined || tokens >= 1 ? tokens : refuse(`${name}: expected a whole number >= 1, got ${tokens}`);
}

function checkRanges({ n, most, minTokens, temperature, logProbs }: Sampling): void {
  if (temperature < 0) {
    refuse(`temperature must be non-negative, got ${temperature}.`, 400, { param: 'temperature' });
  }
  if (n < 1) refuse(`n must be at least 1, got ${n}.`);
  if (most !== undefined && most < 1) {
    refuse(`max_tokens must be at least 1, got ${most}.`, 400, { param: 'max_tokens' });
  }
  if (minTokens < 0) refuse(`min_tokens must be greater than or equal to 0, got ${minTokens}.`);
  if (logProbs !== undefined && logProbs < 0) {
    refuse(`logprobs must be a non-negative value, got ${logProbs}.`, 400, { param: 'logprobs' });
  }
}

function choiceOf(
  stand: RouteContext,
  given: Pick<Wanted, 'prompt' | 'requestId' | 'priority'>,
  index: number,
  rules: { readonly wanted: Sampling; readonly usualMost: number | 'room'; readonly isRaw: boolean },
): Choice {
  const { contextTokens } = stand.cluster.options;
  const { seed, most, minTokens, ignoreEos, tokens } = rules.wanted;
  const wanted = { ...given, sample: seed === undefined ? undefined : seed + index, tokens };
  const planned = plan(stand, wanted);
  const { promptTokens } = planned;
  const room = contextTokens - promptTokens;
  const limit = `This model's maximum context length is ${contextTokens} tokens.`;
  if (room < 1) {
    const message = `${limit} However, your request has ${promptTokens} input tokens.`;
    refuse(message, 400, { param: rules.isRaw ? null : 'input_tokens' });
  }
  // Tokens in, tokens out: a limit beyond the context is no error.
  if (!rules.isRaw && (most ?? 1) > room) {
    const message = `${limit} However, you requested ${most} output tokens and your prompt has ${promptTokens} input tokens.`;
    refuse(message, 400, { param: 'max_tokens' });
  }
  const maxTokens = Math.min(room, most ?? (rules.usualMost === 'room' ? room : rules.usualMost));
  if (minTokens > maxTokens) {
    refuse(`min_tokens must be less than or equal to max_tokens=${maxTokens}, got ${minTokens}.`);
  }
  return { wanted, planned, limits: { maxTokens, minTokens, ignoreEos } };
}
