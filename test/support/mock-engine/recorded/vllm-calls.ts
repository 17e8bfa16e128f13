/** The calls of vLLM whose answers are recorded, and compared with those of the mock engine. The model is called `tiny`. */
import type { Recorder } from './recorder.ts';

const model = 'tiny';
const prompt = 'What is 6 times 7?';
const completion = { model, prompt, max_tokens: 10, ignore_eos: true };
const chat = { model, messages: [{ role: 'user', content: prompt }], max_tokens: 10, ignore_eos: true };
const tokens = { model, token_ids: [1, 2, 3], sampling_params: { max_tokens: 10, ignore_eos: true } };
const long = { max_tokens: 3000 };
const longTokens = { ...tokens, sampling_params: { ...tokens.sampling_params, ...long } };
/** A stream, of several chunks. */
const many = { max_tokens: 100 };
const streamed = { stream: true, ...many };
const usage = { include_usage: true };
const routes = { completion: '/v1/completions', chat: '/v1/chat/completions', tokens: '/inference/v1/generate' };
const bodies = { completion, chat, tokens };

/** Arguments of the server, beside those of the model; `VLLM_SERVER_DEV_MODE=1` is in its environment. */
export const vllmArguments = [
  '--served-model-name=tiny',
  '--max-model-len=4096',
  '--enable-scale-out',
  '--weight-transfer-config={"backend":"ipc"}',
  '--api-key=secret',
];

/** Makes all calls. */
export async function vllmCalls(to: Recorder): Promise<void> {
  await keys(to);
  await answers(to);
  await errors(to);
  await aborts(to);
  await pauses(to);
  await weights(to);
  await information(to);
}

async function keys(to: Recorder): Promise<void> {
  const without = { headers: { authorization: 'Basic secret' } };
  for (const path of ['/v1/models', '/v1/no-such-route', '/inference/v1/generate', '/is_paused', '/weight_info']) {
    await to.call(`key: none for ${path}`, 'GET', path, without);
  }
  for (const path of ['/v1/completions', '/inference/v1/abort_requests', '/abort_requests', '/reset_prefix_cache']) {
    await to.call(`key: none for ${path}`, 'POST', path, { ...without, body: {} });
  }
}

async function answers(to: Recorder): Promise<void> {
  const complete = (name: string, more: object) =>
    to.post(`completion: ${name}`, routes.completion, { ...completion, ...more });
  await complete('text', {});
  await complete('no model', { model: undefined });
  await complete('tokens', { prompt: [1, 2, 3] });
  await complete('several prompts', { prompt: ['a', 'b'] });
  await complete('several lists of tokens', { prompt: [[1, 2], [3]] });
  await complete('n, logprobs, token ids', { n: 2, logprobs: 2, return_token_ids: true });
  await complete('logprobs 0', { logprobs: 0 });
  await complete('priority without priorities', { priority: 5 });
  await complete('unknown field', { no_such_field: 1 });
  await complete('null fields', { max_tokens: null, seed: null, stream: null, stop: null, logprobs: null });
  await complete('echo', { echo: true });
  await complete('stream', streamed);
  await complete('stream with usage', { ...streamed, stream_options: { ...usage, continuous_usage_stats: true } });
  await complete('stream with logprobs and token ids', { ...streamed, logprobs: 2, return_token_ids: true });
  await complete('stream of two', { ...streamed, n: 2, stream_options: usage });
  const talk = (name: string, more: object) => to.post(`chat: ${name}`, routes.chat, { ...chat, ...more });
  await talk('text', {});
  await talk('parts', { messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }] });
  await talk('n, logprobs, token ids', { n: 2, logprobs: true, top_logprobs: 2, return_token_ids: true });
  await talk('logprobs without alternatives', { logprobs: true });
  await talk('max_completion_tokens', { max_tokens: undefined, max_completion_tokens: 4 });
  await talk('stream', streamed);
  await talk('stream with usage', { ...streamed, stream_options: { ...usage, continuous_usage_stats: true } });
  await talk('stream with logprobs and token ids', { ...streamed, logprobs: true, return_token_ids: true });
  const generate = (name: string, more: object, sampling: object = {}) =>
    to.post(`tokens: ${name}`, routes.tokens, {
      ...tokens,
      sampling_params: { ...tokens.sampling_params, ...sampling },
      ...more,
    });
  await generate('plain', {});
  await generate('no model', { model: undefined });
  await generate('n, logprobs, prompt', { return_token_ids: true }, { n: 2, logprobs: 2 });
  await generate('text', { output_mode: 'text' }, { logprobs: 1 });
  await generate('priority without priorities', { priority: 5 });
  await generate('stream', streamed, many);
  await generate('stream with usage', { ...streamed, stream_options: usage }, many);
  const continuous = { stream_options: { ...usage, continuous_usage_stats: true }, return_token_ids: true };
  await generate('stream with continuous usage and prompt', { ...streamed, ...continuous }, many);
  await generate('stream of text with logprobs', { ...streamed, output_mode: 'text' }, { ...many, logprobs: 1 });
}

async function errors(to: Recorder): Promise<void> {
  for (const [kind, route] of Object.entries(routes)) {
    const body = bodies[kind as keyof typeof bodies];
    const wrong = (name: string, given: unknown) => to.post(`error: ${kind}: ${name}`, route, given);
    await wrong('unknown model', { ...body, model: 'other' });
    await wrong('bad JSON', '{"model": ');
    await wrong('list', []);
    await wrong('nothing', undefined);
    await wrong('empty object', {});
    await to.call(`error: ${kind}: not JSON`, 'POST', route, { body: 'x', headers: { 'content-type': 'text/plain' } });
    await to.get(`error: ${kind}: wrong method`, route);
    await wrong('wrong type of stream', { ...body, stream: 'often' });
    await wrong('stream_options without stream', { ...body, stream_options: usage });
    await wrong('wrong type of priority', { ...body, priority: 'high' });
  }
  const sampling: Readonly<Record<string, object>> = {
    'wrong type of max_tokens': { max_tokens: 'many' },
    'number as text': { max_tokens: '7' },
    'max_tokens 0': { max_tokens: 0 },
    'max_tokens -1': { max_tokens: -1 },
    'min_tokens over max_tokens': { min_tokens: 11 },
    'min_tokens -1': { min_tokens: -1 },
    'n 0': { n: 0 },
    'n 1.5': { n: 1.5 },
    'temperature -1': { temperature: -1 },
    'wrong type of seed': { seed: 'x' },
  };
  for (const [name, fields] of Object.entries(sampling)) {
    await to.post(`error: completion: ${name}`, routes.completion, { ...completion, ...fields });
    await to.post(`error: chat: ${name}`, routes.chat, { ...chat, ...fields });
    await to.post(`error: tokens: ${name}`, routes.tokens, {
      ...tokens,
      sampling_params: { ...tokens.sampling_params, ...fields },
    });
  }
  const most = { max_tokens: 5000 };
  await to.post('error: completion: max_tokens too high', routes.completion, { ...completion, ...most });
  await to.post('error: chat: max_tokens too high', routes.chat, { ...chat, ...most });
  const almostAll = { ...tokens, token_ids: Array.from({ length: 4090 }, () => 1) };
  const sampled = { ...almostAll, sampling_params: { ...tokens.sampling_params, ...most } };
  await to.post('error: tokens: max_tokens too high', routes.tokens, sampled);
  const words = 'word '.repeat(5000);
  await to.post('error: completion: prompt too long', routes.completion, { ...completion, prompt: words });
  await to.post('error: completion: prompt too long, stream', routes.completion, {
    ...completion,
    prompt: words,
    stream: true,
  });
  await to.post('error: completion: no prompt', routes.completion, { model });
  await to.post('error: completion: empty prompt', routes.completion, { ...completion, prompt: '' });
  await to.post('error: completion: no tokens', routes.completion, { ...completion, prompt: [] });
  await to.post('error: completion: wrong type of prompt', routes.completion, { ...completion, prompt: { text: 'x' } });
  await to.post('error: completion: logprobs -1', routes.completion, { ...completion, logprobs: -1 });
  const content = [{ role: 'user', content: words }];
  await to.post('error: chat: prompt too long', routes.chat, { ...chat, messages: content });
  await to.post('error: chat: no messages', routes.chat, { ...chat, messages: [] });
  await to.post('error: chat: no role', routes.chat, { ...chat, messages: [{ content: 'x' }] });
  await to.post('error: chat: message is text', routes.chat, { ...chat, messages: ['x'] });
  await to.post('error: tokens: prompt too long', routes.tokens, {
    ...tokens,
    token_ids: [...almostAll.token_ids, ...almostAll.token_ids],
  });
  await to.post('error: tokens: no tokens', routes.tokens, { ...tokens, token_ids: [] });
  await to.post('error: tokens: text', routes.tokens, { ...tokens, token_ids: 'x' });
  await to.post('error: tokens: negative', routes.tokens, { ...tokens, token_ids: [-1] });
  await to.post('error: tokens: output_mode', routes.tokens, { ...tokens, output_mode: 'pictures' });
  await to.get('error: unknown route', '/no/such/route');
  await to.post('error: unknown route of v1', '/v1/no-such-route', {});
}

async function aborts(to: Recorder): Promise<void> {
  await to.post('abort: unknown id', '/abort_requests', { request_ids: ['nobody'] });
  await to.post('abort: all of none', '/abort_requests', {});
  await to.post('abort: bad JSON', '/abort_requests', '{');
  await to.post('abort: list', '/abort_requests', []);
  await to.post('abort: nothing', '/abort_requests');
  await to.post('abort: one id', '/abort_requests', { request_ids: 'nobody' });
  await to.post('abort: number', '/abort_requests', { request_ids: 7 });
  await to.post('abort: numbers', '/abort_requests', { request_ids: [7] });
  await to.post('abort tokens: unknown id', '/inference/v1/abort_requests', { request_ids: ['nobody'] });
  await to.post('abort tokens: no ids', '/inference/v1/abort_requests', {});
  await to.post('abort tokens: bad JSON', '/inference/v1/abort_requests', '{');
  const aborted = async (kind: keyof typeof routes, more: object, ids: readonly string[] | undefined, by: string) => {
    const name = `abort: ${kind}${'stream' in more ? ' stream' : ''}`;
    const body = kind === 'tokens' ? longTokens : { ...bodies[kind], ...long };
    const running = to.post(`${name}, the response`, routes[kind], { ...body, ...more });
    await to.wait(0.5);
    await to.post(`${name}, the abort`, by, { request_ids: ids });
    await running;
  };
  await aborted('completion', { request_id: 'c1' }, ['cmpl-c1-0'], '/abort_requests');
  await aborted('completion', { request_id: 'c2', stream: true }, ['cmpl-c2-0'], '/abort_requests');
  await aborted('chat', { request_id: 'h1' }, ['chatcmpl-h1'], '/abort_requests');
  await aborted('chat', { request_id: 'h2', stream: true }, undefined, '/abort_requests');
  await aborted('tokens', { request_id: 't1' }, ['generate-tokens-t1'], '/inference/v1/abort_requests');
  await aborted('tokens', { request_id: 't2', stream: true }, ['generate-tokens-t2'], '/inference/v1/abort_requests');
}

async function pauses(to: Recorder): Promise<void> {
  await to.get('pause: is not paused', '/is_paused');
  await to.post('pause: wrong mode', '/pause?mode=maybe');
  for (const mode of ['abort', 'keep', 'wait']) {
    const running = to.post(`pause: ${mode}: running`, routes.completion, { ...completion, max_tokens: 1000 });
    await to.wait(0.2);
    await to.post(`pause: ${mode}`, `/pause?mode=${mode}`);
    await to.get(`pause: ${mode}: is paused`, '/is_paused');
    const waiting = to.post(`pause: ${mode}: waiting`, routes.completion, completion);
    await to.wait(0.3);
    await to.gauges(`pause: ${mode}: gauges`, ['num_requests_waiting', 'engine_sleep_state']);
    await to.post(`pause: ${mode}: resume`, '/resume');
    await waiting;
    await running;
  }
  await to.post('pause: resume without pause', '/resume');
  await to.get('sleep: is not sleeping', '/is_sleeping');
  await to.post('sleep: level 3', '/sleep?level=3');
  await to.post('sleep: wrong mode', '/sleep?mode=maybe');
  await to.post('sleep: wake without sleep', '/wake_up');
  await to.post('sleep', '/sleep');
  await to.get('sleep: is sleeping', '/is_sleeping');
  await to.get('sleep: is paused', '/is_paused');
  await to.gauges('sleep: gauges', ['engine_sleep_state']);
  await to.post('sleep: wake weights', '/wake_up?tags=weights');
  await to.get('sleep: is sleeping with weights', '/is_sleeping');
  await to.post('sleep: wake', '/wake_up');
  await to.get('sleep: is awake', '/is_sleeping');
  await to.post('sleep: level 0', '/sleep?level=0');
  await to.post('sleep: wake from 0', '/wake_up?tags=scheduling');
  await to.post('reset prefix cache', '/reset_prefix_cache');
  const running = to.post('reset: running', routes.completion, { ...completion, max_tokens: 1000 });
  await to.wait(0.2);
  await to.post('reset prefix cache while busy', '/reset_prefix_cache');
  await running;
}

async function weights(to: Recorder): Promise<void> {
  // Of no weights, which is enough for an answer.
  const update_info = { names: [], dtype_names: [], shapes: [], ipc_handles: [] };
  await to.post('weights: init', '/init_weight_transfer_engine', { init_info: {} });
  await to.post('weights: init without info', '/init_weight_transfer_engine', {});
  await to.post('weights: update before start', '/update_weights', { update_info });
  await to.post('weights: finish before start', '/finish_weight_update', { weight_version: '1' });
  await to.post('weights: start', '/start_weight_update');
  await to.post('weights: start again', '/start_weight_update');
  await to.post('weights: update without info', '/update_weights', {});
  await to.post('weights: update', '/update_weights', { update_info });
  await to.post('weights: finish', '/finish_weight_update', { weight_version: '1' });
  await to.post('weights: shutdown', '/shutdown_weight_transfer_engine');
  await to.post('weights: version without version', '/update_weight_version', {});
  await to.post('weights: version of a wrong type', '/update_weight_version', { new_version: 7 });
  await to.post('weights: version', '/update_weight_version', { new_version: 'default' });
  await to.get('weights: info', '/weight_info');
  await to.get('weights: world size', '/get_world_size');
}

async function information(to: Recorder): Promise<void> {
  for (const path of ['/health', '/ping', '/version', '/load', '/v1/models', '/metrics']) {
    await to.get(`information: ${path}`, path);
  }
  await to.post('information: POST /ping', '/ping');
  await to.post('information: POST /health', '/health');
  await to.post('caches: pictures', '/reset_mm_cache');
  await to.post('caches: encoder', '/reset_encoder_cache');
}
