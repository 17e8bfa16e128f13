/** The calls of SGLang whose answers were read from its source, and are compared with those of the mock engine. */
import type { Recorder } from './recorder.ts';

const text = 'What is 6 times 7?';
const sampling_params = { max_new_tokens: 10, ignore_eos: true };
const body = { text, sampling_params };

/** Makes all calls. */
export async function sglangCalls(to: Recorder): Promise<void> {
  await keys(to);
  await generate(to);
  await control(to);
  await information(to);
}

async function keys(to: Recorder): Promise<void> {
  const without = { headers: { authorization: 'Basic secret' } };
  for (const path of ['/health', '/ready', '/v1/models', '/v1/loads', '/server_info', '/no-such-route']) {
    await to.call(`key: none for ${path}`, 'GET', path, without);
  }
  for (const path of ['/generate', '/abort_request', '/update_weights_from_disk']) {
    await to.call(`key: none for ${path}`, 'POST', path, { ...without, body: {} });
  }
}

async function generate(to: Recorder): Promise<void> {
  const ask = (name: string, more: object, sampling: object = {}) =>
    to.post(name, '/generate', { ...body, ...more, sampling_params: { ...sampling_params, ...sampling } });
  const many = { max_new_tokens: 100 };
  await ask('text', {});
  await ask('logprobs', { return_logprob: true });
  await to.post('tokens', '/generate', { input_ids: [1, 2, 3], sampling_params });
  await ask('batch', { text: [text, 'x'] });
  await ask('two samples', {}, { n: 2 });
  await ask('stream', { stream: true }, many);
  await ask('stream of a batch', { text: [text, 'x'], stream: true }, many);
  const wrong = (name: string, more: object, sampling: object = {}) => ask(`error: ${name}`, more, sampling);
  await to.post('error: no prompt', '/generate', { sampling_params });
  await to.post('error: bad JSON', '/generate', '{"text":');
  await to.post('error: list', '/generate', []);
  await wrong('wrong type of text', { text: 7 });
  await wrong('wrong type of stream', { stream: 'often' });
  await wrong('wrong type of max_new_tokens', {}, { max_new_tokens: 'many' });
  await wrong('number as text', {}, { max_new_tokens: '7' });
  await wrong('unknown sampling parameter', {}, { no_such_field: 1 });
  await wrong('unknown field', { no_such_field: 1 });
  await wrong('max_new_tokens -1', {}, { max_new_tokens: -1 });
  await wrong('min_new_tokens over max_new_tokens', {}, { min_new_tokens: 11 });
  await wrong('prompt too long', { text: 'word '.repeat(5000) });
  await wrong('prompt too long, stream', { text: 'word '.repeat(5000), stream: true });
  await to.get('error: wrong method', '/generate');
  await to.get('error: unknown route', '/no/such/route');
}

async function control(to: Recorder): Promise<void> {
  await to.post('abort: unknown id', '/abort_request', { rid: 'nobody' });
  await to.post('abort: nothing', '/abort_request');
  for (const stream of [false, true]) {
    const rid = `r${stream ? 2 : 1}`;
    const long = { ...body, rid, stream, sampling_params: { ...sampling_params, max_new_tokens: 3000 } };
    const running = to.post(`abort: ${stream ? 'stream' : 'whole'}, the response`, '/generate', long);
    await to.wait(0.5);
    await to.post(`abort: ${stream ? 'stream' : 'whole'}, the abort`, '/abort_request', { rid });
    await running;
  }
  await to.post('pause', '/pause_generation', { mode: 'in_place' });
  await to.post('pause: wrong mode', '/pause_generation', { mode: 'maybe' });
  await to.post('pause: nothing', '/pause_generation');
  await to.post('continue', '/continue_generation', {});
  await to.get('flush cache', '/flush_cache');
  await to.post('release memory', '/release_memory_occupation', {});
  await to.post('resume memory', '/resume_memory_occupation', {});
  await to.post('weights: begin', '/begin_weight_update', {});
  await to.post('weights: tensor', '/update_weights_from_tensor', { serialized_named_tensors: [] });
  await to.post('weights: distributed', '/update_weights_from_distributed', { names: [], dtypes: [], shapes: [] });
  await to.post('weights: end', '/end_weight_update', {});
  await to.post('weights: disk', '/update_weights_from_disk', { model_path: 'tiny', weight_version: '1' });
  await to.post('weights: version', '/update_weight_version', { new_version: 'default' });
  await to.post('weights: no version', '/update_weight_version', {});
}

async function information(to: Recorder): Promise<void> {
  for (const path of ['/health', '/health_generate', '/ready', '/ping', '/model_info', '/v1/models', '/server_info']) {
    await to.get(`information: ${path}`, path);
  }
  await to.get('loads', '/v1/loads');
  await to.get('loads: core', '/v1/loads?include=core');
  await to.get('loads: unknown section', '/v1/loads?include=weather');
}
