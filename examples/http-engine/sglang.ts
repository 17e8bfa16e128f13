/** SGLang's own routes in front of an engine: what an RL host uses of them, with the same fields. */
import type { ServerResponse } from 'node:http';
import type { Engine, GenerateInput, Output } from './engine.ts';
import { type Handler, type Listening, listen, reply } from './http.ts';

/** How the server behaves. */
export interface SglangOptions {
  /** Seconds of the wall clock from a connection that the client has closed to the abort of its request (SGLang: 2). */
  readonly disconnectGraceSeconds: number;
}

/** Serves an engine. */
export function serveSglang(engine: Engine, options: SglangOptions): Promise<Listening> {
  return listen(sglangRoutes(engine, options));
}

/** The routes, by method and path. */
export function sglangRoutes(engine: Engine, options: SglangOptions): Readonly<Record<string, Handler>> {
  return {
    'POST /generate': (body, response) => {
      const input = inputOf(body);
      if (body.stream === true) stream(engine, input, response, options);
      else whole(engine, input, response, options);
    },
    'POST /abort_request': ({ rid = '', abort_all: all = false }, response) => {
      if (all === true) engine.abortAll();
      else engine.abort(String(rid));
      response.writeHead(200).end();
    },
    'POST /update_weights_from_disk': ({ weight_version: version, abort_all_requests: all = false }, response) => {
      if (all === true) engine.abortAll();
      if (version !== undefined && version !== null) engine.weightVersion = String(version);
      reply(response, { success: true, message: 'Succeeded to update model weights.', num_paused_requests: 0 });
    },
    'GET /get_model_info': (_, response) =>
      reply(response, { model_path: 'none', is_generation: true, weight_version: engine.weightVersion }),
    'GET /get_load': (_, response) => {
      const { running, waiting } = engine;
      reply(response, [{ dp_rank: 0, num_reqs: running + waiting, num_waiting_reqs: waiting, num_tokens: 0 }]);
    },
    'GET /health': (_, response) => void response.writeHead(200).end(),
  };
}

function inputOf({ rid, text, sampling_params: given }: Record<string, unknown>): GenerateInput {
  if (typeof rid !== 'string' || rid === '') throw new Error('expected `rid`, a string');
  if (typeof text !== 'string') throw new Error('expected `text`, a string');
  const { max_new_tokens: most = 128, sampling_seed: seed = 0 } = (given ?? {}) as Record<string, unknown>;
  return { rid, text, maxNewTokens: Number(most), samplingSeed: Number(seed) };
}

/** Server-sent events: the response so far again and again, then the whole of it, then `[DONE]`. */
function stream(engine: Engine, input: GenerateInput, response: ServerResponse, options: SglangOptions): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (data: unknown): void => void response.write(`data: ${JSON.stringify(data)}\n\n`);
  // Here the status has gone out already, so the error is an event.
  if (engine.has(input.rid)) {
    send({ error: { message: `Duplicate request ID detected: ${input.rid}` } });
    response.end('data: [DONE]\n\n');
    return;
  }
  abortWhenClosed(engine, input.rid, response, options);
  engine.generate(input, (output) => {
    send(answerOf(input, output));
    if (output.ending !== null) response.end('data: [DONE]\n\n');
  });
}

function whole(engine: Engine, input: GenerateInput, response: ServerResponse, options: SglangOptions): void {
  if (engine.has(input.rid)) throw new Error(`Duplicate request ID detected: ${input.rid}`);
  abortWhenClosed(engine, input.rid, response, options);
  engine.generate(input, (output) => {
    if (output.ending !== null) reply(response, answerOf(input, output));
  });
}

function abortWhenClosed(engine: Engine, rid: string, response: ServerResponse, options: SglangOptions): void {
  response.on('close', () => {
    if (response.writableEnded) return;
    setTimeout(() => engine.abort(rid), options.disconnectGraceSeconds * 1000).unref();
  });
}

/** One answer of `/generate`. The text says which tokens there are, and nothing more. */
function answerOf({ text, maxNewTokens }: GenerateInput, { rid, tokens, ending, weightVersion }: Output): unknown {
  return {
    text: `${text}:${tokens}`,
    output_ids: Array.from({ length: tokens }, (_, index) => index),
    meta_info: {
      id: rid,
      finish_reason: reasonOf(ending, maxNewTokens),
      prompt_tokens: text.length,
      completion_tokens: tokens,
      cached_tokens: 0,
      weight_version: weightVersion,
    },
  };
}

function reasonOf(ending: Output['ending'], maxNewTokens: number): unknown {
  switch (ending) {
    case null:
      return null;
    case 'stop':
      return { type: 'stop', matched: 0 };
    case 'length':
      return { type: 'length', length: maxNewTokens };
    case 'abort':
      return { type: 'abort', message: 'Aborted', status_code: null, err_type: null };
  }
}
