/** Parses the bodies of vLLM's OpenAI routes. */
import type { Limits } from '../engine/generation.ts';
import type { Prompt } from '../engine/prompt.ts';
import type { PlannedResponse } from '../engine/response-book.ts';
import { plan, type RouteContext, type Wanted } from '../generating.ts';
import { Fields, isTokenIds } from '../http/fields.ts';
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
  /** Tokens of all prompts. */
  readonly promptTokens: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
  readonly logProbs: boolean;
  readonly tokenIds: boolean;
}

/** Default number of response tokens: a number, or the rest of the context (`room`). */
type UsualMost = number | 'room';

/**
 * Reads the fields that all routes share. Throws `HttpError`.
 *
 * @param sampling - fields that say how to sample; the same object unless they are in one of their own
 */
export function readRequest(
  stand: RouteContext,
  body: Json,
  prompts: readonly { readonly prompt: Prompt; readonly requestId: string }[],
  usualMost: UsualMost,
  sampling = new Fields(body),
): OpenAiRequest {
  const { model, scheduling } = stand.cluster.options;
  const fields = new Fields(body);
  const asked = fields.string('model') ?? model;
  if (asked !== model) refuse(`The model \`${asked}\` does not exist.`, 404);
  if (fields.boolean('echo') === true) refuse('echo: the mock engine does not echo prompts');
  const priority = fields.whole('priority', Number.MIN_SAFE_INTEGER) ?? 0;
  if (priority !== 0 && scheduling !== 'priority') {
    refuse(`Got priority ${priority} but Priority scheduling is not enabled.`);
  }
  const options = fields.object('stream_options');
  const n = sampling.whole('n', 1) ?? 1;
  const choices = prompts.flatMap(({ prompt, requestId }) =>
    Array.from({ length: n }, (_, index) =>
      choiceOf(stand, sampling, { prompt, requestId, priority }, index, usualMost),
    ),
  );
  let promptTokens = 0;
  for (let at = 0; at < choices.length; at += n) promptTokens += choices[at]!.planned.promptTokens;
  const logProbs = sampling.raw('logprobs');
  return {
    choices,
    promptTokens,
    stream: fields.boolean('stream') ?? false,
    includeUsage: options.boolean('include_usage') ?? false,
    continuousUsage: options.boolean('continuous_usage_stats') ?? false,
    logProbs: logProbs !== undefined && logProbs !== false,
    tokenIds: fields.boolean('return_token_ids') ?? false,
  };
}

function choiceOf(
  stand: RouteContext,
  fields: Fields,
  given: Pick<Wanted, 'prompt' | 'requestId' | 'priority'>,
  index: number,
  usualMost: UsualMost,
): Choice {
  const { contextTokens } = stand.cluster.options;
  const seed = fields.whole('seed', Number.MIN_SAFE_INTEGER);
  const sample = seed === undefined ? undefined : seed + index;
  const wanted = { ...given, sample, tokens: lengthOf(fields) };
  const planned = plan(stand, wanted);
  const room = contextTokens - planned.promptTokens;
  const most = fields.whole('max_completion_tokens', 1) ?? fields.whole('max_tokens', 1);
  if (room < 1 || (most ?? 1) > room) {
    refuse(
      `This model's maximum context length is ${contextTokens} tokens. However, you requested ` +
        `${planned.promptTokens + (most ?? 0)} tokens (${planned.promptTokens} in the prompt, ${most ?? 0} for the ` +
        'completion). Please reduce the length of the input or the output.',
    );
  }
  const maxTokens = most ?? Math.min(room, usualMost === 'room' ? room : usualMost);
  const minTokens = fields.whole('min_tokens', 0) ?? 0;
  if (minTokens > maxTokens)
    refuse(`min_tokens must be less than or equal to max_tokens=${maxTokens}, got ${minTokens}.`);
  return { wanted, planned, limits: { maxTokens, minTokens, ignoreEos: fields.boolean('ignore_eos') ?? false } };
}

/** Returns the length of the response if the request sets it. */
function lengthOf(fields: Fields): number | undefined {
  const [own, extra] = [fields.object('vllm_xargs'), fields.object('extra_args')];
  return own.whole('response_tokens', 1) ?? extra.whole('response_tokens', 1);
}

/** Returns the prompts of `/v1/completions`: a text, token ids, or a list of either. */
export function completionPrompts(body: Json): Prompt[] {
  const { prompt } = body;
  if (typeof prompt === 'string') return [{ text: prompt }];
  if (isTokenIds(prompt)) return [{ tokenIds: prompt }];
  if (!Array.isArray(prompt) || prompt.length === 0)
    return refuse('prompt: expected a text, token ids, or a list of these');
  return prompt.map((one: unknown): Prompt => {
    if (typeof one === 'string') return { text: one };
    return isTokenIds(one) ? { tokenIds: one } : refuse('prompt: expected a list of texts, or of lists of token ids');
  });
}

/** Returns the prompt of `/v1/chat/completions`: the contents of its messages. */
export function chatPrompt(body: Json): Prompt {
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0) return refuse('messages: expected a list that is not empty');
  return { text: messages.map((one, at) => contentOf(one, at)).join('\n') };
}

function contentOf(message: unknown, at: number): string {
  const fields = new Fields(
    (typeof message === 'object' && message !== null ? message : {}) as Json,
    `messages[${at}].`,
  );
  if (fields.string('role') === undefined) refuse(`messages[${at}].role: expected a string`);
  const content = fields.raw('content');
  if (content === undefined) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return refuse(`messages[${at}].content: expected a text, or a list of parts`);
  return content
    .map((part) => (part as { text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string')
    .join('');
}
