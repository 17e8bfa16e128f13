/** `POST /inference/v1/generate`: tokens in, tokens out, with the weight versions that generated them. */
import { type Generation, textOf } from '../engine/requests/generation.ts';
import type { RouteContext } from '../generating.ts';
import { Fields, isTokenIds, refuseField } from '../http/fields.ts';
import type { Call, Json } from '../http/http.ts';
import { chatLogProb, tokenLogProb } from './logprobs.ts';
import { readRequest } from './request.ts';
import { baseId, created, finishReason, noDetails, type Style, serve, transfers } from './serve.ts';

const modes: readonly string[] = ['tokens', 'text'];

/** Handles `/inference/v1/generate`. */
export function generateTokens(stand: RouteContext, call: Call): void {
  const { body, response } = call;
  const request_id = `generate-tokens-${baseId(stand, call)}`;
  const fields = new Fields(body);
  const ids = fields.raw('token_ids');
  if (!isTokenIds(ids)) return refuseField('token_ids', 'a list of token ids', ids);
  if (fields.raw('sampling_params') === undefined) refuseField('sampling_params', 'an object', undefined);
  const output_mode = fields.string('output_mode') ?? 'tokens';
  if (!modes.includes(output_mode)) refuseField('output_mode', `one of ${modes}`, output_mode);
  const request = readRequest(stand, body, {
    usualMost: 'room',
    prompts: () => [{ prompt: { tokenIds: ids }, requestId: request_id }],
    sampling: fields.object('sampling_params', 'body.sampling_params'),
    alternatives: 'logprobs',
  });
  const { logProbs } = request;
  const isText = output_mode === 'text';
  const logProb = isText ? chatLogProb : tokenLogProb;
  const choice = (generation: Generation, index: number, from: number): Json => {
    const token_ids = generation.tokenIds.slice(from, generation.count);
    return {
      index,
      ...(isText ? { text: token_ids.map(textOf).join('') } : {}),
      logprobs: logProbs === undefined ? null : { content: token_ids.map((one) => logProb(one, logProbs)) },
      finish_reason: finishReason(generation),
      stop_reason: null,
      token_ids,
      routed_experts: null,
      sampling_mask: null,
      weight_versions: generation.ended === null ? null : generation.weightSpans(stand.engine.weightVersion),
    };
  };
  const prompt_token_ids = request.tokenIds ? ids : null;
  let isFirst = true;
  const style: Style = {
    head: { request_id, output_mode },
    tail: {},
    usage: noDetails,
    delta: (generation, index) => {
      const prompt = isFirst && prompt_token_ids !== null ? { prompt_token_ids } : {};
      isFirst = false;
      return { usage: null, choices: [choice(generation, index, generation.told)], ...prompt };
    },
    whole: (generations) => ({
      model: stand.cluster.options.model,
      created: created(),
      prompt_logprobs: null,
      prompt_token_id_logprobs: null,
      prompt_token_ids,
      mm_placeholders: null,
      ...transfers,
      choices: generations.map((one, index) => choice(one, index, 0)),
    }),
  };
  serve(stand, request, response, style);
}
