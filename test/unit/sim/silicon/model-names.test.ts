/** Models by their names, as users write them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelOf, resolveModel } from '../../../../src/sim/silicon/models/model-names.ts';
import { models } from '../../../../src/sim/silicon/models/model-table.ts';
import { refusal } from '../../../support/basics/refusal.ts';
import { runs } from '../../../support/basics/runs.ts';

test.each([
  ['Qwen/Qwen2.5-32B', 'Qwen/Qwen2.5-32B', undefined],
  ['qwen2.5-32b', 'Qwen/Qwen2.5-32B', undefined],
  ['qwen2-5-7b', 'Qwen/Qwen2.5-7B', undefined],
  ['zhipuai/GLM-5', 'zai-org/GLM-5', undefined],
  ['nvidia/DeepSeek-R1-NVFP4', 'deepseek-ai/DeepSeek-R1', 'fp4'],
  ['nvidia/Qwen3-32B-NVFP4', 'Qwen/Qwen3-32B', 'fp4'],
  ['Meta-Llama-3.1-8B-Instruct-FP8', 'meta-llama/Llama-3.1-8B', 'fp8'],
  ['llama3.1:70b', 'meta-llama/Llama-3.1-70B', undefined],
  ['llama-3-1-70b', 'meta-llama/Llama-3.1-70B', undefined],
  ['Qwen3-235B-A22B-Instruct-2507-FP8', 'Qwen/Qwen3-235B-A22B', 'fp8'],
  ['Qwen3-30B-A3B-Thinking-2507', 'Qwen/Qwen3-30B-A3B', undefined],
  ['qwen3-235b', 'Qwen/Qwen3-235B-A22B', undefined],
  ['DeepSeek-R1-0528', 'deepseek-ai/DeepSeek-R1', undefined],
  ['deepseek-r1-671b', 'deepseek-ai/DeepSeek-R1', undefined],
  ['glm4.5-355B-A32B', 'zai-org/GLM-4.5', undefined],
  ['DeepSeek-V3.1-Terminus', 'deepseek-ai/DeepSeek-V3.1', undefined],
  ['DeepSeek-R1-Distill-Qwen-32B', 'Qwen/Qwen2.5-32B', undefined],
  ['MiniMaxAI/MiniMax-M2.5', 'MiniMaxAI/MiniMax-M2.5', undefined],
  ['openai/gpt-oss-120b', 'openai/gpt-oss-120b', undefined],
  ['amd/Llama-3.3-70B-Instruct-FP8-KV', 'meta-llama/Llama-3.3-70B-Instruct', 'fp8'],
  ['RedHatAI/Qwen2.5-7B-Instruct-quantized.w8a8', 'Qwen/Qwen2.5-7B', 'int8'],
  ['RedHatAI/Meta-Llama-3.1-70B-Instruct-quantized.w4a16', 'meta-llama/Llama-3.1-70B', 'int4'],
  ['Qwen/Qwen3-32B-AWQ', 'Qwen/Qwen3-32B', 'int4'],
  ['Qwen2.5-72B-Instruct-GPTQ-Int4', 'Qwen/Qwen2.5-72B', 'int4'],
  ['Qwen2.5-72B-Instruct-GPTQ-Int8', 'Qwen/Qwen2.5-72B', 'int8'],
  ['google/gemma-3-27b-it', 'google/gemma-3-27b-pt', undefined],
  ['nvidia/Llama-3_3-Nemotron-Super-49B-v1_5-FP8', 'nvidia/Llama-3_3-Nemotron-Super-49B-v1', 'fp8'],
  ['Mixtral-8x7B-Instruct-v0.1', 'mistralai/Mixtral-8x7B-v0.1', undefined],
  ['GLM-4.5-Air-FP8', 'zai-org/GLM-4.5-Air', 'fp8'],
  ['models--Qwen--Qwen3-8B', 'Qwen/Qwen3-8B', undefined],
  ['/models/Qwen2.5-32B-Instruct/', 'Qwen/Qwen2.5-32B', undefined],
])('%s is %s', (name, id, precision) => {
  const found = resolveModel(name);
  expect([found.shape.name, found.precision]).toEqual([id, precision]);
});

test.each([
  // The size counts most.
  ['qwen2.5-33b', /did you mean "Qwen2\.5-32B"/],
  ['llama-70b', /did you mean "Llama-[\d.]+-70B/],
  ['Mixtral-8x8B', /did you mean "Mixtral-8x7B/],
  ['gpt-oss-100b', /did you mean "gpt-oss-120b"/],
  ['glm-4.5-aire', /did you mean "GLM-4\.5-Air"/],
  // Words behind a known name that may make it another model.
  ['Qwen3-32B-Eagle3', /did you mean "Qwen3-32B"/],
  ['DeepSeek-R1-Distill-Foo-9B', /did you mean "DeepSeek-R1-Distill-Llama-8B"/],
  ['GLM-4.5-9B', /did you mean "GLM-4/],
  ['DeepSeek-V4-Flash', /did you mean "DeepSeek-/],
  // Of a size alone, those of that size.
  ['32B', /did you mean "Qwen2\.5-32B" or "[^"]*32B"/],
  ['foo', /^a known model$/],
  ['', /^a known model$/],
])('%j is refused, with what may be meant', (name, hint) => {
  const { expected, ...error } = refusal(() => modelOf(name, 'options.model'));
  expect(error).toMatchObject({ code: 'unknown_id', path: 'options.model', got: JSON.stringify(name) });
  expect(expected).toMatch(hint);
});

test('every name of the table is that of its model alone', () => {
  for (const { id, aliases } of models) for (const name of [id, ...aliases]) expect(modelOf(name).name).toBe(id);
});

test('every model is found by its name in any case, with any organisation, separator and suffixes', () => {
  const suffix = fc.constantFrom(
    'Instruct',
    'it',
    'Base',
    'Chat',
    '2507',
    'v0.1',
    'FP8',
    'NVFP4',
    'AWQ',
    'GPTQ',
    'w4a16',
  );
  const organisation = fc.constantFrom('', 'Qwen/', 'RedHatAI/', '/data/models/', 'models--nvidia--');
  const cases = fc.array(fc.boolean(), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(
      fc.constantFrom(...models),
      organisation,
      fc.array(suffix, { maxLength: 3 }),
      fc.constantFrom('-', '_', ' '),
      cases,
      ({ id }, front, behind, separator, capitals) => {
        const name = [id.slice(id.indexOf('/') + 1), ...behind].join('-').replaceAll('-', separator);
        const written = [...name]

          .map((one, at) => (capitals[at % capitals.length] ? one.toUpperCase() : one.toLowerCase()))
          .join('');
        const { shape, precision } = resolveModel(`${front}${written}`);
        expect(shape.name).toBe(id);
        const isQuantized = behind.some((one) => /fp|awq|gptq|w4/i.test(one));
        if (!/bf16/i.test(id)) expect(precision !== undefined).toBe(isQuantized);
      },
    ),
    runs(200),
  );
});
