/** Routes for new weights, of a vLLM engine that has a `--weight-transfer-config`. */
import type { RouteContext } from '../generating.ts';
import { Fields, refuseField } from '../http/fields.ts';
import { type Call, type Handler, type Routes, refuse, reply } from '../http/http.ts';

export function weightRoutes({ engine, cluster }: RouteContext): Routes {
  const say =
    (message: string): Handler =>
    ({ response }) =>
      reply(response, { message });
  const needsUpdate = (route: string): void => {
    if (!engine.isUpdating) refuse(`${route} called without a matching start_weight_update.`, 500);
  };
  return {
    'POST /init_weight_transfer_engine': (call) => {
      needs(call, 'init_info');
      reply(call.response, { message: 'Weight transfer initialized' });
    },
    'POST /shutdown_weight_transfer_engine': say('Weight transfer shut down'),
    'POST /start_weight_update': ({ response }) => {
      if (engine.isUpdating) refuse('start_weight_update called while a weight update is already active.', 500);
      engine.isUpdating = true;
      reply(response, { message: 'Weight update started' });
    },
    'POST /update_weights': (call) => {
      needs(call, 'update_info');
      needsUpdate('update_weights');
      engine.after(cluster.options.updateSeconds, () => reply(call.response, { message: 'Weights updated' }));
    },
    'POST /finish_weight_update': ({ body, response }) => {
      const version = new Fields(body).string('weight_version');
      needsUpdate('finish_weight_update');
      engine.isUpdating = false;
      engine.weightVersion = version ?? engine.weightVersion;
      reply(response, { message: 'Weight update finished' });
    },
    'POST /update_weight_version': ({ body, response }) => {
      const version = new Fields(body).string('new_version') ?? refuseField('new_version', 'a string', undefined);
      engine.weightVersion = version;
      reply(response, { success: true, new_version: version });
    },
    'GET /weight_info': ({ response }) => reply(response, { weight_version: engine.weightVersion }),
    'GET /get_world_size': ({ response }) => reply(response, { world_size: cluster.cost.gpus }),
  };
}

function needs({ body }: Call, name: string): void {
  if (new Fields(body).raw(name) === undefined) refuseField(name, 'an object', undefined);
}
