/**
 * The job of a user's own cluster: a model, its GPUs, an engine, a precision. What the user does not say is assumed, and each
 * assumption is a sentence of the job: it stands before every answer.
 */

import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { refuse } from '../../errors.ts';
import { positiveCount } from '../../schemas/units.ts';
import { defineJob, type Job } from '../colocated/job.ts';
import { costModelOf, memoryUtilization } from '../models/cost-model.ts';
import { type EngineName, engineNames, precisionNames, siliconConstants } from './constants.ts';
import { type Gpu, gpuOf } from './gpus.ts';
import { shapeOf } from './models/model-config.ts';
import { resolveModel } from './models/model-names.ts';
import type { ModelShape, Precision } from './models/model-shape.ts';
import { bytesOfGb, bytesOfPrecision, engineCosts, type ServedModel } from './served-model.ts';
import { supportOf } from './support.ts';
import { trainingCosts } from './training.ts';

/** Schema of a cluster as a user says it. */
export const clusterSettings = z.strictObject({
  model: z.string().min(1).optional().describe('Name of an open model; Qwen2.5-14B if absent.'),
  config: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("The model's Hugging Face `config.json`, for one that has no name in the table."),
  gpu: z.string().min(1).optional().describe('Name of the GPU; H100 SXM if absent.'),
  gpus: positiveCount.optional().describe('GPUs of the rollout; 32 if absent, or `engines` times `tensorParallel`.'),
  tensorParallel: positiveCount
    .optional()
    .describe(
      'GPUs of an engine; if absent, as `gpus` and `engines` say, or the fewest that hold the weights and eight of the longest responses.',
    ),
  engines: positiveCount.optional().describe('Engines; as many as the GPUs make if absent.'),
  engine: z.enum(engineNames).optional().describe('Inference engine; vLLM if absent.'),
  precision: z
    .enum(precisionNames)
    .optional()
    .describe('Precision of the weights in the engines; as published if absent.'),
  promptsPerRound: positiveCount.default(128).describe('P0: prompts that a step trains on.'),
  responsesPerPrompt: positiveCount.default(8).describe('R0: responses of a prompt.'),
  capTokens: positiveCount.default(16_384).describe('Longest response, in tokens.'),
});

/** A cluster as a user says it. */
export type ClusterInput = z.input<typeof clusterSettings>;

/** A job on a cluster. */
export interface ClusterJob {
  /** The job, for `simulate`, `compare`, `sweep` and `advise`. */
  readonly job: Job;
  /** Longest response, in tokens. */
  readonly capTokens: number;
}

const usualModel = 'Qwen/Qwen2.5-14B';
const usualGpu = 'h100-sxm';
const usualGpus = 32;
/** Longest responses that an engine holds at once where its tensor parallelism is chosen. */
const responsesAtOnce = 8;
/** What is assumed of rewards. */
export const rewardsAssumed = 'rewards by rules within a second';
const engineLabels: Readonly<Record<EngineName, string>> = { vllm: 'vLLM', sglang: 'SGLang', trtllm: 'TensorRT-LLM' };

/**
 * Returns the job of a cluster. `job.assumed` says what was assumed, and where the time model was not measured.
 *
 * @throws PolicyError `unknown_id` for a model or GPU that has no entry, with the nearest of the same size; `infeasible` where the
 *   weights do not fit, or GPUs do not make whole engines; `invalid_input` for impossible numbers
 */
export function clusterJob(input: ClusterInput): ClusterJob {
  const given = parse(clusterSettings, input, 'invalid_input');
  const assumed: string[] = [];
  const { model, precision } = modelOf(given, assumed);
  const gpu = gpuOf(given.gpu ?? usualGpu);
  if (given.gpu === undefined) assumed.push(`${gpu.label} (--gpu)`);
  const { promptsPerRound, responsesPerPrompt, capTokens } = given;
  const serve = (gpus: number): ServedModel => ({ model, gpu, precision, gpus, memoryUtilization });
  const said = given.tensorParallel ?? wholeDegree(given);
  const degrees = degreesOf(model, gpu, serve, said);
  const tensorParallel = said ?? degreeFor(degrees, capTokens, serve);
  if (said === undefined) assumed.push(`TP ${tensorParallel} (--tp)`);
  const gpus = gpusOf(given, tensorParallel, assumed);
  const engine = given.engine ?? 'vllm';
  if (given.engine === undefined) assumed.push(`${engineLabels[engine]} (--engine)`);
  const training = trainingCosts({ model, gpu, gpus, tensorParallel, precision });
  assumed.push(...training.assumed, rewardsAssumed);
  const { trainingReplicas, hostBytesPerSecond, ...times } = training.costs;
  const costAt = (tp: number) => ({
    ...costModelOf(engineCosts(serve(tp))),
    ...times,
    fixedRolloutSeconds: siliconConstants.firstToken[engine].seconds,
    rewardTailSeconds: 1,
  });
  const costs = [...new Set([...degrees, tensorParallel])]
    .sort((a, b) => a - b)
    .map((tp) => ({ tp, cost: costAt(tp) }));
  const name = `${model.name.split('/').at(-1)} in ${precision}, ${gpus} × ${gpu.label}, TP ${tensorParallel}, ${engineLabels[engine]}`;
  const job = defineJob({
    name,
    engines: gpus / tensorParallel,
    promptsPerRound,
    responsesPerPrompt,
    cost: costAt(tensorParallel),
    hardware: {
      gpusPerServer: Math.min(8, gpu.gpusPerDomain),
      // A latent has no heads to share, so that every degree may be chosen.
      kvHeads: model.mla === undefined ? model.kvHeads : Math.max(...costs.map(({ tp }) => tp)),
      modelBytes: model.totalParameters * bytesOfPrecision[precision],
      gpuMemoryBytes: gpu.memoryGb * bytesOfGb,
      kvBytesPerToken: model.kvValuesPerToken * bytesOfPrecision.bf16,
      maxResponseTokens: capTokens,
      costs,
      trainingReplicas,
      hostBytesPerSecond,
    },
    rewards: {
      shares: { rule: 1, sandbox: 0, judge: 0 },
      workers: { rule: 64, sandbox: 64, judge: 16 },
    },
    assumed: [...model.assumed, ...assumed],
    outside: supportOf({ gpu, precision, capTokens, tensorParallel }),
  });
  return { job, capTokens };
}

type Given = z.output<typeof clusterSettings>;

function modelOf(
  { model, config, precision }: Given,
  assumed: string[],
): { readonly model: ModelShape; readonly precision: Precision } {
  if (config !== undefined) {
    const shape = shapeOf(config, model);
    return { model: shape, precision: precision ?? chosenPrecision(shape, undefined, assumed) };
  }
  const found = resolveModel(model ?? usualModel);
  if (model === undefined) assumed.push(`${found.shape.name.split('/').at(-1)} (--model)`);
  return { model: found.shape, precision: precision ?? chosenPrecision(found.shape, found.precision, assumed) };
}

/** The precision that the name says, or else that in which the model is published. */
function chosenPrecision(model: ModelShape, named: Precision | undefined, assumed: string[]): Precision {
  if (named !== undefined) return named;
  assumed.push(`${model.nativePrecision}, as published (--precision)`);
  return model.nativePrecision;
}

/** Tensor-parallel degrees inside of a domain at which the heads divide and the weights fit. */
function degreesOf(
  model: ModelShape,
  gpu: Gpu,
  serve: (gpus: number) => ServedModel,
  wanted: number | undefined,
): number[] {
  const degrees = [1, 2, 4, 8, 16, 32].filter((tp) => tp <= Math.max(8, gpu.gpusPerDomain) && fits(serve(tp)));
  if (degrees.length > 0) return degrees;
  if (wanted !== undefined) return [wanted];
  const most = Math.max(8, gpu.gpusPerDomain);
  const expected = `a model that fits on ${most} × ${gpu.label}: fewer bits (--precision), a larger GPU (--gpu), or --tp over several nodes`;
  refuse('infeasible', 'model', expected, `${(model.totalParameters / 1e9).toPrecision(3)}B parameters`);
}

function fits(served: ServedModel): boolean {
  try {
    return engineCosts(served).kvCapacityTokens >= 1;
  } catch {
    return false;
  }
}

/** Returns the degree that GPUs and engines make, if both are said. */
function wholeDegree({ gpus, engines }: Given): number | undefined {
  if (gpus === undefined || engines === undefined) return undefined;
  if (gpus % engines !== 0) refuse('infeasible', 'engines', `a divisor of ${gpus} GPUs`, engines);
  return gpus / engines;
}

function degreeFor(degrees: readonly number[], capTokens: number, serve: (gpus: number) => ServedModel): number {
  const holds = (tp: number) => engineCosts(serve(tp)).kvCapacityTokens >= responsesAtOnce * capTokens;
  return degrees.find(holds) ?? degrees.at(-1)!;
}

function gpusOf({ gpus, engines }: Given, tensorParallel: number, assumed: string[]): number {
  const wanted = gpus ?? (engines === undefined ? undefined : engines * tensorParallel);
  const all = wanted ?? Math.max(tensorParallel, usualGpus);
  if (wanted === undefined) assumed.push(`${all} GPUs (--gpus)`);
  if (all % tensorParallel !== 0) {
    refuse('infeasible', 'gpus', `a multiple of TP ${tensorParallel}, so that engines are whole`, all);
  }
  if (engines !== undefined && engines * tensorParallel !== all) {
    const expected = `${all / tensorParallel} engines of TP ${tensorParallel} on ${all} GPUs`;
    refuse('infeasible', 'engines', expected, engines);
  }
  return all;
}
