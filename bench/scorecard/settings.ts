/** Settings of RollPacker's figures that are no presets. */

import { defineJob } from '../../src/sim/colocated/job.ts';
import { deriveCostModel } from '../../src/sim/models/cost-model.ts';
import { jobPreset, rollpackerWorkload } from '../../src/sim/models/presets.ts';
import { interpolated, longTailQuantile, marginalWorkload } from '../../src/sim/workload/marginal.ts';
import type { Workload } from '../../src/sim/workload/workload.ts';
import type { Setting } from './runs.ts';

const gpu = { memoryGb: 80, bandwidthGbps: 3350, tflops: 989 };
const batch = { promptsPerRound: 128, responsesPerPrompt: 8 };
const promptTokens = interpolated([40, 80, 110, 150, 200, 280, 400, 700, 1200]);
const rewards = { workers: { rule: 64, sandbox: 1, judge: 1 }, shares: { rule: 1, sandbox: 0, judge: 0 } };

/** Lengths of a reasoning model: assumed, since the paper does not print them. */
const reasoning = (seed: number): Workload =>
  marginalWorkload({
    name: 'reasoning',
    source: 'lognormal, median 10,000 tokens',
    responseTokens: longTailQuantile({
      medianTokens: 10_000,
      sigma: 0.4,
      tailWeight: 0,
      tailStartTokens: 2000,
      tailExponent: 1,
    }),
    promptTokens,
    correlation: 0.4,
    capTokens: 32_768,
    seed,
  });

const eights = new Map<number, Setting>();

/** Figure 7: Qwen3-8B/32k on eight GPUs, at a TP. */
export function eight(tp: number): Setting {
  const known = eights.get(tp);
  if (known !== undefined) return known;
  const shape = { billionParameters: 8.2, layers: 36, kvHeads: 8, headDimension: 128, hostSeconds: 1.96e-3 };
  const cost = { ...deriveCostModel({ ...shape, tensorParallel: tp, gpu }), fixedRolloutSeconds: 9 };
  const hardware = {
    kvHeads: 8,
    modelBytes: 16.4e9,
    gpuMemoryBytes: 80e9,
    kvBytesPerToken: 2 * 36 * 8 * 128 * 2,
    maxResponseTokens: 32_768,
    costs: [{ tp, cost }],
    trainingReplicas: 4,
  };
  const job = defineJob({ name: 'Qwen3-8B, 32k, 8 × H800', engines: 8 / tp, ...batch, cost, hardware, rewards });
  const setting = { job, workload: reasoning };
  eights.set(tp, setting);
  return setting;
}

const { job: fourteen, capTokens } = jobPreset('qwen2.5-14b-16k');

function fourteenOn16(tp: number) {
  const { cost } = fourteen.hardware!.costs.find((one) => one.tp === tp)!;
  return {
    ...fourteen,
    name: 'Qwen2.5-14B, 32k, 16 × H800',
    engines: 16 / tp,
    cost,
    hardware: { ...fourteen.hardware!, maxResponseTokens: 32_768 },
    rewards: { ...fourteen.rewards!, ...rewards },
  };
}

const growthSteps = 13;

/**
 * Figure 13a: 14B on 16 GPUs from TP 1; the length of all responses grows from 8k to 32k, by 2k a step. How lengths lie around
 * that is not printed: here all responses of a step are equally long.
 */
export const growing: Setting = {
  job: defineJob(fourteenOn16(1)),
  steps: growthSteps,
  workload: (seed) => {
    const base = rollpackerWorkload(32_768, seed);
    return {
      ...base,
      prompt: (index) => {
        const step = Math.min(growthSteps - 1, Math.floor(index / batch.promptsPerRound));
        const tokens = 8192 + 2048 * step;
        return { ...base.prompt(index), sample: () => ({ tokens, capped: tokens >= 32_768 }) };
      },
    };
  },
};

/** Figures 13b and c: the same at a cap of 32k from TP 2, with the lengths of a reasoning model. */
export const onEight: Setting = { job: defineJob(fourteenOn16(2)), workload: reasoning, steps: 10 };

const scaled = new Map<number, Setting>();

/** Figure 16: so many times the batch and the GPUs of the 14B job. */
export function scaledTo(times: number): Setting {
  const known = scaled.get(times) ?? {
    job: { ...fourteen, engines: fourteen.engines * times, promptsPerRound: batch.promptsPerRound * times },
    workload: (seed: number) => rollpackerWorkload(capTokens, seed),
  };
  scaled.set(times, known);
  return known;
}
