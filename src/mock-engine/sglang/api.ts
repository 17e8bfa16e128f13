/** SGLang's own routes in front of an engine. */
import type { RouteContext } from '../generating.ts';
import type { Api } from '../http/engine-server.ts';
import { controlRoutes } from './control.ts';
import { generateHandler } from './generate.ts';
import { infoRoutes } from './info.ts';

/** Paths that stay open if the engine has a key. */
const open = ['/health', '/ready', '/metrics'];

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
    error: ({ status, message, details }, path) =>
      path.startsWith('/generate') && (details.type === undefined || details.param?.startsWith('body.sampling_params'))
        ? { error: { message } }
        : { object: 'error', message, type: details.type ?? String(status), param: null, code: status },
  };
}
