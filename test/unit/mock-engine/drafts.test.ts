/** Speculative decoding, as SGLang and vLLM name it. */
import { afterEach, describe, expect, test } from 'vitest';
import { sglangDraftTokens, vllmDraftTokens } from '../../../src/mock-engine/drafts.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { MockHttp } from '../../support/mock-engine/http.ts';

let http: MockHttp | undefined;
afterEach(async () => {
  await http?.running.stop();
  http = undefined;
});

/** Half of the drafted tokens are accepted after those before them: 1.75 tokens of 2 that are drafted and one more. */
const drafts = { tokens: 2, maxTokens: 8, acceptance: 0.5, passSeconds: 0.1, stepSeconds: 0.3, secondsPerToken: 0 };

describe('an engine with drafts', () => {
  test('vLLM: its counters, by position', async () => {
    http = await MockHttp.start({ api: 'vllm', speed: 'max' }, { drafts });
    const body = { model: 'mock-model', prompt: '70', seed: 0, max_tokens: 500 };
    const { headers } = await http.send('POST', '/v1/completions', body).reply;
    // 70 tokens are 40 steps of 1.75 tokens, each of 1.5 s.
    expect(Number(headers['x-simulated-seconds'])).toBeCloseTo(60, 6);
    const metrics = (await http.send('GET', '/metrics').reply).body as string;
    const counterOf = (name: string) =>
      Number(
        metrics
          .split('\n')
          .find((line) => line.startsWith(`vllm:${name}{`))!
          .split(' ')[1],
      );
    expect(counterOf('spec_decode_num_drafts_total')).toBe(40);
    expect(counterOf('spec_decode_num_draft_tokens_total')).toBe(80);
    expect(counterOf('spec_decode_num_accepted_tokens_total')).toBe(30);
    const positions = metrics
      .split('\n')
      .filter((line) => line.startsWith('vllm:spec_decode_num_accepted_tokens_per_pos_total{'));
    expect(positions.map((line) => line.match(/position="(\d+)"} (\d+)/)!.slice(1))).toEqual([
      ['0', '20'],
      ['1', '10'],
    ]);
  });

  test('vLLM: no such counters without drafts', async () => {
    http = await MockHttp.start({ api: 'vllm', speed: 'max' });
    expect((await http.send('GET', '/metrics').reply).body).not.toContain('spec_decode');
  });

  test('SGLang: what a response and the server say', async () => {
    http = await MockHttp.start({ speed: 'max' }, { drafts });
    expect((await http.send('GET', '/server_info').reply).body.internal_states[0]).not.toHaveProperty(
      'avg_spec_accept_length',
    );
    const { body } = await http.send('POST', '/generate', { text: '70', sampling_params: { sampling_seed: 0 } }).reply;
    expect(body.meta_info).toMatchObject({
      completion_tokens: 70,
      spec_verify_ct: 40,
      spec_num_correct_drafts: 30,
      spec_num_proposed_drafts: 80,
      spec_accept_length: 1.75,
      spec_accept_rate: 30 / 80,
    });
    const { body: info } = await http.send('GET', '/server_info').reply;
    expect(info).toMatchObject({
      speculative_algorithm: 'EAGLE',
      speculative_num_steps: 2,
      speculative_eagle_topk: 1,
      speculative_num_draft_tokens: 3,
      speculative_adaptive: false,
    });
    expect(info.internal_states[0].avg_spec_accept_length).toBeCloseTo(1.75, 9);
  });

  test('a schedule by batch size: from three requests on nothing is drafted', async () => {
    const schedule = vllmDraftTokens({
      num_speculative_tokens: 2,
      num_speculative_tokens_per_batch_size: [
        [3, 64, 0],
        [1, 2, 5],
      ],
    });
    http = await MockHttp.start({ api: 'vllm', speed: 0 }, { drafts: { ...drafts, ...schedule } });
    const complete = (prompt: string) =>
      http!.send('POST', '/v1/completions', { model: 'mock-model', prompt, seed: 0, max_tokens: 500 }).reply;
    const replies = Promise.all(['10', '20', '55'].map(complete));
    // Time stands until all are there.
    const inFlight = async () => {
      const metrics = (await http!.send('GET', '/metrics').reply).body as string;
      const counts = [...metrics.matchAll(/^vllm:num_requests_(?:waiting|running)\{[^}]*\} (\d+)$/gm)];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    await expect.poll(inFlight).toBe(3);
    await http.post('/clock', { speed: 'max' }, http.running.url);
    const ends = await replies;
    // Ten steps of 1 s for three requests, then 1.75 tokens in 1.5 s.
    const seconds = ends.map(({ headers }) => Number(headers['x-simulated-seconds'])).map((at) => at - 10);
    expect(seconds[0]).toBeCloseTo(0, 6);
    expect(seconds[1]).toBeCloseTo(6 * 1.5, 6);
    expect(seconds[2]).toBeCloseTo(26 * 1.5, 6);
  });
});

describe('options of the engines', () => {
  test('vLLM: ranges go on until the next one, and no longer than drafts can be', () => {
    const config = { method: 'eagle3', num_speculative_tokens: 3 };
    expect(vllmDraftTokens(config)).toEqual({ tokens: 3, maxTokens: 3 });
    expect(
      vllmDraftTokens({
        ...config,
        num_speculative_tokens_per_batch_size: [
          [1, 4, 7],
          [9, 16, 1],
        ],
      }),
    ).toEqual({
      tokens: [
        { sequences: 1, tokens: 7 },
        { sequences: 9, tokens: 1 },
      ],
      maxTokens: 3,
    });
  });

  test.each<[unknown, object]>([
    [{}, { code: 'invalid_config', path: 'num_speculative_tokens' }],
    [{ num_speculative_tokens: 3, num_speculative_tokens_per_batch_size: [[2, 4, 1]] }, { code: 'invalid_config' }],
    [
      {
        num_speculative_tokens: 3,
        num_speculative_tokens_per_batch_size: [
          [1, 4, 1],
          [4, 8, 0],
        ],
      },
      { code: 'invalid_config' },
    ],
  ])('vLLM refuses %j', (config, expected) => {
    expect(refusal(() => vllmDraftTokens(config))).toMatchObject(expected);
  });

  test('SGLang: one candidate for each batch size, smaller batches as the first', () => {
    expect(sglangDraftTokens({ numSteps: 3, numDraftTokens: 4 })).toEqual({ tokens: 3, maxTokens: 3 });
    const adaptiveConfig = { ema_alpha: 0.2, '8': { candidate_steps: [0] }, '2': { candidate_steps: [5] } };
    expect(sglangDraftTokens({ numSteps: 3, adaptiveConfig })).toEqual({
      tokens: [
        { sequences: 1, tokens: 5 },
        { sequences: 8, tokens: 0 },
      ],
      maxTokens: 5,
    });
    expect(refusal(() => sglangDraftTokens({ numSteps: 3, numDraftTokens: 8 }))).toMatchObject({ code: 'infeasible' });
    const several = { '1': { candidate_steps: [1, 3] } };
    expect(refusal(() => sglangDraftTokens({ numSteps: 3, adaptiveConfig: several }))).toMatchObject({
      code: 'infeasible',
    });
    expect(refusal(() => sglangDraftTokens({ numSteps: 3, adaptiveConfig: {} }))).toMatchObject({
      code: 'invalid_config',
    });
  });
});
