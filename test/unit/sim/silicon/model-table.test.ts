/** The table of models: their parameters are as many as their makers publish, and their KV caches as large as engines say. */
import { describe, expect, it, test } from 'vitest';
import { modelNames, modelOf } from '../../../../src/sim/silicon/models/model-names.ts';
import { models } from '../../../../src/sim/silicon/models/model-table.ts';

/** Billions of parameters by model cards and reports: in all, and active where they say so. */
const cards: readonly (readonly [name: string, total: number, active?: number])[] = [
  ['Llama-2-7b', 6.74],
  ['Llama-2-13b', 13.0],
  ['Llama-2-70b', 69.0],
  ['Llama-3.1-8B', 8.03],
  ['Llama-3.1-70B', 70.6],
  ['Llama-3.1-405B', 405.9],
  ['Llama-3.2-1B', 1.24],
  ['Llama-3.2-3B', 3.21],
  ['Llama-4-Scout', 109, 17],
  ['Llama-4-Maverick', 400, 17],
  ['Qwen2.5-0.5B', 0.49],
  ['Qwen2.5-1.5B', 1.54],
  ['Qwen2.5-3B', 3.09],
  ['Qwen2.5-7B', 7.62],
  ['Qwen2.5-14B', 14.8],
  ['Qwen2.5-32B', 32.8],
  ['Qwen2.5-72B', 72.7],
  ['Qwen1.5-MoE-A2.7B', 14.3],
  ['Qwen2-57B-A14B', 57.4, 14],
  ['Qwen3-0.6B', 0.6],
  ['Qwen3-1.7B', 1.7],
  ['Qwen3-4B', 4.0],
  ['Qwen3-8B', 8.2],
  ['Qwen3-14B', 14.8],
  ['Qwen3-32B', 32.8],
  ['Qwen3-30B-A3B', 30.5, 3.3],
  ['Qwen3-235B-A22B', 235, 22],
  ['Qwen3-Coder-480B-A35B', 480, 35],
  ['Qwen3-Next-80B-A3B', 80],
  ['Qwen3.5-9B', 9],
  ['Qwen3.5-27B', 27],
  ['Qwen3.5-35B-A3B', 35, 3],
  ['Qwen3.5-122B-A10B', 122, 10],
  ['Qwen3.5-397B-A17B', 397, 17],
  ['Mistral-7B', 7.25],
  ['Ministral-8B', 8.02],
  ['Mistral-Nemo', 12.2],
  ['Mistral-Small-22B', 22.2],
  ['Mistral-Small-24B', 23.6],
  ['Mistral-Large-2', 123],
  ['Mistral-Large-3', 673, 39],
  ['Mixtral-8x7B', 46.7, 12.9],
  ['Mixtral-8x22B', 141, 39],
  ['DeepSeek-V2-Lite', 15.7, 2.4],
  ['DeepSeek-V2', 236, 21],
  ['DeepSeek-V3', 671, 37],
  ['DeepSeek-V3.2', 671, 37],
  ['Moonlight-16B-A3B', 16],
  ['Kimi-K2', 1040, 32],
  ['Kimi-K2.5', 1040, 32],
  ['GLM-4-9B', 9.4],
  ['GLM-4-32B', 32.6],
  ['GLM-4.5', 355, 32],
  ['GLM-4.5-Air', 106, 12],
  ['GLM-5', 744, 40],
  ['gpt-oss-20b', 20.9, 3.6],
  ['gpt-oss-120b', 116.8, 5.1],
  ['MiniMax-M1', 456, 45.9],
  ['MiniMax-M2', 230, 10],
  ['gemma-2-9b', 9.24],
  ['gemma-2-27b', 27.2],
  ['gemma-3-27b', 27],
  ['gemma-4-26B-A4B', 25.2, 3.8],
  ['gemma-4-31B', 30.7],
  ['phi-4', 14.7],
  ['Phi-4-mini', 3.8],
  ['Phi-3.5-MoE', 41.9, 6.6],
  ['Nemotron-4-340B', 341],
  ['Nemotron-H-8B', 8.1],
  ['Nemotron-H-56B', 56],
  ['Nemotron-Nano-9B-v2', 8.9],
  ['Nemotron-Nano-12B-v2', 12.3],
  ['Nemotron-3-Nano-30B-A3B', 31.6, 3.2],
  ['Nemotron-3-Super-120B-A12B', 120, 12],
  ['Nemotron-3-Ultra-550B-A55B', 550, 55],
  ['Llama-3_3-Nemotron-Super-49B', 49.9],
  ['Jamba-1.5-Mini', 52, 12],
  ['Jamba-1.5-Large', 398, 94],
  ['Hunyuan-A13B', 80, 13],
  ['ERNIE-4.5-21B-A3B', 21.8, 3],
  ['ERNIE-4.5-300B-A47B', 300, 47],
  ['Ling-mini-2.0', 16.3, 1.4],
  ['Ling-flash-2.0', 103, 6.1],
  ['Ling-1T', 1000, 50],
  ['Step-3.5-Flash', 196.8, 11],
  ['MiMo-V2-Flash', 309, 15],
  ['command-r-plus', 104],
  ['OLMo-2-32B', 32.2],
  ['EXAONE-4.0-32B', 32],
  ['Seed-OSS-36B', 36.2],
];

const published = cards.map(([name, total, active]) => ({ name, total, active }));
test.each(published)('$name has $total billion parameters, within 3 %', ({ name, total, active }) => {
  const shape = modelOf(name);
  expect(shape.totalParameters / 1e9 / total).toBeGreaterThan(0.97);
  expect(shape.totalParameters / 1e9 / total).toBeLessThan(1.03);
  expect(shape.assumed).toEqual([]);
  if (active === undefined) return;
  // Some count the embedding table as active, some not even the output layer; and they round.
  const [low, high] = [
    shape.activeParameters - shape.embeddingParameters,
    shape.activeParameters + shape.embeddingParameters,
  ];
  expect(active).toBeGreaterThan((0.95 * low) / 1e9);
  expect(active).toBeLessThan((1.05 * high) / 1e9);
});

test.each([
  ['Llama-3.1-70B', 327_680],
  ['Llama-3.1-8B', 131_072],
  ['Qwen2.5-32B', 262_144],
  ['Qwen3-235B-A22B', 192_512],
  ['DeepSeek-V3', 61 * 576 * 2],
  ['Kimi-K2', 70_272],
  // 12 of 48 layers, and 6 of 52.
  ['Qwen3-Next-80B-A3B', 12 * 2 * 2 * 256 * 2],
  ['Nemotron-3-Nano-30B-A3B', 6 * 2 * 2 * 128 * 2],
  ['MiMo-V2-Flash', 9 * 4 * (192 + 128) * 2],
])('%s caches %d bytes a token in bf16', (name, bytes) => {
  expect(2 * modelOf(name).kvValuesPerToken).toBe(bytes);
});

describe('layers', () => {
  it('are of their kinds', () => {
    expect(modelOf('gpt-oss-120b')).toMatchObject({ attentionLayers: 18, slidingLayers: 18, slidingWindow: 128 });
    expect(modelOf('gemma-3-27b')).toMatchObject({ attentionLayers: 10, slidingLayers: 52, slidingWindow: 1024 });
    expect(modelOf('Llama-4-Maverick')).toMatchObject({ attentionLayers: 12, slidingLayers: 36, moeLayers: 24 });
    expect(modelOf('MiniMax-M1')).toMatchObject({ attentionLayers: 10, linearLayers: 70, moeLayers: 80 });
    expect(modelOf('Nemotron-3-Nano-30B')).toMatchObject({ layers: 52, attentionLayers: 6, linearLayers: 23 });
    expect(modelOf('Jamba-1.5-Large')).toMatchObject({ attentionLayers: 9, linearLayers: 63, moeLayers: 36 });
    expect(modelOf('DeepSeek-V3')).toMatchObject({ layers: 61, moeLayers: 58, experts: 256, expertsPerToken: 8 });
    expect(modelOf('Llama-3.3-Nemotron-Super-49B')).toMatchObject({ layers: 80, attentionLayers: 49, kvHeads: 8 });
  });

  it('attend to what an indexer chooses in DeepSeek sparse attention', () => {
    for (const name of ['DeepSeek-V3.2', 'GLM-5', 'MiniMax-M3']) expect(modelOf(name).sparseAttentionTopK).toBe(2048);
    expect(modelOf('DeepSeek-V3').sparseAttentionTopK).toBeUndefined();
    expect(modelOf('DeepSeek-V3').mla).toEqual({ kvLoraRank: 512, ropeDimension: 64 });
  });

  it('are published in their precision', () => {
    const of = (name: string) => modelOf(name).nativePrecision;
    expect([of('gpt-oss-20b'), of('DeepSeek-R1'), of('Kimi-K2.5'), of('Kimi-K2-Thinking'), of('Qwen3-8B')]).toEqual([
      'fp4',
      'fp8',
      'int4',
      'int4',
      'bf16',
    ]);
  });
});

test.each(models)('$id adds up', ({ id, source }) => {
  const shape = modelOf(id);
  expect(source).toBe(`config.json of ${id}`);
  expect(shape.name).toBe(id);
  const mixers = shape.attentionLayers + shape.slidingLayers + shape.linearLayers;
  expect(mixers).toBeLessThanOrEqual(shape.layers);
  expect(shape.moeLayers === 0).toBe(shape.experts === 0);
  expect(shape.totalParameters).toBeGreaterThanOrEqual(shape.activeParameters);
  expect(shape.kvValuesPerToken).toBeGreaterThan(0);
  expect(shape.linearStateValues > 0).toBe(shape.linearLayers > 0);
  expect(shape.slidingKvValuesPerToken > 0).toBe(shape.slidingLayers > 0);
  for (const value of Object.values(shape)) if (typeof value === 'number') expect(value).toBeGreaterThanOrEqual(0);
});

test('there are a hundred of them, each once', () => {
  expect(models.length).toBeGreaterThanOrEqual(100);
  expect(new Set(modelNames()).size).toBe(models.length);
});
