/** Settings of RollPacker's figures that are no presets. */

import { defineJob } from '../../src/sim/colocated/job.ts';
import { deriveCostModel } from '../../src/sim/models/cost-model.ts';
import { jobPreset, rollpackerWorkload } from '../../src/sim/models/presets.ts';
import { interpolated, longTailQuantile, marginalWorkload } from '../../src/sim/workload/marginal.ts';
import type { Workload } from '../../src/sim/workload/workload.ts';
import { atMemoryShare, fourteenOn16, growingWith, reasoningLengths, rules } from './growing.ts';
import type { Setting } from './runs.ts';

const gpu = { memoryGb: 80, bandwidthGbps: 3350, tflops: 989 };
const batch = { promptsPerRound: 128, responsesPerPrompt: 8 };
const promptTokens = interpolated([40, 80, 110, 150, 200, 280, 400, 700, 1200]);

const { correlation, ...tail } = reasoningLengths;
const reasoning = (seed: number): Workload =>
  marginalWorkload({
    name: 'reasoning',
    source: `lognormal, median ${tail.medianTokens} tokens`,
    responseTokens: longTailQuantile(tail),
    promptTokens,
    correlation,
    capTokens: 32_768,
    seed,
  });

/**
 * Share of the GPU memory that engines have in Figures 7 and 13. The paper does not print it; this one is in the configuration guide of
 * ROLL, on which RollPacker is built. Other examples of ROLL have 0.8, as the presets.
 */
const memoryShare = 0.6;

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
  const job = defineJob({ name: 'Qwen3-8B, 32k, 8 × H800', engines: 8 / tp, ...batch, cost, hardware, rewards: rules });
  const setting = { job: atMemoryShare(job, 'Qwen3-8B', memoryShare), workload: reasoning };
  eights.set(tp, setting);
  return setting;
}

/** Figure 13a. How lengths lie around the growing one is not printed: here all responses of a step are equally long. */
export const growing: Setting = growingWith({ memoryShare });

/** Figures 13b and c: the same at a cap of 32k from TP 2, with the lengths of a reasoning model. */
export const onEight: Setting = { job: fourteenOn16(2, memoryShare), workload: reasoning, steps: 10 };

const { job: fourteen, capTokens } = jobPreset('qwen2.5-14b-16k');
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
