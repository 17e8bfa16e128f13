/** Parses a body of `/generate`: one response, several prompts, or `n` samples. */

import type { Prompt } from '../engine/prompts/prompt.ts';
import type { Limits } from '../engine/requests/generation.ts';
import type { Wanted } from '../generating.ts';
import { Fields, isTokenIds, refuseField } from '../http/fields.ts';
import { type Json, refuse } from '../http/http.ts';

/** One response with its limits. */
export interface SglangWanted extends Wanted {
  readonly limits: Limits;
  readonly logProbs: boolean;
}

/** The responses that a body of `/generate` asks for. */
export interface SglangRequest {
  readonly wanted: readonly SglangWanted[];
  /** Whether the answer is one object and not a list. */
  readonly isSingle: boolean;
  readonly stream: boolean;
}

/** The name that errors of `sampling_params` use: SGLang words them in its own way. */
export const samplingParam = 'body.sampling_params';
/** Default for the largest number of new tokens per request. */
const usualMaxTokens = 128;

/** Reads a body. Throws `HttpError`. */
export function readGenerate(body: Json, mint: () => string): SglangRequest {
  const fields = new Fields(body, '', undefined, true);
  const prompts = promptsOf(fields);
  const isBatch = Array.isArray(prompts);
  const list = isBatch ? prompts : [prompts];
  const given = fields.raw('rid');
  const sampling = fields.raw('sampling_params') ?? {};
  const logProbs = fields.boolean('return_logprob') ?? false;
  const wanted = list.flatMap((prompt, index) => {
    const rid = ridOf(given, index, isBatch, list.length, mint);
    const params = Array.isArray(sampling) ? sampling[index] : sampling;
    return samplesOf(samplingOf(params), prompt, rid, logProbs);
  });
  return {
    wanted,
    isSingle: !isBatch && wanted.length === 1,
    stream: fields.boolean('stream') ?? false,
  };
}

/** Fields of `sampling_params`; SGLang refuses all others. */
const samplingFields: ReadonlySet<string> = new Set([
  ...['max_new_tokens', 'min_new_tokens', 'n', 'ignore_eos', 'sampling_seed', 'custom_params', 'stream_interval'],
  ...['temperature', 'top_p', 'top_k', 'min_p', 'frequency_penalty', 'presence_penalty', 'repetition_penalty'],
  ...['stop', 'stop_token_ids', 'stop_regex', 'no_stop_trim', 'skip_special_tokens', 'spaces_between_special_tokens'],
  ...['json_schema', 'regex', 'ebnf', 'structural_tag', 'choice', 'logit_bias', 'beam_width', 'watermark'],
]);

function samplingOf(params: unknown): Fields {
  const name = 'sampling_params';
  const fields = new Fields({ [name]: params }, '', samplingParam, true).object(name);
  const unknown = fields.names.find((one) => !samplingFields.has(one));
  if (unknown !== undefined) refuse(`unknown field \`${unknown}\``, 400, { param: samplingParam });
  return fields;
}

function samplesOf(params: Fields, prompt: Prompt, rid: string, logProbs: boolean): SglangWanted[] {
  const n = params.whole('n') ?? 1;
  const seed = params.whole('sampling_seed');
  const limits = {
    maxTokens: params.whole('max_new_tokens') ?? usualMaxTokens,
    minTokens: params.whole('min_new_tokens') ?? 0,
    ignoreEos: params.boolean('ignore_eos') ?? false,
  };
  if (n < 1) refuse(`n must be at least 1, got ${n}.`);
  if (limits.maxTokens < 0) refuse(`max_new_tokens must be at least 0, got ${limits.maxTokens}.`);
  if (limits.minTokens < 0 || limits.minTokens > limits.maxTokens) {
    refuse(`min_new_tokens must be in [0, max_new_tokens(${limits.maxTokens})], got ${limits.minTokens}.`);
  }
  const tokens = params.object('custom_params').whole('response_tokens', 1);
  return Array.from({ length: n }, (_, index) => ({
    requestId: n === 1 ? rid : `${rid}_${index}`,
    prompt,
    sample: seed === undefined ? undefined : seed + index,
    tokens,
    priority: 0,
    limits,
    logProbs,
  }));
}

function promptsOf(fields: Fields): Prompt | Prompt[] {
  const text = fields.raw('text');
  const ids = fields.raw('input_ids');
  if ((text === undefined) === (ids === undefined))
    refuse('Either text, input_ids or input_embeds should be provided.');
  if (typeof text === 'string') return { text };
  if (isTokenIds(ids)) return { tokenIds: ids };
  const list = text ?? ids;
  if (!Array.isArray(list))
    return refuseField(text === undefined ? 'input_ids' : 'text', 'text, a list, or token ids', list);
  if (list.length === 0) return refuse('expected a list that is not empty');
  return list.map((one: unknown): Prompt => {
    if (text !== undefined && typeof one === 'string') return { text: one };
    if (text === undefined && isTokenIds(one)) return { tokenIds: one };
    return refuse('expected a list of texts, or of lists of token ids');
  });
}

function ridOf(given: unknown, index: number, isBatch: boolean, size: number, mint: () => string): string {
  if (given === undefined) return mint();
  if (typeof given === 'string' && given !== '') return isBatch ? `${given}_${index}` : given;
  const fits = isBatch && Array.isArray(given) && given.length === size && typeof given[index] === 'string';
  return fits ? (given[index] as string) : refuse('rid: expected a string, or one for each of a batch');
}
