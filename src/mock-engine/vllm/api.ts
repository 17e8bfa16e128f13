/**
 * vLLM's routes in front of an engine: those of OpenAI, the route for tokens, and routes of its development mode that trainers
 * use.
 */
import type { RouteContext } from '../generating.ts';
import type { Api } from '../http/engine-server.ts';
import { type Handler, type HttpError, type Routes, reply, replyEmpty, replyText } from '../http/http.ts';
import { chatCompletions } from './chat.ts';
import { completions } from './completions.ts';
import { controlRoutes } from './control.ts';
import { metricsText } from './metrics.ts';
import { created, fingerprint } from './serve.ts';
import { generateTokens } from './tokens.ts';

/** Paths that need the key; aborts, pauses and weight updates under their own names do not. */
const guarded = ['/v1', '/v2', '/inference', '/cohere'];
const generating: ReadonlySet<string> = new Set(['/v1/completions', '/v1/chat/completions', '/inference/v1/generate']);

export function vllmApi(stand: RouteContext): Api {
  return {
    routes: {
      'POST /v1/completions': (call) => completions(stand, call),
      'POST /v1/chat/completions': (call) => chatCompletions(stand, call),
      'POST /inference/v1/generate': (call) => generateTokens(stand, call),
      ...controlRoutes(stand),
      ...infoRoutes(stand),
    },
    generating,
    needsJson: generating,
    guards: (path) => guarded.some((one) => path.startsWith(one)),
    error: ({ status: code, message, details: { type = typeOf(code), param = null } }, path) => ({
      // Aborts read their body separately, and name no field.
      error: { message, type, param: path.includes('abort_requests') ? null : param, code },
    }),
  };
}

function infoRoutes(stand: RouteContext): Routes {
  const { cluster } = stand;
  const healthy: Handler = ({ response }) => replyEmpty(response);
  return {
    'GET /health': healthy,
    'GET /ping': healthy,
    'POST /ping': healthy,
    'GET /version': ({ response }) => reply(response, { version: fingerprint }),
    'GET /load': ({ response }) => reply(response, { server_load: stand.engine.requestIds.length }),
    'GET /v1/models': ({ response }) => {
      const { model: id, contextTokens: max_model_len } = cluster.options;
      const made = created();
      const card = { id, object: 'model', created: made, owned_by: 'vllm', root: id, parent: null, max_model_len };
      const permission = [{ id: `modelperm-${id}`, object: 'model_permission', created: made, ...permissions }];
      reply(response, { object: 'list', data: [{ ...card, permission }] });
    },
    'GET /metrics': ({ response }) => replyText(response, metricsText(stand), 200, metricsType),
  };
}

const metricsType = 'text/plain; version=1.0.0; charset=utf-8';
const permissions = {
  allow_create_engine: false,
  allow_sampling: true,
  allow_logprobs: true,
  allow_search_indices: false,
  allow_view: true,
  allow_fine_tuning: false,
  organization: '*',
  group: null,
  is_blocking: false,
};

function typeOf(status: HttpError['status']): string {
  if (status === 404) return 'NotFoundError';
  return status < 500 ? 'BadRequestError' : 'InternalServerError';
}
