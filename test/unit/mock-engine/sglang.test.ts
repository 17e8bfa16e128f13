/** SGLang's routes: shapes of answers, streams, and what an abort does. */
import { afterEach, describe, expect, test } from 'vitest';
import { SglangClient } from '../../../examples/10-frontier-http/sglang-client.ts';
import { chunksIn, MockHttp } from '../../support/mock-engine/http.ts';

let http: MockHttp;
const start = async (...given: Parameters<typeof MockHttp.start>): Promise<MockHttp> =>
  (http = await MockHttp.start(...given));
afterEach(() => http.running.stop());

const generate = (rid: string, text: string, more: object = {}, sampling: object = {}) =>
  http.send('POST', '/generate', {
    rid,
    text,
    sampling_params: { max_new_tokens: 500, sampling_seed: 0, ...sampling },
    ...more,
  });

describe('POST /generate', () => {
  test('answers whole, with what SGLang says of a response', async () => {
    await start();
    const { reply } = generate('a', '5', { return_logprob: true });
    await http.have(1);
    await http.advance(10);
    const { status, body, headers } = await reply;
    expect([status, headers['x-simulated-seconds']]).toEqual([200, '5']);
    expect(body.output_ids).toHaveLength(5);
    expect(body.text).toBe(body.output_ids.map((id: number) => ` t${id}`).join(''));
    expect(body.meta_info).toEqual({
      id: 'a',
      finish_reason: { type: 'stop', matched: 2 },
      prompt_tokens: 10,
      weight_version: 'default',
      weight_versions: [{ version: 'default', start: 0, end: 5 }],
      input_token_logprobs: [],
      output_token_logprobs: body.output_ids.map((id: number) => [expect.any(Number), id, null]),
      reasoning_tokens: 0,
      cached_tokens: 0,
      dp_rank: null,
      output_token_logprobs_length: 5,
      completion_tokens: 5,
      e2e_latency: 5,
    });
  });

  test('the same text and seed get the same response, cut at its limit', async () => {
    await start({ speed: 'max' });
    const answers = await Promise.all(
      [500, 500, 12].map(
        async (most) => (await generate(`${Math.random()}`, '20', {}, { max_new_tokens: most }).reply).body,
      ),
    );
    expect(answers[1].text).toBe(answers[0].text);
    expect(answers[0].text.startsWith(answers[2].text)).toBe(true);
    expect(answers[2].meta_info).toMatchObject({
      finish_reason: { type: 'length', length: 12 },
      completion_tokens: 12,
    });
  });

  test('streams all of the response so far with each event, or what is new if it is told to', async () => {
    for (const incrementalStreaming of [false, true]) {
      await start({ incrementalStreaming, streamInterval: 4 });
      const { reply } = generate('a', '10', { stream: true, return_logprob: true });
      await http.have(1);
      for (let second = 0; second < 12; second += 1) await http.advance(1);
      const { body, headers } = await reply;
      expect(headers['content-type']).toBe('text/event-stream; charset=utf-8');
      const chunks = chunksIn(body);
      expect(chunks.map((one) => one.meta_info.completion_tokens)).toEqual([4, 8, 10]);
      expect(chunks.map((one) => one.meta_info.finish_reason?.type ?? null)).toEqual([null, null, 'stop']);
      const ids = incrementalStreaming ? chunks.flatMap((one) => one.output_ids) : chunks.at(-1)!.output_ids;
      const text = incrementalStreaming ? chunks.map((one) => one.text).join('') : chunks.at(-1)!.text;
      expect(chunks.map((one) => one.output_ids.length)).toEqual(incrementalStreaming ? [4, 4, 2] : [4, 8, 10]);
      expect(chunks.map((one) => one.meta_info.output_token_logprobs.length)).toEqual(
        chunks.map((one) => one.output_ids.length),
      );
      const whole = generate('b', '10').reply;
      await http.have(1);
      await http.advance(20);
      expect({ ids, text }).toEqual({ ids: (await whole).body.output_ids, text: (await whole).body.text });
      if (!incrementalStreaming) await http.running.stop();
    }
  });

  test('takes batches and several samples', async () => {
    await start({ speed: 'max' });
    const batch = await http.post('/generate', {
      rid: ['x', 'y'],
      text: ['3', '4'],
      sampling_params: [{ sampling_seed: 0 }, { sampling_seed: 5 }],
    });
    expect(batch.body.map((one: { meta_info: object }) => one.meta_info)).toMatchObject([
      { id: 'x', completion_tokens: 3 },
      { id: 'y', completion_tokens: 9 },
    ]);
    const samples = await http.post('/generate', { text: '3', sampling_params: { n: 3, sampling_seed: 0 } });
    expect(samples.body.map((one: { output_ids: number[] }) => one.output_ids.length)).toEqual([3, 4, 5]);
    const stream = await http.post('/generate', {
      text: ['3', '4'],
      stream: true,
      sampling_params: { sampling_seed: 0 },
    });
    const last = chunksIn(stream.body).filter((one) => one.meta_info.finish_reason !== null);
    expect(last.map((one) => [one.index, one.output_ids.length])).toEqual([
      [0, 3],
      [1, 4],
    ]);
  });

  test('takes token ids, and a length that the test chooses', async () => {
    await start({ speed: 'max' });
    const sampling_params = { custom_params: { response_tokens: 7 } };
    const { body } = await http.post('/generate', { input_ids: [1, 2, 3], sampling_params });
    expect(body.meta_info).toMatchObject({ prompt_tokens: 3, completion_tokens: 7, finish_reason: { type: 'stop' } });
  });

  test('refuses what it cannot read, with 400, or in the stream where the status is out already', async () => {
    await start();
    const refused = async (body: unknown) => {
      const { status, body: answer } = await http.post('/generate', body);
      return [status, answer.error?.message ?? answer.message];
    };
    expect(await refused({ rid: 'a' })).toEqual([400, 'Either text, input_ids or input_embeds should be provided.']);
    expect(await refused('{"text":')).toEqual([400, expect.stringMatching(/^JSON decode error/)]);
    expect(await refused([])).toEqual([400, 'expected a JSON object']);
    expect(await refused({ text: '5', sampling_params: { max_new_tokens: -1 } })).toEqual([
      400,
      'max_new_tokens must be at least 0, got -1.',
    ]);
    expect(await refused({ input_ids: Array(1000).fill(1) })).toEqual([
      400,
      expect.stringMatching(/longer than the model's/),
    ]);
    expect(await refused({ text: '5', sampling_params: { max_new_tokens: 995 } })).toEqual([
      400,
      expect.stringMatching(/exceeds the context length of 1000 tokens: 1005 tokens/),
    ]);
    const running = generate('a', '50').reply;
    await http.have(1);
    expect(await refused({ rid: 'a', text: '5' })).toEqual([400, 'Duplicate request ID detected: a']);
    const { status, body } = await generate('a', '5', { stream: true }).reply;
    expect([status, chunksIn(body)[0].error.message]).toEqual([200, 'Duplicate request ID detected: a']);
    expect((await http.get('/nothing')).status).toBe(404);
    expect((await http.get('/generate')).status).toBe(405);
    await http.advance(60);
    expect((await running).body.meta_info.completion_tokens).toBe(50);
    expect(http.engine.counts.accepted, 'what was refused was not taken').toBe(1);
  });
});

describe('aborts', () => {
  test('are answered at once, and told by the stream of the request; the load goes down when they are carried out', async () => {
    await start({ abortLagSeconds: 2 });
    const { reply } = generate('a', '90');
    await http.have(1);
    await http.advance(5);
    expect((await http.post('/abort_request', { abort_all: true })).status).toBe(200);
    const load = async () => (await http.get('/v1/loads?include=core')).body.loads[0].num_running_reqs;
    const seen = [await load()];
    for (const seconds of [1, 0.5, 1]) {
      await http.advance(seconds);
      seen.push(await load());
    }
    expect(seen).toEqual([1, 1, 1, 0]);
    expect((await reply).body.meta_info).toMatchObject({
      finish_reason: { type: 'abort', message: 'Aborted', status_code: null, err_type: null },
      prompt_tokens: 10,
      completion_tokens: 7,
    });
  });

  test('a request in line says less of itself', async () => {
    await start({}, { maxRunningSequences: 1 });
    const first = generate('a', '90');
    const second = generate('b', '90', { stream: true });
    await http.have(2);
    await http.advance(3);
    await http.post('/abort_request', { rid: 'b' });
    await http.advance(1);
    expect(chunksIn((await second.reply).body)).toEqual([
      {
        text: '',
        output_ids: [],
        meta_info: {
          id: 'b',
          finish_reason: { type: 'abort', message: 'Abort in waiting queue' },
          weight_version: 'default',
          weight_versions: [{ version: 'default', start: 0, end: 0 }],
          e2e_latency: 3,
          completion_tokens: 0,
        },
      },
    ]);
    first.request.destroy();
  });

  test('take all that begins with an id that exists; the client of the examples sees to it that no id begins another', async () => {
    await start();
    const raw = ['q#1', 'q#10'].map((rid) => generate(rid, '90').reply);
    const client = new SglangClient(http.running.engineUrls[0]!);
    const own = ['p#1', 'p#10'].map((requestId) =>
      client.generate({ requestId, text: '30', maxNewTokens: 100, samplingSeed: 0 }),
    );
    await http.have(4);
    await http.advance(5);
    await http.post('/abort_request', { rid: 'q' });
    await client.abort('p#1');
    await http.advance(5);
    expect(http.engine.requestIds.sort()).toEqual(['p#10.', 'q#1', 'q#10']);
    await http.post('/abort_request', { rid: 'q#1' });
    await http.advance(50);
    expect((await Promise.all(raw)).map(({ body }) => body.meta_info.finish_reason.type)).toEqual(['abort', 'abort']);
    expect((await Promise.all(own)).map(({ ending, tokens }) => [ending, tokens])).toEqual([
      ['abort', 5],
      ['stop', 30],
    ]);
  });

  test('come by themselves some seconds after the client has closed its connection', async () => {
    await start({ disconnectSeconds: 3 });
    for (const stream of [false, true]) {
      const { request } = generate('a', '90', { stream });
      await http.have(1);
      await http.advance(5);
      request.destroy();
      // The server finds out in its own time; that of the simulation stands.
      await http.until(() => Number.isFinite(http.running.cluster.agenda.nextAt()));
      await http.advance(2.5);
      expect(http.engine.load().running).toBe(1);
      await http.advance(1.5);
      expect(http.engine.size).toBe(0);
    }
    expect(http.engine.counts).toMatchObject({ abort: 2, abortedTokens: 16 });
  });
});

describe('control', () => {
  test('pauses, in each way', async () => {
    await start();
    for (const [mode, held] of [
      ['in_place', 1],
      ['retract', 0],
    ] as const) {
      const { reply } = generate('a', '20');
      await http.have(1);
      await http.advance(4);
      expect((await http.post('/pause_generation', { mode })).body).toEqual({
        message: 'Generation paused successfully.',
        status: 'ok',
      });
      await http.advance(50);
      expect(http.engine.load()).toMatchObject({ running: held, waiting: 1 - held });
      expect((await http.get('/flush_cache')).status).toBe(400);
      expect((await http.post('/continue_generation', {})).body.status).toBe('ok');
      await http.advance(50);
      expect((await reply).body.meta_info.completion_tokens).toBe(20);
    }
    expect((await http.post('/pause_generation', { mode: 'now' })).body.message).toMatch(/expected one of abort/);
    expect((await http.get('/flush_cache')).status).toBe(200);
  });

  test('an update waits for the requests that there are, unless it aborts them; answers name the weights of their end', async () => {
    await start();
    const before = generate('a', '20').reply;
    await http.have(1);
    await http.advance(4);
    const update = http.post('/update_weights_from_disk', { model_path: '/w', weight_version: '3' });
    await http.until(() => http.engine.isClosedBy('update 1'));
    const after = generate('b', '20').reply;
    await http.have(2);
    await http.advance(10);
    expect(http.engine.load()).toMatchObject({ running: 1, held: 1 });
    await http.advance(50);
    expect((await update).body).toEqual({
      success: true,
      message: 'Succeeded to update model weights. Weight version updated to 3.',
      num_paused_requests: 0,
    });
    expect([await before, await after].map(({ body }) => body.meta_info.weight_version)).toEqual(['default', '3']);

    const across = generate('c', '20').reply;
    await http.have(1);
    await http.advance(4);
    await http.post('/update_weight_version', { new_version: '4', abort_all_requests: false });
    await http.advance(50);
    expect((await across).body.meta_info.weight_version).toBe('4');
    expect((await http.get('/get_weight_version')).body).toEqual({ weight_version: '4' });
    expect((await http.get('/get_model_info')).body).toMatchObject({ is_generation: true, weight_version: '4' });
  });

  test('memory is released only when there is nothing to do; requests wait until it is back', async () => {
    await start();
    const first = generate('a', '5').reply;
    await http.have(1);
    expect((await http.post('/release_memory_occupation', {})).status).toBe(400);
    await http.advance(10);
    await first;
    expect((await http.post('/release_memory_occupation', {})).status).toBe(200);
    const second = generate('b', '5').reply;
    await http.have(1);
    await http.advance(10);
    expect(http.engine.load()).toMatchObject({ running: 0, held: 1 });
    await http.post('/resume_memory_occupation', { tags: ['weights', 'kv_cache'] });
    await http.advance(10);
    expect((await second).body.meta_info.e2e_latency).toBe(15);
  });

  test('says what it has to do', async () => {
    await start({}, { maxRunningSequences: 2 });
    for (const rid of ['a', 'b', 'c']) void generate(rid, '50');
    await http.have(3);
    await http.advance(4);
    const { body } = await http.get('/v1/loads');
    expect(body.loads).toMatchObject([
      {
        dp_rank: 0,
        timestamp: 4,
        num_running_reqs: 2,
        num_waiting_reqs: 1,
        num_waiting_uncached_tokens: 10,
        num_used_tokens: 28,
        num_total_tokens: 38,
        total_prefill_uncached_tokens: 20,
        max_total_num_tokens: 1000,
        token_usage: 0.028,
        max_running_requests: 2,
        queues: { waiting: 1, grammar: 0, paused: 0, retracted: 0, prealloc_ready: 0 },
      },
    ]);
    expect((await http.get('/v1/loads?include=core,all,who')).status).toBe(400);
    expect((await http.get('/get_load')).body).toEqual([
      { dp_rank: 0, num_reqs: 3, num_waiting_reqs: 1, num_tokens: 28 },
    ]);
    expect((await http.get('/get_server_info')).body).toMatchObject({
      tp_size: 1,
      max_running_requests: 2,
      max_total_num_tokens: 1000,
      internal_states: [{ num_running_reqs: 2 }],
    });
    for (const path of ['/health', '/health_generate']) expect((await http.get(path)).status).toBe(200);
  });
});
