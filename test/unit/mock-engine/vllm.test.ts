/** vLLM's routes: OpenAI's completions and chat, streams, and what a trainer asks for. */
import { afterEach, describe, expect, test } from 'vitest';
import { type Answer, chunksIn, MockHttp } from '../../support/mock-engine/http.ts';

let http: MockHttp;
const start = async (
  options: Parameters<typeof MockHttp.start>[0] = {},
  ...cost: [Parameters<typeof MockHttp.start>[1]?]
): Promise<MockHttp> => (http = await MockHttp.start({ api: 'vllm', ...options }, ...cost));
afterEach(() => http.running.stop());

const complete = (body: object, headers?: Record<string, string>) =>
  http.send('POST', '/v1/completions', { model: 'mock-model', seed: 0, max_tokens: 500, ...body }, undefined, headers);
const chat = (body: object, headers?: Record<string, string>) =>
  http.send(
    'POST',
    '/v1/chat/completions',
    { model: 'mock-model', seed: 0, messages: [{ role: 'user', content: '5' }], ...body },
    undefined,
    headers,
  );

/** What only other set-ups of vLLM fill. */
const noDetails = { prompt_tokens_details: null, completion_tokens_details: null };
const noMore = { refusal: null, annotations: null, audio: null, function_call: null, reasoning: null };
const always = {
  service_tier: null,
  system_fingerprint: expect.stringMatching(/^rollflex-mock-engine/),
  kv_transfer_params: null,
  ec_transfer_params: null,
  metrics: null,
};

describe('POST /v1/completions', () => {
  test('answers as OpenAI does, with what vLLM adds', async () => {
    await start({ speed: 'max' });
    const { status, body } = await complete({ prompt: '3', n: 2, request_id: 'mine', return_token_ids: true }).reply;
    expect(status).toBe(200);
    const choice = (index: number, tokens: number) => ({
      index,
      text: expect.stringMatching(new RegExp(`^( t\\d+){${tokens}}$`)),
      logprobs: null,
      finish_reason: 'stop',
      stop_reason: null,
      prompt_logprobs: null,
      prompt_token_ids: expect.any(Array),
      routed_experts: null,
      token_ids: expect.any(Array),
    });
    expect(body).toEqual({
      id: 'cmpl-mine',
      object: 'text_completion',
      created: expect.any(Number),
      model: 'mock-model',
      choices: [choice(0, 3), choice(1, 4)],
      usage: { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17, ...noDetails },
      ...always,
    });
    expect(body.choices[1].token_ids).toHaveLength(4);
  });

  test('takes several prompts, counts each once, and has 16 tokens if nobody says', async () => {
    await start({ speed: 'max' });
    const { body } = await complete({ prompt: ['30', '4'], max_tokens: undefined, n: 2 }).reply;
    expect(body.choices.map((one: Answer) => [one.index, one.finish_reason])).toEqual([
      [0, 'length'],
      [1, 'length'],
      [2, 'stop'],
      [3, 'stop'],
    ]);
    expect(body.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 16 + 16 + 4 + 5, total_tokens: 61 });
    const ids = await complete({ prompt: [7, 8, 9], ignore_eos: true, max_tokens: 20 }).reply;
    expect(ids.body.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 20, total_tokens: 23 });
  });

  test('streams what is new, with usage where it is asked for', async () => {
    await start({ streamInterval: 4 });
    const options = { include_usage: true, continuous_usage_stats: true };
    const { reply } = complete({ prompt: '10', stream: true, stream_options: options, logprobs: 1 });
    await http.have(1);
    for (let second = 0; second < 12; second += 1) await http.advance(1);
    const { body, headers } = await reply;
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const chunks = chunksIn(body);
    const last = chunks.pop();
    expect(last).toMatchObject({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } });
    expect(chunks.map((one) => one.usage.completion_tokens)).toEqual([4, 8, 10]);
    expect(chunks.map((one) => one.choices[0].finish_reason)).toEqual([null, null, 'stop']);
    expect(new Set(chunks.map((one) => one.id)).size).toBe(1);
    const text = chunks.map((one) => one.choices[0].text).join('');
    const logprobs = chunks.flatMap((one) =>
      one.choices[0].logprobs.tokens.map((_: string, at: number) => [
        one.choices[0].logprobs.tokens[at],
        one.choices[0].logprobs.text_offset[at],
      ]),
    );
    for (const [token, offset] of logprobs) expect(text.slice(offset, offset + token.length)).toBe(token);
    const whole = complete({ prompt: '10' }).reply;
    await http.have(1);
    await http.advance(20);
    expect((await whole).body.choices[0].text).toBe(text);
  });

  test('takes seeds of 64 bits', async () => {
    await start({ speed: 'max' });
    const { status } = await complete({ prompt: '5', seed: 2 ** 62 + 2 ** 30 }).reply;
    expect(status).toBe(200);
  });

  test('refuses as vLLM does', async () => {
    await start();
    const refused = async (body: object) => {
      const { status, body: answer } = await complete({ prompt: '5', ...body }).reply;
      expect(answer.error.code).toBe(status);
      return [status, answer.error.type, answer.error.param, answer.error.message];
    };
    const bad = (param: string | null, message: RegExp) => [
      400,
      'BadRequestError',
      param,
      expect.stringMatching(message),
    ];
    expect(await refused({ model: 'other' })).toEqual([
      404,
      'NotFoundError',
      'model',
      'The model `other` does not exist.',
    ]);
    expect(await refused({ max_tokens: 991 })).toEqual(bad('max_tokens', /requested 991 .* 10 input tokens/));
    expect(await refused({ min_tokens: 9, max_tokens: 8 })).toEqual(bad(null, /max_tokens=8/));
    expect(await refused({ n: 0 })).toEqual(bad(null, /^n must be at least 1, got 0/));
    expect(await refused({ prompt: null })).toEqual(bad('prompt', /prompt/));
    expect(await refused({ echo: true })).toEqual(bad(null, /^echo/));
    expect(await refused({ stream: 'often' })).toEqual([
      400,
      'Bad Request',
      'body.stream',
      'stream: expected true or false, got "often"',
    ]);
    expect((await http.get('/nothing')).status).toBe(404);
  });
});

describe('POST /v1/chat/completions', () => {
  test('answers with a message', async () => {
    await start({ speed: 'max' });
    const { body } = await chat({}, { 'X-Request-Id': 'header', 'content-type': 'application/json' }).reply;
    expect(body).toEqual({
      id: 'chatcmpl-header',
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'mock-model',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: expect.stringMatching(/^( t\d+){5}$/), ...noMore },
          logprobs: null,
          finish_reason: 'stop',
          stop_reason: null,
          token_ids: null,
          routed_experts: null,
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, ...noDetails },
      prompt_logprobs: null,
      prompt_text: null,
      prompt_token_ids: null,
      ...always,
    });
  });

  test('streams the role first, then what is new of each choice', async () => {
    await start({ streamInterval: 3, speed: 'max', maxJumpSeconds: 1 });
    const { body } = await chat({ stream: true, n: 2, logprobs: true, stream_options: { include_usage: true } }).reply;
    const chunks = chunksIn(body);
    expect(chunks.slice(0, 2).map((one) => one.choices[0])).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null },
      { index: 1, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null },
    ]);
    for (const [index, tokens] of [
      [0, 5],
      [1, 6],
    ]) {
      const own = chunks.slice(2).filter((one) => one.choices[0]?.index === index);
      const text = own.map((one) => one.choices[0].delta.content).join('');
      expect(text).toMatch(new RegExp(`^( t\\d+){${tokens}}$`));
      expect(own.at(-1)!.choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: null });
      expect(
        own
          .flatMap((one) => one.choices[0].logprobs.content)
          .map((one: Answer) => one.token)
          .join(''),
      ).toBe(text);
    }
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 11 } });
    expect(chunks.every((one) => one.object === 'chat.completion.chunk')).toBe(true);
  });

  test('takes messages of several parts, and refuses what is none', async () => {
    await start({ speed: 'max' });
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: '7' },
          { type: 'image_url', image_url: {} },
        ],
      },
    ];
    expect((await chat({ messages }).reply).body.usage.completion_tokens).toBe(7);
    expect((await chat({ messages: [{ content: '7' }] }).reply).body.error.message).toMatch(/^messages\.0\.role/);
    expect((await chat({ messages: [] }).reply).status).toBe(400);
  });
});

describe('aborts', () => {
  test('a client that goes away aborts all choices of its request at once', async () => {
    await start();
    const { request } = complete({ prompt: ['90', '80'], n: 2, stream: true });
    await http.have(4);
    await http.advance(3.5);
    request.destroy();
    await http.until(() => http.running.cluster.nextAt() < 80);
    await http.advance(1);
    expect(http.engine.counts).toMatchObject({ abort: 4, abortedTokens: 16, inFlight: 0 });
  });

  test('by the ids that clients see, or all of them', async () => {
    await start();
    const first = complete({ prompt: ['90', '80'], request_id: 'a' });
    const second = chat({ messages: [{ role: 'user', content: '70' }], request_id: 'b' });
    await http.have(3);
    await http.advance(3);
    const { body } = await http.post('/abort_requests', { request_ids: ['cmpl-a-1', 'b', 'cmpl-a'] });
    expect(body).toEqual({ status: 'aborted', aborted: 3 });
    await http.advance(1);
    expect(http.engine.requestIds.sort()).toEqual(['chatcmpl-b', 'cmpl-a-0']);
    expect((await http.post('/abort_requests', {})).body).toEqual({ status: 'aborted', aborted: 2 });
    await http.advance(1);
    expect((await first.reply).body.choices.map((one: Answer) => one.finish_reason)).toEqual(['abort', 'abort']);
    expect((await second.reply).body.choices[0].finish_reason).toBe('abort');
  });
});

describe('control', () => {
  test('pauses in each way, and goes on', async () => {
    await start();
    for (const [mode, reason, tokens] of [
      ['keep', 'stop', 20],
      ['abort', 'abort', 3],
      ['wait', 'stop', 20],
    ] as const) {
      const { reply } = complete({ prompt: '20' });
      await http.have(1);
      await http.advance(3);
      const paused = http.post(`/pause?mode=${mode}`);
      await http.until(() => http.engine.isClosedBy('pause'));
      await http.advance(30);
      expect((await paused).body).toEqual({ status: 'paused' });
      expect((await http.get('/is_paused')).body).toEqual({ is_paused: true });
      expect((await http.post('/resume')).body).toEqual({ status: 'resumed' });
      await http.advance(30);
      const { choices, usage } = (await reply).body;
      expect([choices[0].finish_reason, usage.completion_tokens]).toEqual([reason, tokens]);
    }
    expect((await http.post('/pause?mode=now')).status).toBe(400);
  });

  test('sleeps and wakes up; requests wait meanwhile', async () => {
    await start();
    expect((await http.post('/sleep?level=1')).status).toBe(200);
    expect((await http.get('/is_sleeping')).body).toEqual({ is_sleeping: true });
    const { reply } = complete({ prompt: '5' });
    await http.have(1);
    await http.advance(10);
    expect(http.engine.load().held).toBe(1);
    await http.post('/wake_up');
    await http.advance(10);
    expect((await reply).body.usage.completion_tokens).toBe(5);
  });

  test('takes weights, with a version at the end', async () => {
    await start({ updateSeconds: 4 });
    expect((await http.post('/update_weights', {})).body.error.param).toBe('body.update_info');
    expect((await http.post('/update_weights', { update_info: {} })).status).toBe(500);
    await http.post('/init_weight_transfer_engine', { init_info: {} });
    await http.post('/start_weight_update');
    const update = http.post('/update_weights', { update_info: {} });
    await http.until(() => http.running.cluster.nextAt() === 4);
    await http.advance(4);
    expect((await update).body).toEqual({ message: 'Weights updated' });
    await http.post('/finish_weight_update', { weight_version: '8' });
    expect((await http.get('/weight_info')).body).toEqual({ weight_version: '8' });
    expect((await http.post('/update_weight_version', {})).status).toBe(400);
  });

  test('has metrics under their names', async () => {
    await start({}, { maxRunningSequences: 2 });
    for (const [place, prompt] of ['3', '50', '50', '50'].entries()) void complete({ prompt, request_id: `${place}` });
    await http.have(4);
    await http.advance(4);
    const { body, headers } = await http.get('/metrics');
    expect(headers['content-type']).toMatch(/^text\/plain/);
    const value = (name: string) => Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(body)?.[1]);
    expect(value('vllm:num_requests_running')).toBe(2);
    expect(value('vllm:num_requests_waiting')).toBe(1);
    expect(value('vllm:kv_cache_usage_perc')).toBeCloseTo(0.025, 9);
    expect(value('vllm:generation_tokens_total')).toBe(3 + 4 + 1);
    expect(body).toContain('vllm:request_success_total{engine="0",model_name="mock-model",finished_reason="stop"} 1');
    expect((await http.get('/v1/models')).body.data[0]).toMatchObject({ id: 'mock-model', max_model_len: 1000 });
    for (const path of ['/health', '/ping', '/version', '/load']) expect((await http.get(path)).status).toBe(200);
  });

  test('takes priorities where it schedules by them', async () => {
    await start({ scheduling: 'priority', speed: 0 }, { maxRunningSequences: 1 });
    const order: number[] = [];
    const replies = [5, 3, 4].map((priority) =>
      complete({ prompt: '2', priority }).reply.then(() => order.push(priority)),
    );
    await http.have(3);
    for (let second = 0; second < 8; second += 1) await http.advance(1);
    await Promise.all(replies);
    expect(order).toEqual([3, 4, 5]);
  });
});
