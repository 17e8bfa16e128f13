/** Log-probabilities in the formats of vLLM's routes. The sampled token is always the most probable one. */

import { vocabularySize } from '../engine/prompts/prompt.ts';
import { logProbOf, textOf } from '../engine/requests/generation.ts';
import type { Json } from '../http/http.ts';

/** Returns a token and its alternatives, in order of their ranks, with made-up log-probabilities. */
function ranked(id: number, count: number): { readonly id: number; readonly logprob: number }[] {
  return Array.from({ length: count }, (_, rank) => ({
    id: (id + rank) % vocabularySize,
    logprob: logProbOf(id) - rank,
  }));
}

/**
 * Returns the log-probabilities of `/v1/completions`.
 *
 * @param textLength - characters before the first token
 */
export function completionLogProbs(ids: readonly number[], alternatives: number, textLength: number): Json {
  let offset = textLength;
  const text_offset = ids.map((id) => {
    const at = offset;
    offset += textOf(id).length;
    return at;
  });
  const top_logprobs = ids.map((id) =>
    Object.fromEntries(ranked(id, Math.max(1, alternatives)).map((one) => [textOf(one.id), one.logprob])),
  );
  return { text_offset, token_logprobs: ids.map(logProbOf), tokens: ids.map(textOf), top_logprobs };
}

/** Returns the log-probabilities of a token in the format of `/v1/chat/completions`. */
export function chatLogProb(id: number, alternatives: number): Json {
  const say = (one: number, logprob: number): Json => {
    const token = textOf(one);
    return { token, logprob, bytes: [...Buffer.from(token)] };
  };
  return { ...say(id, logProbOf(id)), top_logprobs: ranked(id, alternatives).map((one) => say(one.id, one.logprob)) };
}

/** Returns the log-probabilities of a token in the format of `/inference/v1/generate`. */
export function tokenLogProb(token_id: number, alternatives: number): Json {
  const top_logprobs = ranked(token_id, Math.max(1, alternatives)).map(({ id, logprob }, at) => ({
    token_id: id,
    logprob,
    rank: at + 1,
  }));
  return { ...top_logprobs[0], top_logprobs };
}
