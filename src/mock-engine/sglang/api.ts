/** SGLang's own routes in front of an engine. */
import type { RouteContext } from '../generating.ts';
import type { Api } from '../http/engine-server.ts';
import { controlRoutes } from './control.ts';
import { generateHandler } from './generate.ts';
import { infoRoutes } from './info.ts';
import { samplingParam } from './request.ts';

/** Paths that stay open if the engine has a key. */
const open = ['/health', '/ready', '/metrics'];

/** Routes whose errors consist of a message only. */
const plain: ReadonlySet<string> = new Set([
  '/generate',
  '/abort_request',
  '/release_memory_occupation',
  '/resume_memory_occupation',
]);

export function sglangApi(stand: RouteContext): Api {
  const generate = generateHandler(stand);
  return {
    routes: {
      'POST /generate': generate,
      'PUT /generate': generate,
      ...controlRoutes(stand),
      ...infoRoutes(stand),
    },
    guards: (path) => !open.some((one) => path.startsWith(one)),
    generating: new Set(['/generate']),
    needsJson: new Set(),
    error: ({ status, message, details: { type, param } }, path) => {
      if (param === samplingParam) return { error: message };
      if (type === undefined && plain.has(path.replace(/\?.*/, ''))) return { error: { message } };
      return { object: 'error', message, type: type ?? String(status), param: null, code: status };
    },
  };
}
