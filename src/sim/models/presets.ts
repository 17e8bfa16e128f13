/**
 * Ready-made jobs: the three of RollPacker §6 (P0 = 128, R0 = 8, H800 GPUs), and the response lengths that reproduce its Figure 12.
 * `docs/calibration.md` describes the fit of the constants, and the results that do not fit.
 */
import { oneOf } from '../../core/ids/nearest.ts';
import { refuse } from '../../errors.ts';
import { defineJob, type Job } from '../colocated/job.ts';
import { gpuOf } from '../silicon/gpus.ts';
import { resolveModel } from '../silicon/models/model-names.ts';
import { engineCosts } from '../silicon/served-model.ts';
import {
  interpolated,
  type LongTail,
  longTailQuantile,
  marginalWorkload,
  type Quantile,
} from '../workload/marginal.ts';
import type { Workload } from '../workload/workload.ts';
import { bytesPerValue, type CostModel, costModelOf, memoryUtilization } from './cost-model.ts';
import { hostBytesPerSecond, type PresetTimes, trainingOf } from './preset-training.ts';

/** A job and the length limit of its paper. */
export interface JobPreset {
  /** Name of the preset. */
  readonly id: JobPresetId;
  /** Label for readers: model, GPUs and cap. */
  readonly label: string;
  /** Longest response, in tokens. */
  readonly capTokens: number;
  /** The job. */
  readonly job: Job;
}

/** Ids of the presets. */
export const jobPresetIds = ['qwen2.5-7b-8k', 'qwen2.5-14b-16k', 'qwen2.5-32b-32k'] as const;
/** Id of a preset. */
export type JobPresetId = (typeof jobPresetIds)[number];
/** The preset of the job where none is given. */
export const usualPreset: JobPresetId = 'qwen2.5-14b-16k';

const batch = { promptsPerRound: 128, responsesPerPrompt: 8 };
const gpu = gpuOf('h800-sxm');
/** Degrees that RollPacker's jobs may take. */
const degrees = [1, 2, 4, 8];

function preset(
  id: JobPresetId,
  label: string,
  capTokens: number,
  gpus: number,
  served: {
    readonly model: string;
    readonly tensorParallel: number;
    /** Seconds of host work per decode step, beside what is usual today: fitted to Figure 12. */
    readonly hostSeconds: number;
  },
  given: PresetTimes,
  {
    trainingReplicas,
    trainingShards,
    sandboxes,
  }: {
    readonly trainingReplicas: number;
    /** GPUs that share the weights in training: TP times PP. */
    readonly trainingShards: number;
    readonly sandboxes: number;
  },
): JobPreset {
  const { shape: model } = resolveModel(served.model);
  const modelBytes = model.totalParameters * bytesPerValue;
  const responses = batch.promptsPerRound * batch.responsesPerPrompt;
  const times = trainingOf(given, responses, modelBytes / trainingShards);
  const costAt = (tp: number): CostModel => ({
    ...costModelOf(engineCosts({ model, gpu, precision: 'bf16', gpus: tp, memoryUtilization }), served.hostSeconds),
    ...times,
  });
  const hardware = {
    kvHeads: model.kvHeads,
    modelBytes,
    gpuMemoryBytes: gpu.memoryGb * 1e9,
    kvBytesPerToken: model.kvValuesPerToken * bytesPerValue,
    maxResponseTokens: capTokens,
    costs: degrees
      .filter((tp) => model.kvHeads % tp === 0 && modelBytes < memoryUtilization * gpu.memoryGb * 1e9 * tp)
      .map((tp) => ({ tp, cost: costAt(tp) })),
    trainingReplicas,
    hostBytesPerSecond,
  };
  return Object.freeze({
    id,
    label,
    capTokens,
    job: Object.freeze(
      defineJob({
        name: label,
        engines: gpus / served.tensorParallel,
        ...batch,
        cost: costAt(served.tensorParallel),
        hardware,
        rewards: { workers: { rule: 16, sandbox: sandboxes, judge: 16 }, ruleSeconds: 0.3, judgeBaseSeconds: 0.43 },
      }),
    ),
  });
}

/**
 * The presets. Rewards are those of the mixed tasks of RollPacker §6: rules, code and a judge, for a third of the prompts each. In
 * a baseline step, rewards take 47, 8 and 4 % of the time, and training 14, 23 and 13 % (7B, 14B and 32B). The seven sandboxes of
 * the 7B job follow from Table 2 and Figure 11c.
 */
export const jobPresets: readonly JobPreset[] = Object.freeze([
  preset(
    'qwen2.5-7b-8k',
    'Qwen2.5-7B, 8k, 16 × H800',
    8192,
    16,
    { model: 'Qwen2.5-7B', tensorParallel: 1, hostSeconds: 2.11e-3 },
    {
      fixedRolloutSeconds: 9,
      rewardTailSeconds: 80,
      trainFixedSeconds: 22,
      trainTokenSeconds: 7e-6,
      weightSyncSeconds: 4,
    },
    { trainingReplicas: 8, trainingShards: 2, sandboxes: 7 },
  ),
  preset(
    'qwen2.5-14b-16k',
    'Qwen2.5-14B, 16k, 32 × H800',
    16_384,
    32,
    { model: 'Qwen2.5-14B', tensorParallel: 2, hostSeconds: 7.09e-3 },
    {
      fixedRolloutSeconds: 9,
      rewardTailSeconds: 100,
      trainFixedSeconds: 70.7,
      trainTokenSeconds: 1.7e-5,
      weightSyncSeconds: 5,
    },
    { trainingReplicas: 4, trainingShards: 4, sandboxes: 36 },
  ),
  preset(
    'qwen2.5-32b-32k',
    'Qwen2.5-32B, 32k, 64 × H800',
    32_768,
    64,
    { model: 'Qwen2.5-32B', tensorParallel: 2, hostSeconds: 3.81e-3 },
    {
      fixedRolloutSeconds: 9,
      rewardTailSeconds: 45,
      trainFixedSeconds: 78.3,
      trainTokenSeconds: 1.9e-5,
      weightSyncSeconds: 8,
    },
    { trainingReplicas: 4, trainingShards: 4, sandboxes: 36 },
  ),
]);

/** Returns a preset by its id. Throws `PolicyError` `unknown_id`. */
export function jobPreset(id: string): JobPreset {
  const found = jobPresets.find((one) => one.id === id);
  if (found === undefined) {
    refuse('unknown_id', 'preset', oneOf(jobPresetIds, id), id);
  }
  return found;
}

/** Lengths in the ranges of RollPacker Figure 2, with one setting for all three jobs; fitted to Figure 12. */
export const rollpackerLengths: LongTail & { readonly correlation: number } = Object.freeze({
  medianTokens: 560,
  sigma: 0.75,
  tailWeight: 0.078,
  tailStartTokens: 2000,
  tailExponent: 0.72,
  correlation: 0.23,
});

const promptTokens = interpolated([40, 80, 110, 150, 200, 280, 400, 700, 1200]);

/** Quantile functions by their shape: its table takes as long as the run of a small job, and every seed has the same. */
const quantiles = new WeakMap<LongTail, Quantile>();

function quantileOf(lengths: LongTail): Quantile {
  const known = quantiles.get(lengths) ?? longTailQuantile(lengths);
  // Another shape may be changed by its owner.
  if (Object.isFrozen(lengths)) quantiles.set(lengths, known);
  return known;
}

/** Returns a workload with response lengths as in RollPacker, limited by a cap. */
export function rollpackerWorkload(capTokens: number, seed: number, lengths = rollpackerLengths): Workload {
  return marginalWorkload({
    name: 'rollpacker',
    source: 'long-tailed marginal, RollPacker Figures 2 and 12',
    responseTokens: quantileOf(lengths),
    promptTokens,
    correlation: lengths.correlation,
    capTokens,
    seed,
  });
}
