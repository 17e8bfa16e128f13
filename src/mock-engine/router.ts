/** The routes of an SGLang router (model gateway) in front of all engines, and the control routes of the mock engine. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ownRoutes } from './control.ts';
import type { MockCluster } from './engine/cluster.ts';
import type { EngineServer } from './http/engine-server.ts';
import { type Call, HttpError, handlerOf, type Routes, readBody, reply, replyEmpty } from './http/http.ts';
import type { Pacer } from './http/pacer.ts';

/** Longest body of a request that the router answers itself. */
const mostBytes = 1024 * 1024;

/** Routes that the router passes on to an engine; aborts, pauses and weight updates go to each engine directly. */
const passedOn: ReadonlySet<string> = new Set([
  '/generate',
  '/v1/completions',
  '/v1/chat/completions',
  '/v1/models',
  '/health',
  '/health_generate',
  '/get_model_info',
  '/model_info',
  '/get_server_info',
  '/server_info',
]);

/** An engine in the list of the router. */
export interface Worker {
  readonly url: string;
  readonly server: EngineServer;
}

/** Passes each request on to the engine with the fewest requests. */
export class Router {
  readonly #workers: readonly Worker[];
  readonly #cluster: MockCluster;
  readonly #pacer: Pacer;
  readonly #routes: Routes;
  /** Engines that were removed from the list. */
  readonly #out = new Set<Worker>();

  constructor(workers: readonly Worker[], cluster: MockCluster, pacer: Pacer) {
    this.#workers = workers;
    this.#cluster = cluster;
    this.#pacer = pacer;
    this.#routes = { ...ownRoutes(cluster, pacer), ...this.#workerRoutes() };
  }

  /** Answers a request, or passes it on to an engine. */
  take(request: IncomingMessage, response: ServerResponse): void {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://router');
    const handler = handlerOf(this.#routes, request.method ?? 'GET', path);
    if (handler === 405) return reply(response, { detail: 'Method Not Allowed' }, 405);
    if (handler === 404) {
      if (passedOn.has(path)) return this.#passOn(request, response);
      return reply(response, { detail: 'Not Found: the router has no such route, its workers may' }, 404);
    }
    readBody(request, mostBytes)
      .then((body) => {
        this.#pacer.touch();
        response.setHeader('x-simulated-seconds', this.#cluster.now);
        handler({ request, response, path, query, body });
      })
      .catch((error: unknown) => {
        const status = error instanceof HttpError ? error.status : 500;
        reply(response, { error: { message: error instanceof Error ? error.message : String(error) } }, status);
      })
      .finally(() => this.#pacer.arm());
  }

  #passOn(request: IncomingMessage, response: ServerResponse): void {
    this.#pacer.touch();
    const [first, ...others] = this.#inPool().filter(({ server }) => server.engine.isUp);
    if (first === undefined) return reply(response, { error: 'No available workers' }, 503);
    others
      .reduce((best, one) => (one.server.engine.size < best.server.engine.size ? one : best), first)
      .server.take(request, response);
  }

  #inPool(): Worker[] {
    return this.#workers.filter((one) => !this.#out.has(one));
  }

  #workerRoutes(): Routes {
    return {
      'GET /workers': ({ response }) => {
        const workers = this.#inPool().map((one) => this.#infoOf(one));
        const stats = { prefill_count: 0, decode_count: 0, regular_count: workers.length };
        reply(response, { workers, total: workers.length, stats });
      },
      'POST /workers': ({ body, response }) => {
        const worker = this.#workers.find(({ url }) => url === body.url);
        if (worker === undefined) return notFound(response, String(body.url));
        this.#out.delete(worker);
        accept(response, idOf(worker), 'addition');
      },
      'GET /workers/*': (call) => {
        const worker = this.#named(call);
        if (worker !== undefined) reply(call.response, this.#infoOf(worker));
      },
      'DELETE /workers/*': (call) => {
        const worker = this.#named(call);
        if (worker === undefined) return;
        this.#out.add(worker);
        accept(call.response, idOf(worker), 'removal');
      },
      'GET /list_workers': ({ response }) => reply(response, { urls: this.#inPool().map(({ url }) => url) }),
      'GET /get_loads': ({ response }) => {
        const workers = this.#inPool().map(({ url, server }) => ({ worker: url, load: server.engine.size }));
        reply(response, { workers });
      },
      'GET /liveness': ({ response }) => replyEmpty(response),
      'GET /readiness': ({ response }) => {
        const healthy = this.#inPool().filter(({ server }) => server.engine.isUp).length;
        const status = healthy > 0 ? 'ready' : 'not ready';
        reply(
          response,
          { status, healthy_workers: healthy, total_workers: this.#inPool().length },
          healthy > 0 ? 200 : 503,
        );
      },
    };
  }

  #named({ path, response }: Call): Worker | undefined {
    const name = decodeURIComponent(path.slice('/workers/'.length));
    const worker = this.#inPool().find((one) => idOf(one) === name || one.url === name);
    if (worker === undefined) notFound(response, name);
    return worker;
  }

  #infoOf(worker: Worker): unknown {
    const { url, server } = worker;
    const { isUp, size } = server.engine;
    return {
      id: idOf(worker),
      url,
      model_id: this.#cluster.options.model,
      priority: 50,
      cost: 1,
      worker_type: 'regular',
      is_healthy: isUp,
      load: size,
      connection_mode: 'http',
      metadata: {},
    };
  }
}

const idOf = ({ server }: Worker): string => `engine-${server.engine.number}`;

function accept(response: ServerResponse, worker_id: string, what: string): void {
  const message = `Worker ${what} queued for background processing`;
  reply(response, { status: 'accepted', worker_id, message }, 202);
}

function notFound(response: ServerResponse, name: string): void {
  reply(response, { error: `Worker ${name} not found`, code: 'WORKER_NOT_FOUND' }, 404);
}
