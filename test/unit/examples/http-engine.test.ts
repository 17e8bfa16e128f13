/** The HTTP engine of the examples: continuous batching, SGLang's routes, aborts and their races. */
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { eventsOf, SglangClient } from '../../../examples/http-engine/client.ts';
import { Decoder } from '../../../examples/http-engine/decoder.ts';
import { Engine, type EngineOptions } from '../../../examples/http-engine/engine.ts';
import { type Listening, post } from '../../../examples/http-engine/http.ts';
import { serveSglang } from '../../../examples/http-engine/sglang.ts';

describe('the decoder', () => {
  const ended = (decoder: Decoder) => decoder.step().map(({ rid, tokens, ending }) => [rid, tokens, ending]);

  test('gives every running request a token a step, and fills free places in order', () => {
    const decoder = new Decoder({ maxRunningRequests: 2, stepsInFlight: 0 });
    for (const [rid, length] of [
      ['a', 1],
      ['b', 3],
      ['c', 1],
      ['d', 1],
    ] as const)
      decoder.add(rid, length, 10);
    expect([decoder.running, decoder.waiting]).toEqual([2, 2]);
    expect(ended(decoder)).toEqual([['a', 1, 'stop']]);
    expect(ended(decoder)).toEqual([['c', 1, 'stop']]);
    expect(ended(decoder)).toEqual([
      ['b', 3, 'stop'],
      ['d', 1, 'stop'],
    ]);
    expect([decoder.running, decoder.waiting]).toEqual([0, 0]);
  });

  test('ends at the limit of a request, and says so', () => {
    const decoder = new Decoder({ maxRunningRequests: 2, stepsInFlight: 0 });
    decoder.add('a', 5, 2);
    expect(ended(decoder)).toEqual([]);
    expect(ended(decoder)).toEqual([['a', 2, 'length']]);
  });

  test('an abort ends what waits at once, and what runs after the steps that are under way', () => {
    const decoder = new Decoder({ maxRunningRequests: 1, stepsInFlight: 2 });
    decoder.add('a', 9, 9);
    decoder.add('b', 9, 9);
    expect(decoder.abort('b')).toMatchObject({ rid: 'b', tokens: 0, ending: 'abort' });
    expect(decoder.abort('a')).toBeUndefined();
    expect([ended(decoder), ended(decoder), ended(decoder)]).toEqual([[], [], [['a', 2, 'abort']]]);
  });

  test('a completion wins against an abort that comes in its last steps, however often it comes', () => {
    const decoder = new Decoder({ maxRunningRequests: 1, stepsInFlight: 2 });
    decoder.add('a', 2, 9);
    decoder.abort('a');
    expect(ended(decoder)).toEqual([]);
    decoder.abort('a');
    expect(ended(decoder)).toEqual([['a', 2, 'stop']]);
    expect(decoder.abort('a')).toBeUndefined();
  });
});

test('server-sent events are whole, however their bytes come', async () => {
  const bytes = new TextEncoder().encode(
    'data: {"text":"é–好"}\n\n: a comment\n\ndata: 2\n\ndata: [DONE]\n\ndata: half',
  );
  for (const size of [1, 2, 7, 1000]) {
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size),
    );
    const events: string[] = [];
    for await (const event of eventsOf(Readable.from(parts))) events.push(event);
    expect(events).toEqual(['{"text":"é–好"}', '2', '[DONE]']);
  }
});

describe('the server', () => {
  let engine: Engine;
  let server: Listening;
  let client: SglangClient;

  /** Texts are their own lengths. A step takes a millisecond of the wall clock unless told otherwise. */
  async function serve(options: Partial<EngineOptions> = {}, disconnectGraceSeconds = 0): Promise<void> {
    engine = new Engine({
      maxRunningRequests: 8,
      stepsInFlight: 0,
      timeScale: 20,
      stepSeconds: () => 0.02,
      lengthOf: (text, seed) => Number(text) + seed,
      streamInterval: 2,
      ...options,
    });
    server = await serveSglang(engine, { disconnectGraceSeconds });
    client = new SglangClient(server.url);
  }
  afterEach(async () => {
    engine.stop();
    await server.close();
  });

  const generate = (requestId: string, length: number, signal?: AbortSignal) =>
    client.generate({ requestId, text: `${length}`, maxNewTokens: 100_000, samplingSeed: 0 }, signal);
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
  };

  test('streams the response so far, then all of it, as SGLang does', async () => {
    await serve();
    const answer = await fetch(`${server.url}/generate`, {
      method: 'POST',
      body: JSON.stringify({ rid: 'a', text: '7', sampling_params: { max_new_tokens: 100 }, stream: true }),
    });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const events: string[] = [];
    for await (const data of eventsOf(answer.body as unknown as AsyncIterable<Uint8Array>)) events.push(data);
    expect(events.pop()).toBe('[DONE]');
    const answers = events.map((one) => JSON.parse(one) as { output_ids: number[]; meta_info: object });
    const counts = answers.map((one) => one.output_ids.length);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(answers.slice(0, -1).every((one) => JSON.stringify(one).includes('"finish_reason":null'))).toBe(true);
    expect(answers.at(-1)).toEqual({
      text: '7:7',
      output_ids: [0, 1, 2, 3, 4, 5, 6],
      meta_info: {
        id: 'a',
        finish_reason: { type: 'stop', matched: 0 },
        prompt_tokens: 1,
        completion_tokens: 7,
        cached_tokens: 0,
        weight_version: 'default',
      },
    });
  });

  test('answers whole, too, and the same text and seed get the same response', async () => {
    await serve();
    const body = { rid: 'a', text: '4', sampling_params: { sampling_seed: 2, max_new_tokens: 5 } };
    const answer = await post(`${server.url}/generate`, body);
    expect(answer).toMatchObject({ meta_info: { completion_tokens: 5, finish_reason: { type: 'length', length: 5 } } });
    expect(await post(`${server.url}/generate`, body)).toEqual(answer);
  });

  test('runs a batch as fast as its step time says', async () => {
    await serve({ stepSeconds: (running) => 0.01 + 0.01 * running });
    const startedAt = performance.now();
    await Promise.all([generate('a', 100), generate('b', 100)]);
    // 100 steps of 0.03 s, twenty times as fast.
    expect(performance.now() - startedAt).toBeGreaterThan(145);
  });

  test('an abort is told to whoever waits for the response, with its tokens', async () => {
    await serve();
    const response = generate('a', 100_000);
    await until(() => engine.running === 1);
    await client.abort('a');
    expect(await response).toMatchObject({ ending: 'abort' });
    expect(engine.rids).toEqual([]);
    expect(engine.abortedRequests).toBe(1);
  });

  test('an abort that comes too late changes nothing', async () => {
    await serve({ stepsInFlight: 1_000_000 });
    const response = generate('a', 20);
    await until(() => engine.running === 1);
    await client.abort('a');
    expect(await response).toMatchObject({ ending: 'stop', tokens: 20 });
    await client.abort('a');
    expect(engine.abortedRequests).toBe(0);
  });

  test('what waits is told of its abort, too', async () => {
    await serve({ maxRunningRequests: 1 });
    const first = generate('a', 100_000);
    await until(() => engine.running === 1);
    const second = generate('b', 5);
    await until(() => engine.waiting === 1);
    await client.abort('b');
    expect(await second).toMatchObject({ ending: 'abort', tokens: 0 });
    await post(`${server.url}/abort_request`, { abort_all: true });
    expect(await first).toMatchObject({ ending: 'abort' });
  });

  test('SGLang aborts what begins with the id: the client sees to it that no id begins another', async () => {
    await serve();
    const responses = [generate('p/0#1', 100_000), generate('p/0#10', 60)];
    await until(() => engine.running === 2);
    await client.abort('p/0#1');
    expect((await Promise.all(responses)).map((one) => one.ending)).toEqual(['abort', 'stop']);

    const raw = (rid: string) => post(`${server.url}/generate`, { rid, text: '90000' });
    const others = [raw('q#1'), raw('q#10')];
    await until(() => engine.running === 2);
    await post(`${server.url}/abort_request`, { rid: 'q' });
    expect(engine.running, 'no request has this id').toBe(2);
    await post(`${server.url}/abort_request`, { rid: 'q#1' });
    await Promise.all(others);
    expect(engine.abortedRequests).toBe(3);
  });

  test('a connection that the client closes aborts its request, after a while', async () => {
    await serve({}, 0.05);
    const closing = new AbortController();
    const response = generate('a', 100_000, closing.signal);
    await until(() => engine.running === 1);
    const closedAt = performance.now();
    closing.abort();
    await expect(response).rejects.toThrow();
    await until(() => engine.running === 0);
    expect(performance.now() - closedAt).toBeGreaterThan(45);
    expect(engine.abortedRequests).toBe(1);
  });

  test('a request keeps the weights that it began with', async () => {
    await serve();
    const before = generate('a', 60);
    await until(() => engine.running === 1);
    await client.updateWeights(3);
    expect(await client.weightVersion()).toBe('3');
    const after = generate('b', 5);
    expect([(await before).weightVersion, (await after).weightVersion]).toEqual(['default', '3']);
  });

  test('refuses what it cannot read, and an id that runs', async () => {
    await serve();
    await expect(post(`${server.url}/generate`, { text: '3' })).rejects.toThrow(/400 .*`rid`/);
    await expect(post(`${server.url}/generate`, { rid: 'a' })).rejects.toThrow(/400 .*`text`/);
    await expect(post(`${server.url}/generate`, [])).rejects.toThrow(/400 .*JSON object/);
    await expect(post(`${server.url}/nothing`, {})).rejects.toThrow(/404/);
    const running = generate('a', 100);
    await until(() => engine.running === 1);
    await expect(generate('a', 5)).rejects.toThrow(/Duplicate/);
    await expect(post(`${server.url}/generate`, { rid: 'a.', text: '3' })).rejects.toThrow(/400 .*Duplicate/);
    expect(await running).toMatchObject({ ending: 'stop', tokens: 100 });
  });

  test('an engine that is gone breaks the stream', async () => {
    await serve();
    const response = generate('a', 100_000);
    await until(() => engine.running === 1);
    await server.close();
    await expect(response).rejects.toThrow();
  });
});
