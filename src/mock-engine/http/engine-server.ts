/** The HTTP server of one engine, which answers requests and breaks connections. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { caused } from '../../errors.ts';
import type { ConnectionFault } from '../engine/apply-fault.ts';
import type { MockCluster } from '../engine/cluster.ts';
import type { MockEngine } from '../engine/mock-engine.ts';
import { type Call, HttpError, handlerOf, type Json, type Routes, readBody, refuse, reply } from './http.ts';
import { reset } from './listen.ts';
import type { Pacer } from './pacer.ts';

/** Longest body of a request. */
const mostBytes = 64 * 1024 * 1024;

/** The API of an engine: its routes and the format of its errors. */
export interface Api {
  readonly routes: Routes;
  /** Whether calls of this path need the key, if the engine has a key. */
  guards(path: string): boolean;
  /** Routes that start a generation; the fault `refuse` refuses only these routes. */
  readonly generating: ReadonlySet<string>;
  /** Routes that refuse a body whose content type is not JSON. */
  readonly needsJson: ReadonlySet<string>;
  /** Returns the body of an error. */
  error(error: HttpError, path: string): Json;
}

/** Answers the requests of one engine. */
export class EngineServer {
  readonly engine: MockEngine;
  readonly #api: Api;
  readonly #pacer: Pacer;
  readonly #now: () => number;
  readonly #apiKey: string | undefined;
  /** Answers that wait because the engine hangs. */
  #parked: (() => void)[] = [];
  /** Open responses, each with its request id. */
  readonly #open = new Map<ServerResponse, string>();
  #refusals: { count: number; readonly status: number } | undefined;

  constructor(engine: MockEngine, api: Api, pacer: Pacer, cluster: MockCluster) {
    this.engine = engine;
    this.#api = api;
    this.#pacer = pacer;
    this.#now = () => cluster.now;
    this.#apiKey = cluster.options.apiKey;
  }

  /** Records that the tokens of a request go to this response. */
  opened(response: ServerResponse, requestId: string): void {
    this.#open.set(response, requestId);
    response.once('close', () => this.#open.delete(response));
  }

  /** Adds the simulated time to the headers of a response. */
  stamp(response: ServerResponse): void {
    if (!response.headersSent) response.setHeader('x-simulated-seconds', this.#now());
  }

  /** Answers a request; the answer waits while the engine hangs. */
  take(request: IncomingMessage, response: ServerResponse): void {
    // A client that disconnects is no error of the server.
    response.on('error', () => {});
    request.on('error', () => {});
    const answer = (): void => {
      this.#answer(request, response).catch((error: unknown) => this.#fail(request, response, error));
    };
    if (this.engine.isHanging) this.#parked.push(answer);
    else answer();
  }

  /** Applies a fault to the connections. */
  disturb(fault: ConnectionFault): void {
    switch (fault.kind) {
      case 'down':
        this.#parked = [];
        this.#refusals = undefined;
        return this.#reset('');
      case 'reset':
        return this.#reset(fault.rid);
      case 'refuse':
        this.#refusals = { count: fault.count, status: fault.status };
        return;
      case 'resumed':
      case 'up':
        for (const answer of this.#parked.splice(0)) answer();
    }
  }

  #reset(rid: string): void {
    for (const [response, requestId] of this.#open) if (requestId.startsWith(rid)) reset(response);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://engine');
    const { pathname: path, searchParams: query } = url;
    const { method = 'GET' } = request;
    if (this.#api.guards(path) && !this.#hasKey(request)) return reply(response, { error: 'Unauthorized' }, 401);
    const handler = handlerOf(this.#api.routes, method, path);
    if (typeof handler === 'number') {
      reply(response, { detail: handler === 404 ? 'Not Found' : 'Method Not Allowed' }, handler);
      return;
    }
    if (this.#api.needsJson.has(path) && !/^application\/json *(;|$)/i.test(request.headers['content-type'] ?? '')) {
      refuse("Unsupported Media Type: Only 'application/json' is allowed", 400, { type: 'Bad Request' });
    }
    const body = await readBody(request, mostBytes);
    if (this.engine.isHanging) {
      this.#parked.push(() => this.#handle(handler, { request, response, path, query, body }));
      return;
    }
    this.#handle(handler, { request, response, path, query, body });
  }

  #hasKey({ method, headers }: IncomingMessage): boolean {
    if (this.#apiKey === undefined || method === 'OPTIONS') return true;
    const { authorization = '' } = headers;
    const [scheme, ...key] = authorization.split(' ');
    return scheme!.toLowerCase() === 'bearer' && key.join(' ') === this.#apiKey;
  }

  #handle(handler: (call: Call) => void, call: Call): void {
    const { request, response, path } = call;
    try {
      this.#pacer.touch();
      if (!this.engine.isUp) return reset(response);
      this.stamp(response);
      if (this.#api.generating.has(path) && this.#refuses(call)) return;
      handler(call);
    } catch (error) {
      this.#fail(request, response, error);
    } finally {
      this.#pacer.arm();
    }
  }

  #refuses({ response, path }: Call): boolean {
    const refusals = this.#refusals;
    if (refusals === undefined) return false;
    refusals.count -= 1;
    if (refusals.count === 0) this.#refusals = undefined;
    const { status } = refusals;
    const error = new HttpError(status, 'the engine refuses, as it was told to');
    reply(response, this.#api.error(error, path), status);
    return true;
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const httpError = error instanceof HttpError ? error : new HttpError(500, String(caused(error)));
    if (response.headersSent || response.destroyed) reset(response);
    else reply(response, this.#api.error(httpError, request.url ?? ''), httpError.status);
  }
}
