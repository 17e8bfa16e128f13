/** `--calibrate` with an engine that runs, a log, and numbers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { livePoints } from '../../../src/cli/job/calibration/live.ts';
import { calibratedBy, readMeasured } from '../../../src/cli/job/calibration/measured.ts';
import { type DecodePoint, partsOf } from '../../../src/sim/calibration/decode-point.ts';
import { pointsOfReadings, readingsOfLoads, readingsOfMetrics } from '../../../src/sim/calibration/live.ts';
import { jobPreset } from '../../../src/sim/models/presets.ts';
import { MockHttp } from '../../support/mock-engine/http.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-calibrate-'));
afterAll(() => rmSync(folder, { recursive: true }));
const written = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const { job } = jobPreset('qwen2.5-7b-8k');
const modelled = (point: DecodePoint): number => {
  const { fixed, sequence, prefill } = partsOf(job.cost, point);
  return fixed + sequence + prefill;
};

describe('an engine that runs', () => {
  test.each(['sglang', 'vllm'] as const)('%s: what its counters say is what the simulated engine does', async (api) => {
    const http = await MockHttp.start({ api, speed: 5, contextTokens: 16_384 }, job.cost);
    const path = api === 'sglang' ? '/generate' : '/v1/completions';
    const calls = Array.from({ length: 40 }, (_, index) => {
      const tokens = 200 * (1 + index);
      const own = { max_tokens: tokens, ignore_eos: true };
      const body = { model: 'mock-model', prompt: `p${index}`, ...own };
      const generate = { text: `p${index}`, sampling_params: { max_new_tokens: tokens, ignore_eos: true } };
      return http.send('POST', path, api === 'sglang' ? generate : body);
    });
    try {
      await expect.poll(() => http.engine.size).toBeGreaterThan(calls.length / 2);
      const points = await livePoints(http.running.engineUrls[0]!, 2);
      expect(points.length).toBeGreaterThan(0);
      // The number of running sequences is read twice a point, and changes meanwhile.
      for (const one of points) expect(Math.abs(Math.log(modelled(one) / one.secondsPerToken))).toBeLessThan(0.1);
    } finally {
      for (const { request } of calls) request.destroy();
      await http.running.stop();
    }
  });

  test('that does not answer, is no engine, or is idle is named', async () => {
    await expect(livePoints('http://127.0.0.1:9')).rejects.toMatchObject({
      code: 'invalid_input',
      path: '--calibrate',
    });
    const http = await MockHttp.start({ api: 'vllm', speed: 1 });
    try {
      await expect(livePoints(http.running.engineUrls[0]!, 1)).rejects.toMatchObject({
        got: expect.stringContaining('idle'),
      });
    } finally {
      await http.running.stop();
    }
  });

  test('metrics of SGLang, of ranks, and what an engine does not say', () => {
    const metrics = (seconds: number, tokens: number) => `# HELP sglang:num_running_reqs …
sglang:num_running_reqs{engine_type="unified",tp_rank="0",dp_rank="1"} 32.0
sglang:num_running_reqs{engine_type="unified",tp_rank="1",dp_rank="1"} 32.0
sglang:num_used_tokens{tp_rank="0",dp_rank="1"} 64000
sglang:inter_token_latency_seconds_sum{dp_rank="1"} ${seconds}
sglang:inter_token_latency_seconds_count{dp_rank="1"} ${tokens}
python_gc_objects_collected_total{generation="0"} 7`;
    const [point] = pointsOfReadings([readingsOfMetrics(metrics(10, 1000)), readingsOfMetrics(metrics(30, 2000))]);
    expect(point).toEqual({ running: 32, contextTokens: 2000, secondsPerToken: 0.02, prefillTokens: 0 });
    // A restart between two readings is no measurement.
    expect(pointsOfReadings([readingsOfMetrics(metrics(30, 2000)), readingsOfMetrics(metrics(1, 10))])).toEqual([]);
    expect(readingsOfMetrics('up 1').size).toBe(0);
    expect(readingsOfLoads({ loads: [{ num_running_reqs: 1 }] }).size).toBe(0);
  });
});

describe('what is given', () => {
  test('numbers', async () => {
    const measured = await readMeasured('64:3000:40,8:9000:25', {});
    expect(measured).toMatchObject({
      kind: 'points',
      points: [{ running: 64, secondsPerToken: 0.04 }, { running: 8 }],
    });
    expect(calibratedBy(job, measured!)).toMatchObject({ kind: 'engines', job: { machine: { points: 2 } } });
  });

  test('a file of points', async () => {
    const file = written('points.json', '{"points":[{"running":64,"contextTokens":3000,"secondsPerToken":0.04}]}');
    expect(await readMeasured(file, {})).toMatchObject({ kind: 'points', points: [{ prefillTokens: 0 }] });
  });

  test('a file of points with a bad number is refused by its field', async () => {
    const file = written('bad.json', '{"points":[{"running":0,"contextTokens":3000,"secondsPerToken":0.04}]}');
    await expect(readMeasured(file, {})).rejects.toMatchObject({
      code: 'invalid_input',
      path: expect.stringContaining('points[0].running'),
    });
  });

  test.each([
    ['64:3000', '--calibrate'],
    ['64::3000', '--calibrate'],
  ])('%s is refused by its form', async (from, path) => {
    await expect(readMeasured(from, {})).rejects.toMatchObject({ code: 'invalid_input', path });
  });

  test('a log: the pace of responses that began together, at each number of them', async () => {
    const snapshot = { policy: 'speculative-admission', version: 1, config: {}, seq: 0, at: 0 };
    const lines: object[] = [{ snapshot: { ...snapshot, state: {} } }];
    const prompts = Array.from({ length: 4 }, (_, index) => ({ promptId: `p${index}`, promptTokens: 100 }));
    const launches = prompts.flatMap(({ promptId }) =>
      Array.from({ length: 8 }, (_, index) => ({
        type: 'request.launch',
        at: 1,
        promptId,
        requestId: `${promptId}/${index}`,
        index,
      })),
    );
    lines.push({ event: { type: 'prompts.supplied', at: 1, prompts }, decisions: launches });
    // A token takes a hundredth of a second, and 3 s pass before the first of them.
    for (const [index, { requestId }] of launches.entries()) {
      const tokens = 100 * (1 + index);
      lines.push({ event: { type: 'response.completed', at: 4 + tokens / 100, requestId, tokens }, decisions: [] });
    }
    const file = written('events.jsonl', lines.map((one) => JSON.stringify(one)).join('\n'));
    const measured = (await readMeasured(file, {}))!;
    const calibrated = calibratedBy({ ...job, engines: 1 }, measured);
    if (calibrated.kind !== 'engines') throw new Error('not of engines');
    expect(calibrated.points.length).toBeGreaterThanOrEqual(3);
    for (const one of calibrated.points) expect(one.secondsPerToken).toBeCloseTo(0.01, 6);
    const short = written(
      'short.jsonl',
      lines
        .slice(0, 2)
        .map((one) => JSON.stringify(one))
        .join('\n'),
    );
    const empty = (await readMeasured(short, {}))!;
    expect(() => calibratedBy(job, empty)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
});
