/**
 * The cost model that the simulator had before its constants were fitted to measured runs: a roofline of dense transformers in bf16
 * with shares of the peaks from the literature, and seconds of the host that were calibrated for each setup. Kept for `impact.ts`.
 */
import { type CostModel, costModelSchema, type EngineShape } from '../../../src/sim/models/cost-model.ts';

const bytesPerValue = 2;
const weightEfficiency = 0.8;
const attentionEfficiency = 0.88;
const computeEfficiency = 0.5;
const attentionFloorSeconds = 13e-6;
const layerFloorSeconds = 10e-6;
const allReduceSeconds = 6e-6;
const sequenceSeconds = 1e-6;
const memoryUtilization = 0.85;

/** Returns the costs by the former model; undefined where the weights leave no room. */
export function formerCosts(shape: EngineShape): CostModel | undefined {
  const { tensorParallel: tp, gpu, layers } = shape;
  const weightBytes = shape.billionParameters * 1e9 * bytesPerValue;
  const kvBytesPerToken = 2 * layers * shape.kvHeads * shape.headDimension * bytesPerValue;
  const bandwidth = gpu.bandwidthGbps * 1e9 * tp;
  const flops = gpu.tflops * 1e12 * tp * computeEfficiency;
  const flopsPerToken = 2 * shape.billionParameters * 1e9;
  const reduce = tp > 1 ? 2 * allReduceSeconds : 0;
  const memoryBytes = gpu.memoryGb * 1e9 * tp * memoryUtilization;
  const kvCapacityTokens = Math.floor((memoryBytes - weightBytes) / kvBytesPerToken);
  if (kvCapacityTokens < 1) return undefined;
  return costModelSchema.parse({
    gpus: tp,
    memoryBoundSeconds: weightBytes / (bandwidth * weightEfficiency),
    computeSecondsPerSequence: flopsPerToken / flops,
    overheadSeconds: shape.hostSeconds + layers * (attentionFloorSeconds + layerFloorSeconds + reduce),
    secondsPerSequence: sequenceSeconds,
    secondsPerContextToken: kvBytesPerToken / (bandwidth * attentionEfficiency),
    prefillSecondsPerToken: flopsPerToken / flops,
    kvCapacityTokens,
  });
}
