/** `POST /v1/completions` and `POST /v1/chat/completions`. */
import { type Generation, logProbOf, textOf } from '../engine/generation.ts';
import type { RouteContext } from '../generating.ts';
import { Fields } from '../http/fields.ts';
import type { Call, Json } from '../http/http.ts';
import { chatPrompt, completionPrompts, type OpenAiRequest, readRequest } from './request.ts';
import { finishReason, type Style, serve } from './serve.ts';

/** Default number of tokens of a completion. */
const usualCompletionTokens = 16;

/** Returns the id of a request: from a header, else from a field, else a new one. */
export function baseId({ cluster }: RouteContext, { request, body }: Call): string {
  const header = request.headers['x-request-id'];
  if (typeof header === 'string') return header;
  return new Fields(body).string('request_id') ?? cluster.nameRequest();
}

/** Returns Unix seconds for OpenAI's `created`, from the wall clock, because the simulation has no date. */
export const created = (): number => Math.floor(Date.now() / 1000);

/** Returns the token ids and the text of a response from an index on, and the extra fields of the answer for them. */
function parts(request: OpenAiRequest, generation: Generation, from: number) {
  const ids = generation.tokenIds.slice(from, generation.count);
  const text = ids.map(textOf).join('');
  return { ids, text, more: request.tokenIds ? { token_ids: ids } : {} };
}

/** Handles `/v1/completions`. */
export function completions(stand: RouteContext, call: Call): void {
  const { body, response } = call;
  const id = `cmpl-${baseId(stand, call)}`;
  const prompts = completionPrompts(body).map((prompt, place) => ({ prompt, requestId: `${id}-${place}` }));
  const request = readRequest(stand, body, prompts, usualCompletionTokens);
  const head = { id, object: 'text_completion', created: created(), model: stand.cluster.options.model };
  const choice = (generation: Generation, index: number, from: number): Json => {
    const { ids, text, more } = parts(request, generation, from);
    const logprobs = request.logProbs
      ? completionLogProbs(ids, generation.tokenIds.slice(0, from).map(textOf).join('').length)
      : null;
    return { index, text, logprobs, finish_reason: finishReason(generation), stop_reason: null, ...more };
  };
  const style: Style = {
    head: () => head,
    delta: (generation, index) => choice(generation, index, generation.told),
    whole: (generation, index) => ({ ...choice(generation, index, 0), prompt_logprobs: null }),
  };
  serve(stand, request, response, style);
}

/** Handles `/v1/chat/completions`. */
export function chatCompletions(stand: RouteContext, call: Call): void {
  const { body, response } = call;
  const id = `chatcmpl-${baseId(stand, call)}`;
  const request = readRequest(stand, body, [{ prompt: chatPrompt(body), requestId: id }], 'room');
  const { model } = stand.cluster.options;
  const createdAt = created();
  const logprobs = (ids: readonly number[]) => (request.logProbs ? { content: ids.map(chatLogProb) } : null);
  const style: Style = {
    head: (isChunk) => ({ id, object: `chat.completion${isChunk ? '.chunk' : ''}`, created: createdAt, model }),
    first: (index) => ({ index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }),
    delta: (generation, index) => {
      const { ids, text, more } = parts(request, generation, generation.told);
      const finish_reason = finishReason(generation);
      const end = finish_reason === null ? {} : { stop_reason: null };
      return { index, delta: { content: text }, logprobs: logprobs(ids), finish_reason, ...end, ...more };
    },
    whole: (generation, index) => {
      const { ids, text, more } = parts(request, generation, 0);
      const message = { role: 'assistant', content: text, refusal: null, tool_calls: [] };
      const end = { finish_reason: finishReason(generation), stop_reason: null };
      return { index, message, logprobs: logprobs(ids), ...end, ...more };
    },
  };
  serve(stand, request, response, style);
}

/** @param textLength - characters before the first token */
function completionLogProbs(ids: readonly number[], textLength: number): Json {
  const tokens = ids.map(textOf);
  let offset = textLength;
  const text_offset = tokens.map((text) => {
    const at = offset;
    offset += text.length;
    return at;
  });
  const token_logprobs = ids.map(logProbOf);
  return {
    text_offset,
    token_logprobs,
    tokens,
    top_logprobs: tokens.map((text, at) => ({ [text]: token_logprobs[at]! })),
  };
}

export function chatLogProb(id: number): Json {
  const token = textOf(id);
  return { token, logprob: logProbOf(id), bytes: [...Buffer.from(token)], top_logprobs: [] };
}
