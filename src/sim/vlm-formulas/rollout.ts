/** Computes the seconds of a rollout: every engine encodes and prefills its sequences, and then decodes them together. */
import { baseSeconds, type CostModel, deriveCostModel } from '../models/cost-model.ts';
import { rollout } from './constants.ts';
import { vlmGpus, vlmModel } from './models.ts';
import type { VlmJob } from './settings.ts';
import { lengthOf, type VlmSample } from './workload/sample.ts';

/** Returns the cost model of one engine of the job. */
function engineCost({ model, gpu }: VlmJob): CostModel {
  const { billionParameters, layers, kvHeads, headDimension, rolloutTp } = vlmModel(model);
  return deriveCostModel({
    billionParameters,
    layers,
    kvHeads,
    headDimension,
    tensorParallel: rolloutTp,
    gpu: vlmGpus[gpu],
    hostSeconds: rollout.hostSecondsPerDecodeStep,
  });
}

/**
 * Returns the decoding seconds of sequences that start together; each stretch with the same sequences is computed in closed form.
 */
function decodeSeconds(cost: CostModel, samples: readonly VlmSample[]): number {
  const byLength = [...samples].sort((a, b) => a.responseTokens - b.responseTokens);
  let context = samples.reduce((total, one) => total + lengthOf(one) - one.responseTokens, 0);
  let seconds = 0;
  let done = 0;
  byLength.forEach((one, index) => {
    const running = byLength.length - index;
    const steps = one.responseTokens - done;
    const grown = (running * steps * (steps - 1)) / 2;
    seconds += steps * baseSeconds(cost, running) + cost.secondsPerContextToken * (steps * context + grown);
    context += running * steps - lengthOf(one);
    done = one.responseTokens;
  });
  return seconds;
}

/**
 * Returns the seconds of a rollout. Each sequence goes to the engine with the fewest prompt tokens; of equal ones, to the lowest.
 */
export function rolloutSeconds(batch: readonly VlmSample[], job: VlmJob): number {
  const cost = engineCost(job);
  const engines = Array.from({ length: job.gpus / cost.gpus }, () => ({ tokens: 0, samples: [] as VlmSample[] }));
  for (const one of batch) {
    const engine = engines.reduce((least, other) => (other.tokens < least.tokens ? other : least));
    engine.tokens += one.textTokens + one.visualTokens;
    engine.samples.push(one);
  }
  const busy = engines.map(({ tokens, samples }) => {
    const visual = samples.reduce((total, one) => total + one.visualTokens, 0);
    const prefill = tokens * cost.prefillSecondsPerToken + visual * rollout.secondsPerVisualToken;
    return prefill + decodeSeconds(cost, samples);
  });
  return rollout.fixedSeconds[job.model] + Math.max(...busy);
}
