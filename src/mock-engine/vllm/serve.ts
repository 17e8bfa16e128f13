/** Serves bodies of vLLM's OpenAI routes, streamed or not; a style defines the format of the answers. */
import type { ServerResponse } from 'node:http';
import type { Generation } from '../engine/requests/generation.ts';
import { abortWhenClosed, type RouteContext, submit } from '../generating.ts';
import { Fields } from '../http/fields.ts';
import { beginEvents, type Call, endEvents, type Json, reply, sendEvent } from '../http/http.ts';
import type { Choice, OpenAiRequest } from './request.ts';

/** The version, and the fingerprint, in the answers of the engine: they show that the engine is not vLLM. */
export const fingerprint = 'rollflex-mock-engine (vllm routes)';
/** Fields of whole answers that only other set-ups fill in. */
export const transfers = { kv_transfer_params: null, ec_transfer_params: null, metrics: null };
/** Details of the usage, for a usage without any. */
export const noDetails = { prompt_tokens_details: null, completion_tokens_details: null };

/** The format of a route's answers. */
export interface Style {
  /** Fields about the request, in each answer and chunk. */
  readonly head: Json;
  /** Fields of a whole answer, and of a stream's last chunk. */
  readonly tail: Json;
  /** More usage fields per chunk, if requested. */
  readonly usage?: Json;
  /** Returns the fields of the first chunk of a choice in a stream, if the route has one. */
  readonly first?: (index: number) => Json;
  /** Returns the fields of a chunk, with the tokens that are new since the last chunk. */
  readonly delta: (generation: Generation, index: number) => Json;
  /** Returns the fields of a whole answer. */
  readonly whole: (generations: readonly Generation[]) => Json;
}

/** Returns the id of a request: from a header, otherwise from a field, otherwise a new one. */
export function baseId({ cluster }: RouteContext, { request, body }: Call): string {
  const header = request.headers['x-request-id'];
  if (typeof header === 'string') return header;
  return new Fields(body).string('request_id') ?? cluster.nameRequest();
}

/** Returns Unix seconds for OpenAI's `created`, from the wall clock, because the simulation has no date. */
export const created = (): number => Math.floor(Date.now() / 1000);

/** Returns the finish reason of a response; `null` before its end. */
export function finishReason({ ended }: Generation): string | null {
  return ended === 'lost' ? null : ended;
}

/** Starts the responses of a request, and sends their answers. */
export function serve(stand: RouteContext, request: OpenAiRequest, response: ServerResponse, style: Style): void {
  if (request.stream) serveStream(stand, request, response, style);
  else serveWhole(stand, request, response, style);
}

function usageOf(prompt_tokens: number, generations: readonly Pick<Generation, 'count'>[]): Json {
  let completion_tokens = 0;
  for (const { count } of generations) completion_tokens += count;
  return { prompt_tokens, total_tokens: prompt_tokens + completion_tokens, completion_tokens };
}

/** Returns the usage details at the end of a request: how many prompt tokens were cached, if the engine tells. */
function detailsOf({ cluster }: RouteContext, generations: readonly Generation[]): Json {
  let cached_tokens = 0;
  for (const one of generations) cached_tokens += one.cachedTokens;
  if (!cluster.options.promptTokensDetails || cached_tokens === 0) return noDetails;
  return { ...noDetails, prompt_tokens_details: { cached_tokens } };
}

function serveStream(stand: RouteContext, request: OpenAiRequest, response: ServerResponse, style: Style): void {
  beginEvents(response);
  const { head, tail, first } = style;
  const generations: Generation[] = [];
  const send = (fields: Json, { planned }: Pick<Choice, 'planned'>, count: number): void => {
    const usage = { usage: { ...usageOf(planned.promptTokens, [{ count }]), ...style.usage } };
    sendEvent(response, { ...head, ...fields, ...(request.continuousUsage ? usage : {}) });
  };
  let begun = false;
  const begin = (): void => {
    if (begun || first === undefined) return;
    begun = true;
    for (const [index, choice] of request.choices.entries()) send(first(index), choice, 0);
  };
  const sendDelta = (generation: Generation, index: number): void => {
    begin();
    const isLast = generation.ended !== null && !request.includeUsage;
    send({ ...style.delta(generation, index), ...(isLast ? tail : {}) }, generation, generation.count);
  };
  start(stand, request, response, generations, {
    progress: sendDelta,
    ended: sendDelta,
    done: () => {
      const { prompt_tokens_details } = detailsOf(stand, generations);
      const details = prompt_tokens_details === null ? {} : { prompt_tokens_details };
      const usage = { ...usageOf(request.promptTokens, generations), ...details };
      if (request.includeUsage) sendEvent(response, { ...head, choices: [], usage, ...tail });
      endEvents(response);
    },
  });
}

function serveWhole(stand: RouteContext, request: OpenAiRequest, response: ServerResponse, style: Style): void {
  const generations: Generation[] = [];
  start(stand, request, response, generations, {
    done: () => {
      const usage = { ...usageOf(request.promptTokens, generations), ...detailsOf(stand, generations) };
      stand.server().stamp(response);
      reply(response, { ...style.head, ...style.whole(generations), ...style.tail, usage });
    },
  });
}

interface Callbacks {
  readonly progress?: (generation: Generation, index: number) => void;
  readonly ended?: (generation: Generation, index: number) => void;
  readonly done: () => void;
}

function start(
  stand: RouteContext,
  { choices }: OpenAiRequest,
  response: ServerResponse,
  generations: Generation[],
  { progress, ended, done }: Callbacks,
): void {
  const open = new Set<Generation>();
  let left = choices.length;
  for (const [index, { wanted, planned, limits }] of choices.entries()) {
    const generation = submit(stand, wanted, planned, limits, {
      ...(progress === undefined ? {} : { progress: (of: Generation) => progress(of, index) }),
      ended: (of) => {
        open.delete(of);
        // The connection of a lost response is reset.
        if (of.ended === 'lost') return;
        ended?.(of, index);
        left -= 1;
        if (left === 0) done();
      },
    });
    generations.push(generation);
    open.add(generation);
  }
  abortWhenClosed(stand, response, choices[0]!.wanted.requestId, open);
}
