/** Which version of the weights has generated which tokens of a response, and vLLM's route that says it. */
import { afterEach, describe, expect, test } from 'vitest';
import { chunksIn, MockHttp } from '../../support/mock-engine/http.ts';

let http: MockHttp;
const start = async (...given: Parameters<typeof MockHttp.start>) => (http = await MockHttp.start(...given));
afterEach(() => http.running.stop());

const tokens = (body: object, more: object = {}) =>
  http.send('POST', '/inference/v1/generate', {
    token_ids: [1, 2, 3],
    sampling_params: { seed: 0, extra_args: { response_tokens: 10 }, ...more },
    ...body,
  });
const newWeights = (version: string) =>
  http.post('/update_weight_version', { new_version: version, abort_all_requests: false });

describe('POST /inference/v1/generate', () => {
  test('takes tokens and gives tokens, up to the end of the context', async () => {
    await start({ api: 'vllm', speed: 'max' });
    const { status, body } = await tokens({ request_id: 'a', return_token_ids: true }, { n: 2, logprobs: 1 }).reply;
    expect([status, body.request_id, body.output_mode, body.prompt_token_ids]).toEqual([
      200,
      'generate-tokens-a',
      'tokens',
      [1, 2, 3],
    ]);
    expect(body.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 20, total_tokens: 23 });
    const [first] = body.choices;
    expect(first).toMatchObject({ index: 0, finish_reason: 'stop', stop_reason: null });
    expect(first.weight_versions).toEqual([{ version: 'default', start: 0, end: 10 }]);
    expect(first.logprobs.content.map(({ token_id }: { token_id: number }) => token_id)).toEqual(first.token_ids);
    const long = await tokens({}, { ignore_eos: true }).reply;
    expect([long.body.usage.completion_tokens, long.body.choices[0].finish_reason]).toEqual([997, 'length']);
    const text = await tokens({ output_mode: 'text' }, { max_tokens: 2 }).reply;
    expect(text.body.choices[0].text).toBe(text.body.choices[0].token_ids.map((id: number) => ` t${id}`).join(''));
  });

  test('streams, and names the versions in the last chunk only', async () => {
    await start({ api: 'vllm', streamInterval: 4 });
    const options = { include_usage: true };
    const { reply } = tokens({ stream: true, return_token_ids: true, stream_options: options });
    await http.have(1);
    await http.advance(5);
    await newWeights('7');
    for (let second = 0; second < 6; second += 1) await http.advance(1);
    const chunks = chunksIn((await reply).body);
    const { choices, usage } = chunks.pop();
    expect([choices, usage]).toEqual([[], { prompt_tokens: 3, completion_tokens: 10, total_tokens: 13 }]);
    expect(chunks.map((one) => one.prompt_token_ids)).toEqual([[1, 2, 3], undefined, undefined]);
    expect(chunks.map((one) => one.choices[0].token_ids.length)).toEqual([4, 4, 2]);
    expect(chunks.map((one) => one.choices[0].weight_versions)).toEqual([
      null,
      null,
      [
        { version: 'default', start: 0, end: 5 },
        { version: '7', start: 5, end: 10 },
      ],
    ]);
  });

  test('refuses what is no list of tokens, and aborts by the id of the answer', async () => {
    await start({ api: 'vllm' });
    for (const token_ids of [undefined, [], 'text', [-1], [1.5]]) {
      expect((await tokens({ token_ids }).reply).status).toBe(400);
    }
    expect((await tokens({ sampling_params: undefined }).reply).status).toBe(400);
    const { reply } = tokens({ request_id: 'b' });
    await http.have(1);
    await http.advance(3);
    const abort = (body: object) => http.post('/inference/v1/abort_requests', body);
    expect((await abort({})).status).toBe(400);
    expect((await abort({ request_ids: ['b'] })).status).toBe(200);
    await http.advance(1);
    expect(http.engine.load().running).toBe(1);
    expect(await abort({ request_ids: ['generate-tokens-b'] })).toMatchObject({ status: 200, body: '' });
    await http.advance(1);
    const [choice] = (await reply).body.choices;
    expect([choice.finish_reason, choice.token_ids.length]).toEqual(['abort', 4]);
    expect(choice.weight_versions).toEqual([{ version: 'default', start: 0, end: 4 }]);
  });
});

test('SGLang names the versions at the end of a response; a version without tokens is left out', async () => {
  await start();
  const { reply } = http.send('POST', '/generate', { text: '8', sampling_params: { sampling_seed: 0 } });
  await http.have(1);
  await http.advance(2);
  expect((await http.post('/begin_weight_update', {})).body).toMatchObject({ success: true });
  for (const version of ['1', '2', 'default']) await newWeights(version);
  await http.advance(2);
  await newWeights('3');
  await http.post('/end_weight_update', {});
  await http.advance(4);
  const { weight_version, weight_versions } = (await reply).body.meta_info;
  expect(weight_version).toBe('3');
  expect(weight_versions).toEqual([
    { version: 'default', start: 0, end: 4 },
    { version: '3', start: 4, end: 8 },
  ]);
});
