/** The setting of RollPacker's Figure 13a, with what the paper does not print about it as options. */
import { defineJob, type Job } from '../../src/sim/colocated/job.ts';
import type { CostModel } from '../../src/sim/models/cost-model.ts';
import { jobPreset, rollpackerLengths, rollpackerWorkload } from '../../src/sim/models/presets.ts';
import { gpuOf } from '../../src/sim/silicon/gpus.ts';
import { resolveModel } from '../../src/sim/silicon/models/model-names.ts';
import { engineCosts } from '../../src/sim/silicon/served-model.ts';
import { type LongTail, longTailQuantile, marginalWorkload } from '../../src/sim/workload/marginal.ts';
import { uniform } from '../../src/sim/workload/random.ts';
import type { Workload } from '../../src/sim/workload/workload.ts';
import type { Setting } from './runs.ts';

const { job: fourteen } = jobPreset('qwen2.5-14b-16k');
const gpu = gpuOf('h800-sxm');
const gpus = 16;
/** Rewards by rules, which hold up nobody. */
export const rules = { workers: { rule: 64, sandbox: 1, judge: 1 }, shares: { rule: 1, sandbox: 0, judge: 0 } };

/** A job whose engines have a share of the GPU memory for weights and KV cache. */
export function atMemoryShare<T extends Pick<Job, 'cost' | 'hardware'>>(job: T, name: string, share: number): T {
  const { shape: model } = resolveModel(name);
  const of = (cost: CostModel): CostModel => {
    const served = { model, gpu, precision: 'bf16', gpus: cost.gpus, memoryUtilization: share } as const;
    return { ...cost, kvCapacityTokens: engineCosts(served).kvCapacityTokens };
  };
  const costs = job.hardware!.costs.map(({ tp, cost }) => ({ tp, cost: of(cost) }));
  return { ...job, cost: of(job.cost), hardware: { ...job.hardware!, memoryUtilization: share, costs } };
}

/** Qwen2.5-14B on 16 GPUs at a TP, up to 32k. */
export function fourteenOn16(tp: number, memoryShare: number): Job {
  const { cost } = fourteen.hardware!.costs.find((one) => one.tp === tp)!;
  const name = 'Qwen2.5-14B, 32k, 16 × H800';
  const hardware = { ...fourteen.hardware!, maxResponseTokens: 32_768 };
  const job = { ...fourteen, name, engines: gpus / tp, cost, hardware, rewards: { ...fourteen.rewards!, ...rules } };
  return defineJob(atMemoryShare(job, 'Qwen2.5-14B', memoryShare));
}

/** How the lengths of a step lie below the length that grows: all at it, even from 0 on, lognormal, or as in Figure 2. */
export type Spread = 'equal' | 'even' | 'lognormal' | 'long-tailed';

/** Lengths of a reasoning model at a cap of 32k: assumed, since the paper does not print them. */
export const reasoningLengths: LongTail & { readonly correlation: number } = {
  medianTokens: 9500,
  sigma: 0.4,
  tailWeight: 0,
  tailStartTokens: 2000,
  tailExponent: 1,
  correlation: 0.4,
};

/** What the paper does not print of Figure 13a. */
export interface Growth {
  /** Share of the GPU memory that engines have. */
  readonly memoryShare: number;
  readonly spread?: Spread;
  readonly responsesPerPrompt?: number;
  readonly cost?: (cost: CostModel) => CostModel;
}

export const growthSteps = 13;
const { promptsPerRound } = fourteen;
const lengthAt = (step: number): number => 8192 + 2048 * step;

/** Lengths that grow from 8k to 32k, by 2k a step. */
function growingWorkload(spread: Spread, seed: number): Workload {
  const base = rollpackerWorkload(32_768, seed);
  const cap = (index: number): number => lengthAt(Math.min(growthSteps - 1, Math.floor(index / promptsPerRound)));
  const scaled = ({ medianTokens, tailStartTokens, ...rest }: typeof reasoningLengths, by: number) => ({
    ...rest,
    medianTokens: medianTokens * by,
    tailStartTokens: tailStartTokens * by,
  });
  const tailed = Array.from({ length: growthSteps }, (_, step) => {
    const capTokens = lengthAt(step);
    if (spread === 'long-tailed')
      return rollpackerWorkload(capTokens, seed, scaled(rollpackerLengths, capTokens / 16_384));
    const { correlation, ...tail } = scaled(reasoningLengths, capTokens / 32_768);
    const responseTokens = longTailQuantile(tail);
    return marginalWorkload({ name: 'growing', responseTokens, promptTokens: () => 200, correlation, capTokens, seed });
  });
  const tokensOf = (index: number, k: number): number => {
    const most = cap(index);
    if (spread === 'equal') return most;
    if (spread === 'even') return Math.max(1, Math.round(most * uniform(seed, 5, index, k)));
    return tailed[(most - lengthAt(0)) / 2048]!.prompt(index).sample(k).tokens;
  };
  return {
    ...base,
    prompt: (index) => ({
      ...base.prompt(index),
      sample: (k) => {
        const tokens = tokensOf(index, k);
        return { tokens, capped: tokens >= cap(index) };
      },
    }),
  };
}

/** Figure 13a: 14B on 16 GPUs from TP 1. */
export function growingWith(growth: Growth): Setting {
  const {
    memoryShare,
    spread = 'equal',
    responsesPerPrompt = fourteen.responsesPerPrompt,
    cost = (one) => one,
  } = growth;
  const { hardware, ...job } = fourteenOn16(1, memoryShare);
  const costs = hardware!.costs.map((one) => ({ tp: one.tp, cost: cost(one.cost) }));
  return {
    job: defineJob({ ...job, responsesPerPrompt, cost: cost(job.cost), hardware: { ...hardware!, costs } }),
    steps: growthSteps,
    workload: (seed) => growingWorkload(spread, seed),
  };
}
