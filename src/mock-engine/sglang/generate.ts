/** `POST /generate`, streamed or not. */
import type { ServerResponse } from 'node:http';
import type { PlannedResponse } from '../engine/prompts/response-book.ts';
import type { Generation } from '../engine/requests/generation.ts';
import { abortWhenClosed, plan, type RouteContext, submit } from '../generating.ts';
import { beginEvents, type Call, endEvents, type Handler, refuse, reply, sendEvent } from '../http/http.ts';
import { type AnswerStyle, answerOf } from './answer.ts';
import { readGenerate, type SglangRequest, type SglangWanted } from './request.ts';

export function generateHandler(stand: RouteContext): Handler {
  return ({ body, response }: Call) => {
    const request = readGenerate(body, () => stand.cluster.nameRequest());
    if (request.stream) stream(stand, request, response);
    else whole(stand, request, response);
  };
}

const styleOf = (stand: RouteContext, request: SglangRequest, index: number): AnswerStyle => ({
  stream: request.stream,
  incremental: stand.cluster.options.incrementalStreaming,
  logProbs: request.wanted[index]!.logProbs,
  drafts: stand.cluster.cost.drafts,
  index: request.isSingle || !request.stream ? undefined : index,
});

/** Streams the responses. The HTTP status is sent before the request is read, so errors are sent as events. */
function stream(stand: RouteContext, request: SglangRequest, response: ServerResponse): void {
  beginEvents(response);
  let planned: PlannedResponse[];
  try {
    planned = planAll(stand, request);
  } catch (error) {
    const details = { type: 'invalid_request_error', code: 400, retryable: false };
    sendEvent(response, { error: { message: (error as Error).message, ...details } });
    endEvents(response);
    return;
  }
  start(stand, request, planned, response, {
    progress: (one, index) =>
      sendEvent(response, answerOf(one, stand.engine.weightVersion, styleOf(stand, request, index))),
    done: () => endEvents(response),
  });
}

function whole(stand: RouteContext, request: SglangRequest, response: ServerResponse): void {
  const planned = planAll(stand, request);
  const answers: unknown[] = [];
  start(stand, request, planned, response, {
    ended: (one, index) => {
      answers[index] = answerOf(one, stand.engine.weightVersion, styleOf(stand, request, index));
    },
    done: () => {
      stand.server().stamp(response);
      reply(response, request.isSingle ? answers[0] : answers);
    },
  });
}

interface Callbacks {
  /** Called when a response has new tokens or ends; absent if nothing is streamed. */
  readonly progress?: (generation: Generation, index: number) => void;
  readonly ended?: (generation: Generation, index: number) => void;
  readonly done: () => void;
}

function start(
  stand: RouteContext,
  { wanted }: SglangRequest,
  planned: readonly PlannedResponse[],
  response: ServerResponse,
  callbacks: Callbacks,
): void {
  const open = new Set<Generation>();
  const { progress } = callbacks;
  let left = wanted.length;
  for (const [index, one] of wanted.entries()) {
    const generation = submit(stand, one, planned[index]!, one.limits, {
      ...(progress === undefined ? {} : { progress: (of: Generation) => progress(of, index) }),
      ended: (of) => {
        open.delete(of);
        // The connection of a lost response is reset.
        if (of.ended === 'lost') return;
        (progress ?? callbacks.ended)?.(of, index);
        left -= 1;
        if (left === 0) callbacks.done();
      },
    });
    open.add(generation);
  }
  abortWhenClosed(stand, response, wanted[0]!.requestId, open);
}

/** Plans all responses. Throws `HttpError` for bad input, and for ids in use. */
function planAll(stand: RouteContext, { wanted }: SglangRequest): PlannedResponse[] {
  const seen = new Set<string>();
  return wanted.map((one) => {
    const { requestId } = one;
    if (seen.has(requestId) || stand.engine.has(requestId)) refuse(`Duplicate request ID detected: ${requestId}`);
    seen.add(requestId);
    const planned = plan(stand, one);
    checkLength(planned.promptTokens, one, stand.cluster.options.contextTokens);
    return planned;
  });
}

function checkLength(promptTokens: number, { limits }: SglangWanted, contextTokens: number): void {
  if (promptTokens >= contextTokens) {
    refuse(`The input (${promptTokens} tokens) is longer than the model's context length (${contextTokens} tokens).`);
  }
  const asked = promptTokens + limits.maxTokens;
  if (asked > contextTokens) {
    refuse(
      `Requested token count exceeds the context length of ${contextTokens} tokens: ${asked} tokens, ` +
        `${promptTokens} of the input and ${limits.maxTokens} for the completion.`,
    );
  }
  if (limits.maxTokens === 0) refuse('max_new_tokens: 0 tokens are not generated here');
}
