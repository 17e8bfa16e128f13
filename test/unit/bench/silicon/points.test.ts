/** Files of runs: what is read, what is assumed, refused or excluded, and the JSON that comes of it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { evaluate, notesOf, summaryOf } from '../../../../bench/scorecard/silicon/evaluate.ts';
import { readPoints } from '../../../../bench/scorecard/silicon/points.ts';
import { engineIn, gpuIn, modelIn, precisionIn } from '../../../../bench/scorecard/silicon/words.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-silicon-'));
afterAll(() => rmSync(folder, { recursive: true }));

const usual = {
  model: 'Llama-3.1-70B',
  gpu: 'h100_sxm',
  engine: 'vllm',
  engineVersion: '',
  precision: 'fp8',
  promptTokens: '1024',
  responseTokens: '1024',
  concurrency: '16',
  tensorParallel: '4',
  pipelineParallel: '1',
  attentionDataParallel: '',
  moeTensorParallel: '',
  moeExpertParallel: '',
  ttftMs: '200',
  tpotMs: '15',
};
type Fields = Partial<typeof usual>;

function fileOf(...rows: readonly Fields[]): string {
  const path = join(folder, 'points.csv');
  const lines = rows.map((row) => Object.values({ ...usual, ...row }).join(','));
  writeFileSync(path, `${[Object.keys(usual).join(','), ...lines].join('\n')}\n`);
  return path;
}
const only = (row: Fields) => {
  const { points, refused } = readPoints(fileOf(row));
  expect(refused).toEqual([]);
  return points[0]!;
};

describe('words', () => {
  test.each([
    ['fp8_e4m3', 'fp8'],
    ['FP8_BLOCK', 'fp8'],
    ['w8a8', 'fp8'],
    ['nvfp4', 'fp4'],
    ['w4a8_mxfp4_mxfp8', 'fp4'],
    ['w4a8', 'int4'],
    ['awq', 'int4'],
    ['int8', 'int8'],
    ['bfloat16', 'bf16'],
    ['half', 'bf16'],
    ['strange', undefined],
  ])('%s is %s', (word, precision) => {
    expect(precisionIn(word)).toBe(precision);
  });

  test.each([
    ['trt', 'trtllm'],
    ['TensorRT-LLM', 'trtllm'],
    ['tensorrt_llm', 'trtllm'],
    ['dynamo-trtllm', 'trtllm'],
    ['SGLang', 'sglang'],
    ['vLLM v1', 'vllm'],
    ['other', undefined],
  ])('%s is %s', (word, engine) => {
    expect(engineIn(word)).toBe(engine);
  });
});

test('names of benchmarks, and GPUs of which only the beginning is known', () => {
  expect(modelIn('dsr1').shape.name).toBe('deepseek-ai/DeepSeek-R1');
  expect(modelIn('MOE_Mixtral8x7B').shape.name).toMatch(/Mixtral-8x7B/);
  expect(gpuIn('h200_nvl')).toMatchObject({ gpu: { id: 'h200-sxm' }, assumed: 'GPU h200_nvl: as h200' });
  expect(gpuIn('h100_pcie')).toEqual({ gpu: expect.objectContaining({ id: 'h100-pcie' }) });
  expect(() => gpuIn('abacus')).toThrow('got "abacus"');
});

describe('a line', () => {
  test('has counts that are empty, of no value, or written with a point', () => {
    const point = only({ tensorParallel: '8.0', concurrency: '16.0', pipelineParallel: '', moeExpertParallel: 'nan' });
    expect(point).toMatchObject({ stages: 1, served: { gpus: 8 }, load: { concurrency: 16 } });
  });

  test('says what it assumes', () => {
    const point = only({ engine: 'other', precision: 'strange' });
    expect(point).toMatchObject({ engine: 'vllm', served: { precision: 'bf16' } });
    expect(point.assumed).toEqual(['engine other: as vLLM', 'precision strange: as published']);
    expect(only({}).assumed).toEqual([]);
  });

  test('has the precision of its name, or that in which the model is published, where it says none', () => {
    expect(only({ precision: '', model: 'nvidia/DeepSeek-R1-NVFP4', tensorParallel: '8' }).served.precision).toBe(
      'fp4',
    );
    expect(only({ precision: 'None', model: 'DeepSeek-R1', tensorParallel: '8' }).served.precision).toBe('fp8');
  });

  test('with stages of a pipeline has the memory of all of them', () => {
    const point = only({ precision: 'bf16', tensorParallel: '2', pipelineParallel: '2' });
    expect(point).toMatchObject({ stages: 2, served: { gpus: 2, gpu: { memoryGb: 160 } } });
    const { list } = evaluate(fileOf({ precision: 'bf16', tensorParallel: '2', pipelineParallel: '2' }));
    expect(list[0]!.fits).toBe(true);
  });

  test('without a time is left out of that measure, and without both of all', () => {
    const found = evaluate(fileOf({ tpotMs: '' }, { ttftMs: '0' }, { tpotMs: '', ttftMs: '' }, {}));
    expect(summaryOf(found)).toMatchObject({ rows: 3, refused: 0, excluded: 1 });
    expect(notesOf(found)).toEqual([
      'excluded: neither TPOT nor TTFT (1)',
      'excluded: no TPOT, for TPOT only (1)',
      'excluded: no TTFT, for TTFT only (1)',
    ]);
  });

  test('is refused for a model or GPU that nobody knows, and for what is no number', () => {
    const found = evaluate(fileOf({ model: 'nothing-7b' }, { gpu: 'abacus' }, { concurrency: 'many' }, {}));
    expect(summaryOf(found)).toMatchObject({ rows: 1, refused: 3, excluded: 0 });
    expect(found.refused.map(({ line }) => line)).toEqual([2, 3, 4]);
    expect(notesOf(found)).toContain('refused: gpu "abacus" is not known (1)');
  });

  test('counts each time that it is there, and when it is doubted', () => {
    const doubted = { engine: 'trtllm', engineVersion: '1.3.0rc1' };
    const found = evaluate(fileOf({}, {}, doubted));
    expect(found.list.map(({ point }) => point.doubt?.why)).toEqual([undefined, undefined, 'a preview version']);
    expect(summaryOf(found).rows).toBe(3);
  });
});

test('the JSON has errors of all, by GPU, engine and family, as fractions and counts', () => {
  const summary = summaryOf(evaluate(fileOf({}, { tensorParallel: '8', tpotMs: '12' }, { gpu: 'b200' })));
  const numbers = {
    rows: expect.any(Number),
    tpot: {
      mape: expect.any(Number),
      median: expect.any(Number),
      within25: expect.any(Number),
      tau: expect.toSatisfy((one) => one === null || typeof one === 'number'),
      tauTp: expect.toSatisfy((one) => one === null || typeof one === 'number'),
    },
    ttft: { median: expect.any(Number), mape: expect.any(Number) },
  };
  expect(JSON.parse(JSON.stringify(summary))).toEqual({
    ...numbers,
    refused: 0,
    excluded: 0,
    byGpu: { 'h100-sxm': numbers, 'b200-sxm': numbers },
    byEngine: { vllm: numbers },
    byFamily: { 'llama 71B': numbers },
  });
  expect(summary.tpot.mape).toBeLessThan(1);
});

test('a file without the columns of experts is read, too', () => {
  const path = join(folder, 'fewer.csv');
  const text = readFileSync(fileOf({}), 'utf8');
  const short = text.split('\n').map((row) => {
    const cells = row.split(',');
    return [...cells.slice(0, 9), ...cells.slice(13)].join(',');
  });
  writeFileSync(path, short.join('\n'));
  expect(readPoints(path)).toMatchObject({ refused: [], points: [{ served: { gpus: 4 } }] });
});
