/** Control routes of an SGLang engine, which a trainer calls: aborts, pauses, weights, memory. */
import { type PauseMode, pause, resume, updateWeights } from '../engine/pausing.ts';
import type { RouteContext } from '../generating.ts';
import { Fields, refuseField } from '../http/fields.ts';
import { type Call, type Handler, hasBody, type Routes, refuse, reply, replyEmpty, replyText } from '../http/http.ts';

const pauseModes: Readonly<Record<string, PauseMode>> = { abort: 'abort', in_place: 'keep', retract: 'retract' };
/** Released memory makes requests wait, as a pause does. */
const memoryGate = 'memory';
const ok = (message: string) => ({ message, status: 'ok' });

export function controlRoutes(stand: RouteContext): Routes {
  const { engine } = stand;
  const memory = memoryRoutes(stand);
  const flush: Handler = ({ response }) => {
    const text =
      'Cache flushed.\nPlease check backend logs for more details. (When there are running or waiting requests, the operation will not be performed.)\n';
    const isIdle = engine.size === 0;
    if (isIdle) engine.forgetPrefixes();
    replyText(response, text, isIdle ? 200 : 400, null);
  };
  const withBody: Routes = {
    'POST /abort_request': (call) => abortRequest(stand, call),
    'POST /pause_generation': ({ body, response }) => {
      const mode = new Fields(body).string('mode') ?? 'abort';
      const known = pauseModes[mode] ?? refuseField('mode', `one of ${Object.keys(pauseModes)}`, mode);
      pause(engine, 'pause', known, 'scheduler', () => reply(response, ok('Generation paused successfully.')));
    },
    'POST /continue_generation': ({ response }) => {
      resume(engine, 'pause');
      reply(response, ok('Generation continued successfully.'));
    },
    ...weightRoutes(stand),
    ...memory,
  };
  return {
    ...Object.fromEntries(Object.entries(withBody).map(([route, handler]) => [route, needsBody(handler)])),
    'GET /flush_cache': flush,
    'POST /flush_cache': flush,
    'GET /get_weight_version': ({ response }) => reply(response, { weight_version: engine.weightVersion }),
  };
}

/** Refuses calls without a body, as the real server does: `{}` is enough. */
function needsBody(handler: Handler): Handler {
  return (call) => {
    if (!hasBody(call.request)) refuse('a body is required: {} at least', 400, { type: 'Bad Request' });
    handler(call);
  };
}

/**
 * Aborts every request whose id begins with the given id, if the engine has a request with exactly this id. An unknown id gets the
 * same answer.
 */
function abortRequest({ engine }: RouteContext, { body, response }: Call): void {
  const fields = new Fields(body);
  const rid = fields.string('rid') ?? '';
  const all = fields.boolean('abort_all') ?? false;
  if (all || engine.has(rid)) engine.abort((one) => all || one.requestId.startsWith(rid), 'scheduler');
  replyEmpty(response);
}

function weightRoutes({ engine, cluster }: RouteContext): Routes {
  const update =
    (words: (version: string | undefined) => Record<string, unknown>): Handler =>
    ({ body, response }) => {
      const fields = new Fields(body);
      const version = fields.string('weight_version');
      const abortAll = fields.boolean('abort_all_requests') ?? false;
      const flushes = fields.boolean('flush_cache') ?? true;
      updateWeights(engine, { version, seconds: cluster.options.updateSeconds, abortAll }, () => {
        if (flushes) engine.forgetPrefixes();
        reply(response, { success: true, ...words(version) });
      });
    };
  const message = (version: string | undefined): string =>
    version === undefined
      ? 'Succeeded to update model weights.'
      : `Succeeded to update model weights. Weight version updated to ${version}.`;
  const fromDisk = update((version) => ({ message: message(version), num_paused_requests: 0 }));
  const other = update((version) => ({ message: message(version) }));
  const session: Handler = ({ response }) => reply(response, { success: true, message: 'Success.' });
  const group: Handler = ({ response }) => reply(response, { success: true, message: 'Succeeded.' });
  return {
    'POST /update_weights_from_disk': fromDisk,
    'POST /update_weights_from_tensor': other,
    'POST /update_weights_from_distributed': other,
    'POST /update_weights_from_ipc': other,
    'POST /begin_weight_update': session,
    'POST /end_weight_update': session,
    'POST /init_weights_update_group': group,
    'POST /destroy_weights_update_group': group,
    'POST /update_weight_version': ({ body, response }) => {
      const fields = new Fields(body);
      const version = fields.string('new_version') ?? refuseField('new_version', 'a string', undefined);
      if (fields.boolean('abort_all_requests') ?? true) engine.abort(() => true, 'scheduler');
      engine.weightVersion = version;
      reply(response, { success: true, message: `Weight version updated to ${version}`, new_version: version });
    },
  };
}

/** Returns the routes of memory. Memory can be released only while the engine is idle; requests wait until it is resumed. */
function memoryRoutes({ engine }: RouteContext): Routes {
  const release: Handler = ({ response }) => {
    if (engine.size > 0) refuse(`release_memory_occupation: ${engine.size} requests are running or waiting`);
    engine.close(memoryGate);
    engine.forgetPrefixes();
    reply(response, null);
  };
  const back: Handler = ({ response }) => {
    engine.open(memoryGate);
    reply(response, null);
  };
  return {
    'GET /release_memory_occupation': release,
    'POST /release_memory_occupation': release,
    'GET /resume_memory_occupation': back,
    'POST /resume_memory_occupation': back,
  };
}
