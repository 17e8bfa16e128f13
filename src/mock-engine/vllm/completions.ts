/** `POST /v1/completions`. */

import { tokenIdsOf } from '../engine/prompts/prompt.ts';
import { type Generation, textOf } from '../engine/requests/generation.ts';
import type { RouteContext } from '../generating.ts';
import type { Call, Json } from '../http/http.ts';
import { completionLogProbs } from './logprobs.ts';
import { completionPrompts } from './prompts.ts';
import { readRequest } from './request.ts';
import { baseId, created, fingerprint, finishReason, type Style, serve, transfers } from './serve.ts';

/** Handles `/v1/completions`. */
export function completions(stand: RouteContext, call: Call): void {
  const { body, response } = call;
  const id = `cmpl-${baseId(stand, call)}`;
  const prompts = () =>
    completionPrompts(body).map((prompt, promptIndex) => ({ prompt, requestId: `${id}-${promptIndex}` }));
  const request = readRequest(stand, body, { usualMost: 16, prompts, alternatives: 'logprobs' });
  const head = { id, object: 'text_completion', created: created(), model: stand.cluster.options.model };
  /** Prompts whose tokens the stream has sent already. */
  const sent = new Set<number>();
  const choice = (generation: Generation, index: number, from: number): Json => {
    const ids = generation.tokenIds.slice(from, generation.count);
    return {
      index,
      text: ids.map(textOf).join(''),
      logprobs:
        request.logProbs === undefined ? null : completionLogProbs(ids, request.logProbs, lengthOf(generation, from)),
      finish_reason: finishReason(generation),
      stop_reason: null,
      token_ids: request.tokenIds ? ids : null,
    };
  };
  const style: Style = {
    head,
    tail: { system_fingerprint: fingerprint },
    delta: (generation, index) => {
      const promptIndex = Math.floor(index / request.perPrompt);
      const isFirst = !sent.has(promptIndex);
      sent.add(promptIndex);
      const prompt_token_ids = isFirst && request.tokenIds ? promptIds(generation) : null;
      return { choices: [{ ...choice(generation, index, generation.told), prompt_token_ids }] };
    },
    whole: (generations) => ({
      choices: generations.map((one, index) => ({
        ...choice(one, index, 0),
        prompt_logprobs: null,
        prompt_token_ids: request.tokenIds ? promptIds(one) : null,
        routed_experts: null,
      })),
      service_tier: null,
      ...transfers,
    }),
  };
  serve(stand, request, response, style);
}

/** Returns the number of characters in the first tokens of a response. */
const lengthOf = ({ tokenIds }: Generation, tokens: number): number =>
  tokenIds.slice(0, tokens).map(textOf).join('').length;

/** Returns the tokens of the prompt of a response. */
export function promptIds({ prompt, planned }: Pick<Generation, 'prompt' | 'planned'>): readonly number[] {
  return tokenIdsOf(prompt, planned.promptTokens);
}
