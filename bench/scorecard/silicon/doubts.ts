/**
 * Runs that are doubted, by columns that are inputs: speculation that is not recorded, preview versions, engines across more GPUs than
 * one node has, more clients than were ever let in at once. No times are looked at.
 */
import type { EngineName } from '../../../src/sim/silicon/constants.ts';
import type { Gpu } from '../../../src/sim/silicon/gpus.ts';
import type { ModelShape, Precision } from '../../../src/sim/silicon/models/model-shape.ts';

/** What of a run is looked at. */
export interface Inputs {
  readonly model: ModelShape;
  readonly gpu: Gpu;
  readonly gpus: number;
  readonly precision: Precision;
  readonly engine: EngineName;
  readonly engineVersion: string;
  readonly concurrency: number;
  readonly promptTokens: number;
  readonly responseTokens: number;
}

/** A reason to doubt. */
export interface Doubt {
  readonly why: string;
  /** Its columns, in words. */
  readonly where: string;
  readonly isOf: (inputs: Inputs) => boolean;
}

const unrecorded = 'speculation, not recorded';

/** The reasons; the first that holds counts. */
export const doubts: readonly Doubt[] = [
  {
    why: unrecorded,
    where: 'DeepSeek on TensorRT-LLM 1.2.0rc6.post3',
    isOf: ({ model, engine, engineVersion }) =>
      /deepseek/i.test(model.name) && engine === 'trtllm' && engineVersion === '1.2.0rc6.post3',
  },
  {
    why: unrecorded,
    where: 'Qwen3.5 in fp8 on four B200',
    isOf: ({ model, gpu, precision, gpus }) =>
      /qwen3\.5/i.test(model.name) && gpu.id === 'b200-sxm' && precision === 'fp8' && gpus === 4,
  },
  {
    why: 'more GPUs than a node, its layout not recorded',
    where: 'GB200, 12 GPUs or more',
    isOf: ({ gpu, gpus }) => gpu.id === 'gb200' && gpus >= 12,
  },
  {
    why: 'a preview version',
    where: 'version 1.3.0rc1',
    isOf: ({ engineVersion }) => engineVersion === '1.3.0rc1',
  },
  {
    why: 'fewer sequences run than clients wait',
    where: 'gpt-oss on H100, 512 clients or more',
    isOf: ({ model, gpu, concurrency }) => /gpt-oss/i.test(model.name) && gpu.id === 'h100-sxm' && concurrency >= 512,
  },
  {
    why: 'no prompt, or a single token',
    where: 'prompts below 1 token, responses below 2',
    isOf: ({ promptTokens, responseTokens }) => promptTokens < 1 || responseTokens < 2,
  },
];

/** The reason to doubt a run; undefined if there is none. */
export const doubtOf = (inputs: Inputs): Doubt | undefined => doubts.find(({ isOf }) => isOf(inputs));
