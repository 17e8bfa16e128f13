/** `POST /v1/chat/completions`. */
import { type Generation, textOf } from '../engine/requests/generation.ts';
import type { RouteContext } from '../generating.ts';
import type { Call, Json } from '../http/http.ts';
import { promptIds } from './completions.ts';
import { chatLogProb } from './logprobs.ts';
import { chatPrompt } from './prompts.ts';
import { readRequest } from './request.ts';
import { baseId, created, fingerprint, finishReason, type Style, serve, transfers } from './serve.ts';

/** Handles `/v1/chat/completions`. */
export function chatCompletions(stand: RouteContext, call: Call): void {
  const { body, response } = call;
  const id = `chatcmpl-${baseId(stand, call)}`;
  const prompts = () => [{ prompt: chatPrompt(body), requestId: id }];
  const request = readRequest(stand, body, { usualMost: 'room', prompts, alternatives: 'top_logprobs' });
  const [{ planned, wanted }] = request.choices as [(typeof request.choices)[number]];
  const prompt = {
    prompt_token_ids: request.tokenIds ? promptIds({ prompt: wanted.prompt, planned }) : null,
    prompt_text: null,
  };
  const { logProbs } = request;
  /** Returns the text of a choice, and the fields beside the text. */
  const contentOf = (generation: Generation, from: number): { readonly content: string; readonly beside: Json } => {
    const ids = generation.tokenIds.slice(from, generation.count);
    const logprobs = logProbs === undefined ? null : { content: ids.map((one) => chatLogProb(one, logProbs)) };
    const beside = {
      logprobs,
      finish_reason: finishReason(generation),
      token_ids: request.tokenIds ? ids : null,
      ...(generation.ended === null ? {} : { stop_reason: null }),
    };
    return { content: ids.map(textOf).join(''), beside };
  };
  const object = `chat.completion${request.stream ? '.chunk' : ''}`;
  const style: Style = {
    head: { id, object, created: created(), model: stand.cluster.options.model },
    tail: { system_fingerprint: fingerprint },
    usage: { completion_tokens_details: null },
    first: (index) => {
      const delta = { role: 'assistant', content: '' };
      return { choices: [{ index, delta, logprobs: null, finish_reason: null }], ...prompt };
    },
    delta: (generation, index) => {
      const { content, beside } = contentOf(generation, generation.told);
      return { choices: [{ index, delta: { content }, ...beside }] };
    },
    whole: (generations) => ({
      choices: generations.map((one, index) => {
        const { content, beside } = contentOf(one, 0);
        return { index, message: { role: 'assistant', content, ...notSaid }, ...beside, routed_experts: null };
      }),
      service_tier: null,
      prompt_logprobs: null,
      ...prompt,
      ...transfers,
    }),
  };
  serve(stand, request, response, style);
}

/** Parts of a message that these models never have. */
const notSaid = { refusal: null, annotations: null, audio: null, function_call: null, reasoning: null };
