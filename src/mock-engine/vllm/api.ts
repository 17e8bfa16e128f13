/** vLLM's routes in front of an engine: OpenAI's, and those of its development mode that trainers use. */
import type { RouteContext } from '../generating.ts';
import type { Api } from '../http/engine-server.ts';
import { type Handler, type Routes, reply, replyEmpty, replyText } from '../http/http.ts';
import { chatCompletions, completions } from './completions.ts';
import { controlRoutes } from './control.ts';
import { metricsText } from './metrics.ts';
import { generateTokens } from './tokens.ts';

/** Paths that need the key; aborts, pauses and weights under their own names do not. */
const guarded = ['/v1', '/v2', '/inference', '/cohere'];
/** The version in the answers of the engine: it shows that the engine is not vLLM. */
const version = 'rollflex-mock-engine (vllm routes)';

export function vllmApi(stand: RouteContext): Api {
  return {
    routes: {
      'POST /v1/completions': (call) => completions(stand, call),
      'POST /v1/chat/completions': (call) => chatCompletions(stand, call),
      'POST /inference/v1/generate': (call) => generateTokens(stand, call),
      ...controlRoutes(stand),
      ...infoRoutes(stand),
    },
    generating: new Set(['/v1/completions', '/v1/chat/completions', '/inference/v1/generate']),
    guards: (path) => guarded.some((one) => path.startsWith(one)),
    error: (status, message) => ({ error: { message, type: typeOf(status), param: null, code: status } }),
  };
}

function infoRoutes(stand: RouteContext): Routes {
  const { engine, cluster } = stand;
  const healthy: Handler = ({ response }) => replyEmpty(response);
  return {
    'GET /health': healthy,
    'GET /ping': healthy,
    'GET /version': ({ response }) => reply(response, { version }),
    'GET /load': ({ response }) => reply(response, { server_load: engine.requestIds.length }),
    'GET /v1/models': ({ response }) => {
      const { model: id, contextTokens } = cluster.options;
      const card = { id, object: 'model', created: 0, owned_by: 'vllm', root: id, parent: null };
      reply(response, { object: 'list', data: [{ ...card, max_model_len: contextTokens, permission: [] }] });
    },
    'GET /metrics': ({ response }) => {
      void metricsText(stand).then(
        ({ type, text }) => {
          if (!response.destroyed) response.writeHead(200, { 'content-type': type }).end(text);
        },
        (error: Error) => replyText(response, error.message, 501),
      );
    },
  };
}

function typeOf(status: number): string {
  if (status === 404) return 'NotFoundError';
  return status < 500 ? 'BadRequestError' : 'InternalServerError';
}
