/** Words of files: engines and precisions by what they contain, models and GPUs by short names of benchmarks. */
import type { EngineName } from '../../../src/sim/silicon/constants.ts';
import { type Gpu, gpuOf } from '../../../src/sim/silicon/gpus.ts';
import { type ResolvedModel, resolveModel } from '../../../src/sim/silicon/models/model-names.ts';
import type { Precision } from '../../../src/sim/silicon/models/model-shape.ts';

const engines: readonly (readonly [RegExp, EngineName])[] = [
  [/trt|tensor-?_?rt/, 'trtllm'],
  [/sgl/, 'sglang'],
  [/vllm/, 'vllm'],
];

/** The first that matches counts: four bits before the eight of activations. */
const precisions: readonly (readonly [RegExp, Precision])[] = [
  [/fp4|w4a4|e2m1/, 'fp4'],
  [/int4|w4a|4-?_?bit|awq|gptq/, 'int4'],
  [/int8|w8a16|8-?_?bit/, 'int8'],
  [/fp8|w8a8|e4m3|e5m2/, 'fp8'],
  [/bf16|fp16|float16|bfloat|half|16-?_?bit|fp32|float32/, 'bf16'],
];

const found = <T>(table: readonly (readonly [RegExp, T])[], text: string): T | undefined =>
  table.find(([word]) => word.test(text.toLowerCase()))?.[1];

/** The engine that a word means; undefined if none of them. */
export const engineIn = (text: string): EngineName | undefined => found(engines, text);
/** The precision of weights that a word means; undefined if none. */
export const precisionIn = (text: string): Precision | undefined => found(precisions, text);

/** What InferenceMAX calls its models, where it is no name of theirs. */
const benchmarkNames: Readonly<Record<string, string>> = {
  dsr1: 'DeepSeek-R1',
  gptoss: 'gpt-oss-120b',
  llama70b: 'Llama-3.1-70B',
  'qwen3.5': 'Qwen3.5-397B-A17B',
};

/** The model that a word means. Throws `PolicyError` `unknown_id`. */
export const modelIn = (text: string): ResolvedModel =>
  resolveModel(benchmarkNames[text.toLowerCase()] ?? text.replace(/^moe_/i, ''));

/** The GPU that a word means, or else that with which it begins: `h200_nvl` is taken for an H200. Throws `PolicyError` `unknown_id`. */
export function gpuIn(text: string): { readonly gpu: Gpu; readonly assumed?: string } {
  const begin = /^(nvidia[ _-])?[a-z]+\d+x?(?=[ _-])/i.exec(text)?.[0];
  try {
    return { gpu: gpuOf(text) };
  } catch (error) {
    if (begin === undefined) throw error;
    return { gpu: gpuOf(begin), assumed: `GPU ${text}: as ${begin}` };
  }
}
