/** `POST /inference/v1/generate`: tokens in, tokens out, with the versions of the weights that generated them. */
import { type Generation, logProbOf, textOf } from '../engine/generation.ts';
import type { RouteContext } from '../generating.ts';
import { Fields, isTokenIds } from '../http/fields.ts';
import { type Call, type Json, refuse } from '../http/http.ts';
import { baseId, chatLogProb, created } from './completions.ts';
import { readRequest } from './request.ts';
import { finishReason, type Style, serve } from './serve.ts';

/** Handles `/inference/v1/generate`. */
export function generateTokens(stand: RouteContext, call: Call): void {
  const { body, response } = call;
  const id = `generate-tokens-${baseId(stand, call)}`;
  const fields = new Fields(body);
  const prompt = fields.raw('token_ids');
  if (!isTokenIds(prompt)) return refuse('token_ids: expected token ids');
  if (fields.raw('sampling_params') === undefined) refuse('sampling_params: expected an object');
  const sampling = fields.object('sampling_params');
  const request = readRequest(stand, body, [{ prompt: { tokenIds: prompt }, requestId: id }], 'room', sampling);
  const mode = fields.string('output_mode') ?? 'tokens';
  if (mode !== 'tokens' && mode !== 'text') refuse("output_mode: expected 'tokens' or 'text'");
  const isText = mode === 'text';
  const choice = (generation: Generation, index: number, from: number): Json => {
    const ids = generation.tokenIds.slice(from, generation.count);
    const logProb = isText ? chatLogProb : tokenLogProb;
    return {
      index,
      ...(isText ? { text: ids.map(textOf).join('') } : {}),
      logprobs: request.logProbs ? { content: ids.map(logProb) } : null,
      finish_reason: finishReason(generation),
      stop_reason: null,
      token_ids: ids,
      routed_experts: null,
      sampling_mask: null,
      weight_versions: generation.ended === null ? null : generation.weightSpans(stand.engine.weightVersion),
    };
  };
  const promptIds = request.tokenIds ? prompt : null;
  let isFirst = true;
  const style: Style = {
    head: (isChunk) =>
      isChunk
        ? { request_id: id, output_mode: mode }
        : {
            request_id: id,
            output_mode: mode,
            model: stand.cluster.options.model,
            created: created(),
            prompt_logprobs: null,
            prompt_token_id_logprobs: null,
            prompt_token_ids: promptIds,
            mm_placeholders: null,
            metrics: null,
            kv_transfer_params: null,
            ec_transfer_params: null,
          },
    chunk: () => {
      const more = isFirst && promptIds !== null ? { prompt_token_ids: promptIds } : {};
      isFirst = false;
      return { usage: null, ...more };
    },
    delta: (generation, index) => choice(generation, index, generation.told),
    whole: (generation, index) => choice(generation, index, 0),
  };
  serve(stand, request, response, style);
}

function tokenLogProb(token_id: number): Json {
  const one = { token_id, logprob: logProbOf(token_id), rank: 1 };
  return { ...one, top_logprobs: [one] };
}
