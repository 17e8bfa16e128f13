/** Words of files for engines and precisions, read by what they contain. */
import type { EngineName } from '../../../src/sim/silicon/constants.ts';
import type { Precision } from '../../../src/sim/silicon/model-shape.ts';

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
