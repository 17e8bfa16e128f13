/** The answers of `/generate`. */
import { type DraftSettings, expectedTokens } from '../../sim/models/draft-settings.ts';
import { type Generation, logProbOf } from '../engine/requests/generation.ts';
import type { Json } from '../http/http.ts';

/** The format of a response in an answer. */
export interface AnswerStyle {
  readonly stream: boolean;
  /** Whether a chunk has only the tokens that are new since the last chunk. */
  readonly incremental: boolean;
  readonly logProbs: boolean;
  /** Drafts of the engine; `undefined` without them. */
  readonly drafts: DraftSettings | undefined;
  /** Index in a batch. */
  readonly index: number | undefined;
}

/** Id of the end token. */
const endToken = 2;

/** Returns the response so far. For a response that was aborted while it waited, the token counts of the prompt are unknown. */
export function answerOf(generation: Generation, weightVersion: string, style: AnswerStyle): Json {
  const { requestId, count, ended, abortedInQueue, planned, acceptedAt, endedAt, told } = generation;
  const from = style.incremental && style.stream ? told : 0;
  const ids = generation.tokenIds.slice(from, count);
  const last = ended === null ? {} : { e2e_latency: endedAt - acceptedAt, ...spansOf(generation, weightVersion) };
  const logProbs = style.logProbs ? logProbsOf(ids) : {};
  const inLine = abortedInQueue && ended === 'abort';
  const meta = inLine
    ? { id: requestId, finish_reason: reasonOf(generation), weight_version: weightVersion, ...last, ...logProbs }
    : {
        id: requestId,
        finish_reason: reasonOf(generation),
        prompt_tokens: planned.promptTokens,
        weight_version: weightVersion,
        ...logProbs,
        reasoning_tokens: 0,
        cached_tokens: generation.cachedTokens,
        dp_rank: null,
        ...last,
      };
  return {
    text: from === 0 ? generation.text : textFrom(generation, from),
    output_ids: inLine && style.stream ? ids.slice(-1) : ids,
    meta_info: { ...meta, completion_tokens: count, ...draftsOf(count, style.drafts) },
    ...(style.index === undefined ? {} : { index: style.index }),
  };
}

/**
 * Returns the draft fields of a response. The simulation knows the expected tokens per step, which are the same for every
 * request; if the length of drafts changes, it does not know the steps of a response.
 */
function draftsOf(tokens: number, drafts: DraftSettings | undefined): Json {
  if (typeof drafts?.tokens !== 'number' || drafts.tokens === 0 || tokens === 0) return {};
  const verified = Math.ceil(tokens / expectedTokens(drafts.acceptance, drafts.tokens));
  const [correct, proposed] = [tokens - verified, verified * drafts.tokens];
  return {
    spec_accept_rate: correct / proposed,
    spec_accept_length: tokens / verified,
    spec_num_correct_drafts: correct,
    spec_num_proposed_drafts: proposed,
    spec_verify_ct: verified,
  };
}

/** Returns the weight versions; a response without tokens has the current version. */
function spansOf(generation: Generation, current: string): Json {
  const spans = generation.weightSpans(current);
  return { weight_versions: spans.length > 0 ? spans : [{ version: current, start: 0, end: 0 }] };
}

/** Returns the text from a token on; a blank marks the beginning of each token's text. */
function textFrom(generation: Generation, from: number): string {
  return generation.text
    .split(' ')
    .slice(from + 1)
    .map((one) => ` ${one}`)
    .join('');
}

function logProbsOf(ids: readonly number[]): Json {
  return {
    input_token_logprobs: [],
    output_token_logprobs: ids.map((id) => [logProbOf(id), id, null]),
    output_token_logprobs_length: ids.length,
  };
}

function reasonOf({ ended, tokens, abortedInQueue }: Generation): unknown {
  switch (ended) {
    case 'stop':
      return { type: 'stop', matched: endToken };
    case 'length':
      return { type: 'length', length: tokens };
    case 'abort':
      if (abortedInQueue) return { type: 'abort', message: 'Abort in waiting queue' };
      return { type: 'abort', message: 'Aborted', status_code: null, err_type: null };
    default:
      return null;
  }
}
