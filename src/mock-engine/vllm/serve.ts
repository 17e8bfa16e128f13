/** Serves bodies of vLLM's OpenAI routes, streamed or not; a style defines the format of the answers. */
import type { ServerResponse } from 'node:http';
import type { Generation } from '../engine/generation.ts';
import { abortWhenClosed, type RouteContext, submit } from '../generating.ts';
import { beginEvents, endEvents, type Json, reply, sendEvent } from '../http/http.ts';
import type { OpenAiRequest } from './request.ts';

/** Tokens of a request. */
export interface Usage {
  readonly prompt_tokens: number;
  readonly total_tokens: number;
  readonly completion_tokens: number;
}

/** The format of the answers of a route. */
export interface Style {
  /** Returns the fields about the request, for each answer and each chunk. */
  readonly head: (isChunk: boolean) => Json;
  /** Returns the first chunk of a choice in a stream, if the route has one. */
  readonly first?: (index: number) => Json;
  /** Returns the fields of a chunk that are not about its choice. */
  readonly chunk?: () => Json;
  /** Returns a choice of a chunk, with the tokens that are new since the last chunk. */
  readonly delta: (generation: Generation, index: number) => Json;
  /** Returns a choice of a whole answer. */
  readonly whole: (generation: Generation, index: number) => Json;
}

/** Returns the finish reason of a response; `null` before its end. */
export function finishReason({ ended }: Generation): string | null {
  return ended === 'lost' ? null : ended;
}

/** Starts the responses of a request, and sends them. */
export function serve(stand: RouteContext, request: OpenAiRequest, response: ServerResponse, style: Style): void {
  if (request.stream) serveStream(stand, request, response, style);
  else serveWhole(stand, request, response, style);
}

function usageOf(request: OpenAiRequest, generations: readonly Generation[]): Usage {
  let completion = 0;
  for (const { count } of generations) completion += count;
  const { promptTokens } = request;
  return { prompt_tokens: promptTokens, total_tokens: promptTokens + completion, completion_tokens: completion };
}

function serveStream(stand: RouteContext, request: OpenAiRequest, response: ServerResponse, style: Style): void {
  beginEvents(response);
  const head = style.head(true);
  const generations: Generation[] = [];
  const usage = (): Json => (request.continuousUsage ? { usage: usageOf(request, generations) } : {});
  let begun = false;
  const begin = (): void => {
    if (begun) return;
    begun = true;
    const { first } = style;
    if (first === undefined) return;
    for (const index of request.choices.keys()) sendEvent(response, { ...head, choices: [first(index)], ...usage() });
  };
  const send = (generation: Generation, index: number): void => {
    begin();
    const chunk = style.chunk?.() ?? {};
    sendEvent(response, { ...head, ...chunk, choices: [style.delta(generation, index)], ...usage() });
  };
  start(stand, request, response, generations, {
    progress: send,
    ended: send,
    done: () => {
      if (request.includeUsage) sendEvent(response, { ...head, choices: [], usage: usageOf(request, generations) });
      endEvents(response);
    },
  });
}

function serveWhole(stand: RouteContext, request: OpenAiRequest, response: ServerResponse, style: Style): void {
  const generations: Generation[] = [];
  start(stand, request, response, generations, {
    done: () => {
      const choices = generations.map((one, index) => style.whole(one, index));
      stand.server().stamp(response);
      reply(response, { ...style.head(false), choices, usage: usageOf(request, generations) });
    },
  });
}

interface Parts {
  readonly progress?: (generation: Generation, index: number) => void;
  readonly ended?: (generation: Generation, index: number) => void;
  readonly done: () => void;
}

function start(
  stand: RouteContext,
  { choices }: OpenAiRequest,
  response: ServerResponse,
  generations: Generation[],
  { progress, ended, done }: Parts,
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
