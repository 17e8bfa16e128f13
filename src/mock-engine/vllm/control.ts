/** Control routes of a vLLM engine, which a trainer calls: aborts, pauses, sleep, weights. */
import { type PauseMode, pause, resume } from '../engine/pausing.ts';
import type { RouteContext } from '../generating.ts';
import { Fields } from '../http/fields.ts';
import { type Call, type Handler, type Json, type Routes, refuse, reply, replyEmpty } from '../http/http.ts';

const modes: readonly string[] = ['abort', 'wait', 'keep'] satisfies PauseMode[];

export function controlRoutes(stand: RouteContext): Routes {
  const { engine } = stand;
  return {
    'POST /pause': ({ query, response }) => {
      const waits = query.get('wait_for_inflight_requests') === 'true';
      const mode = waits ? 'wait' : modeOf(query);
      pause(engine, 'pause', mode, 'all', () => reply(response, { status: 'paused' }));
    },
    'POST /resume': ({ response }) => {
      resume(engine, 'pause');
      reply(response, { status: 'resumed' });
    },
    'GET /is_paused': ({ response }) => reply(response, { is_paused: engine.isClosedBy('pause') }),
    'POST /abort_requests': (call) => abortRequests(stand, call),
    'POST /inference/v1/abort_requests': (call) => {
      const { body, response } = call;
      if (new Fields(body).raw('request_ids') === undefined) refuse("Missing 'request_ids' in request body");
      abort(stand, idsIn(body));
      replyEmpty(response);
    },
    'POST /sleep': ({ query, response }) => {
      pause(engine, 'sleep', modeOf(query), 'all', () => replyEmpty(response));
    },
    'POST /wake_up': ({ response }) => {
      resume(engine, 'sleep');
      replyEmpty(response);
    },
    'GET /is_sleeping': ({ response }) => reply(response, { is_sleeping: engine.isClosedBy('sleep') }),
    'POST /reset_prefix_cache': ({ response }) => replyEmpty(response),
    ...weightRoutes(stand),
  };
}

function modeOf(query: URLSearchParams): PauseMode {
  const mode = query.get('mode') ?? 'abort';
  return modes.includes(mode) ? (mode as PauseMode) : refuse(`mode: expected one of ${modes}, got '${mode}'`, 422);
}

/** Aborts requests by the ids that clients see (`cmpl-…-0`, `chatcmpl-…`); without ids, all of them. */
function abortRequests(stand: RouteContext, { body, response }: Call): void {
  const named = idsIn(body);
  const ids = named.length > 0 ? named : stand.engine.requestIds;
  abort(stand, ids);
  reply(response, { status: 'aborted', aborted: ids.length });
}

function idsIn(body: Json): string[] {
  const given = new Fields(body).raw('request_ids') ?? [];
  if (!Array.isArray(given) || given.some((one) => typeof one !== 'string'))
    refuse('request_ids: expected a list of ids');
  return given as string[];
}

function abort({ engine }: RouteContext, named: readonly string[]): void {
  const ids = new Set(named);
  engine.abort((one) => ids.has(one.requestId), 'all');
}

function weightRoutes({ engine, cluster }: RouteContext): Routes {
  const say =
    (message: string): Handler =>
    ({ response }) =>
      reply(response, { message });
  return {
    'POST /init_weight_transfer_engine': ({ body, response }) => {
      if (new Fields(body).raw('init_info') === undefined) refuse("Missing 'init_info' in request body");
      reply(response, { message: 'Weight transfer initialized' });
    },
    'POST /start_weight_update': say('Weight update started'),
    'POST /update_weights': ({ body, response }) => {
      if (new Fields(body).raw('update_info') === undefined) refuse("Missing 'update_info' in request body");
      engine.after(cluster.options.updateSeconds, () => reply(response, { message: 'Weights updated' }));
    },
    'POST /finish_weight_update': ({ body, response }) => {
      engine.weightVersion = new Fields(body).string('weight_version') ?? engine.weightVersion;
      reply(response, { message: 'Weight update finished' });
    },
    'POST /update_weight_version': ({ body, response }) => {
      const version = new Fields(body).string('new_version') ?? refuse('new_version: expected a string', 422);
      engine.weightVersion = version;
      reply(response, { success: true, new_version: version });
    },
    'GET /weight_info': ({ response }) => reply(response, { weight_version: engine.weightVersion }),
    'GET /get_world_size': ({ response }) => reply(response, { world_size: cluster.cost.gpus }),
  };
}
