/** Control routes of a vLLM engine, which a trainer calls: aborts, pauses, sleep, caches. */
import { type PauseMode, pause, resume } from '../engine/pausing.ts';
import type { RouteContext } from '../generating.ts';
import { Fields } from '../http/fields.ts';
import { type Call, hasBody, type Routes, refuse, reply, replyEmpty } from '../http/http.ts';
import { weightRoutes } from './weights.ts';

const modes: readonly string[] = ['abort', 'wait', 'keep'] satisfies PauseMode[];
/** Reasons to hold requests: a pause, and what a sleep takes out of memory. */
const paused = 'pause';
const memory = ['weights', 'kv_cache'] as const;

export function controlRoutes(stand: RouteContext): Routes {
  const { engine } = stand;
  const isAsleep = (): boolean => memory.some((one) => engine.isClosedBy(one));
  return {
    'POST /pause': ({ query, response }) => {
      pause(engine, paused, modeOf(query), 'all', () => {
        if (query.get('clear_cache') !== 'false') engine.forgetPrefixes();
        reply(response, { status: 'paused' });
      });
    },
    'POST /resume': ({ response }) => {
      resume(engine, paused);
      reply(response, { status: 'resumed' });
    },
    'GET /is_paused': ({ response }) => reply(response, { is_paused: engine.isClosedBy(paused) }),
    'POST /abort_requests': (call) => abortRequests(stand, call),
    'POST /inference/v1/abort_requests': (call) => {
      const { body, response } = call;
      if (new Fields(body).raw('request_ids') === undefined) {
        refuse("Missing 'request_ids' in request body", 400, { type: 'Bad Request' });
      }
      abort(stand, idsIn(call) ?? []);
      replyEmpty(response);
    },
    'POST /sleep': ({ query, response }) => {
      const level = levelOf(query);
      pause(engine, paused, modeOf(query), 'all', () => {
        engine.forgetPrefixes();
        if (level > 0) for (const one of memory) engine.close(one);
        reply(response, { status: 'sleeping', level });
      });
    },
    'POST /wake_up': ({ query, response }) => {
      const asked = query.getAll('tags');
      const tags = asked.length > 0 ? asked : null;
      for (const one of memory) if (tags?.includes(one) ?? true) engine.open(one);
      const isAwake = !isAsleep();
      if (isAwake) resume(engine, paused);
      reply(response, { status: isAwake ? 'awake' : 'sleeping', tags });
    },
    'GET /is_sleeping': ({ response }) => reply(response, { is_sleeping: engine.isClosedBy(paused) || isAsleep() }),
    'POST /reset_prefix_cache': ({ query, response }) => {
      if (query.get('reset_running_requests') === 'true') {
        return engine.freeze('reset', () => {
          engine.retract();
          engine.forgetPrefixes();
          engine.thaw('reset');
          reply(response, { success: true });
        });
      }
      const success = engine.load().usedTokens === 0;
      if (success) engine.forgetPrefixes();
      reply(response, { success });
    },
    'POST /reset_mm_cache': ({ response }) => replyEmpty(response),
    'POST /reset_encoder_cache': ({ response }) => replyEmpty(response),
    ...weightRoutes(stand),
  };
}

function modeOf(query: URLSearchParams): PauseMode {
  const mode = query.get('mode') ?? 'abort';
  if (modes.includes(mode)) return mode as PauseMode;
  return refuse(`mode: expected one of ${modes}, got '${mode}'`, 400, { type: 'Bad Request', param: 'query.mode' });
}

function levelOf(query: URLSearchParams): number {
  const level = Number(query.get('level') ?? 1);
  if (level === 0 || level === 1 || level === 2) return level;
  return refuse(`level: expected 0, 1 or 2, got ${level}`, 400, { type: 'Bad Request', param: 'query.level' });
}

/** Aborts requests by the ids that clients see (`cmpl-…-0`, `chatcmpl-…`); without ids, all of them. */
function abortRequests(stand: RouteContext, call: Call): void {
  const named = idsIn(call);
  if (named === undefined) {
    return reply(call.response, { error: 'Failed to abort requests: request_ids: expected a list of ids' }, 500);
  }
  const ids = named.length > 0 ? named : stand.engine.requestIds;
  abort(stand, ids);
  reply(call.response, { status: 'aborted', aborted: ids.length });
}

/** Returns the ids in a body, one or a list; `undefined` if they cannot be ids. */
function idsIn({ request, body }: Call): string[] | undefined {
  if (!hasBody(request)) refuse('Invalid JSON format', 400, { type: 'Bad Request' });
  const given = new Fields(body).raw('request_ids') ?? [];
  if (typeof given === 'string') return [given];
  return Array.isArray(given) ? given.map(String) : undefined;
}

function abort({ engine }: RouteContext, named: readonly string[]): void {
  const ids = new Set(named);
  engine.abort((one) => ids.has(one.requestId), 'all');
}
