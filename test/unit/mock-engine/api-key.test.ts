/** An engine with a key: which routes need it, and what a client without it gets, as in vLLM and SGLang. */
import { afterEach, describe, expect, test } from 'vitest';
import { MockHttp } from '../../support/mock-engine/http.ts';

let http: MockHttp;
afterEach(() => http.running.stop());

const statusOf = async (method: string, path: string, authorization?: string) => {
  const headers = authorization === undefined ? {} : { authorization };
  const { status, body } = await http.send(method, path, method === 'GET' ? undefined : {}, undefined, headers).reply;
  if (status === 401) expect(body).toEqual({ error: 'Unauthorized' });
  return status;
};

describe('a key', () => {
  test('of vLLM guards what begins with /v1 and /inference, and leaves the routes of a trainer open', async () => {
    http = await MockHttp.start({ api: 'vllm', apiKey: 'secret' });
    for (const path of ['/v1/models', '/v1/completions', '/inference/v1/generate', '/v1/no-such-route']) {
      for (const wrong of [undefined, 'secret', 'Basic secret', 'Bearer', 'Bearer other', 'Bearer secret x']) {
        expect([path, wrong, await statusOf('POST', path, wrong)]).toEqual([path, wrong, 401]);
      }
    }
    expect(await statusOf('GET', '/v1/models', 'Bearer secret')).toBe(200);
    expect(await statusOf('GET', '/v1/models', 'bearer secret')).toBe(200);
    for (const path of ['/health', '/ping', '/version', '/load', '/is_paused', '/weight_info']) {
      expect([path, await statusOf('GET', path)]).toEqual([path, 200]);
    }
    expect(await statusOf('POST', '/abort_requests')).toBe(200);
  });

  test('of SGLang guards everything but health and readiness', async () => {
    http = await MockHttp.start({ apiKey: 'secret' });
    for (const path of ['/generate', '/abort_request', '/pause_generation', '/no-such-route']) {
      expect([path, await statusOf('POST', path)]).toEqual([path, 401]);
    }
    for (const path of ['/server_info', '/v1/loads', '/v1/models']) {
      expect([path, await statusOf('GET', path)]).toEqual([path, 401]);
      expect([path, await statusOf('GET', path, 'Bearer secret')]).toEqual([path, 200]);
    }
    for (const path of ['/health', '/health_generate', '/ready']) {
      expect([path, await statusOf('GET', path)]).toEqual([path, 200]);
    }
    // The router passes the key on.
    const { url } = http.running;
    expect((await http.send('GET', '/v1/models', undefined, url).reply).status).toBe(401);
    const headers = { authorization: 'Bearer secret' };
    expect((await http.send('GET', '/v1/models', undefined, url, headers).reply).status).toBe(200);
  });
});
