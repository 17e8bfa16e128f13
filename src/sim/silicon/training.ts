/** What a training step costs on a cluster. None of it was measured here: it is counted from operations and bytes, and said to be. */
import type { Gpu } from './gpus.ts';
import type { ModelShape, Precision } from './models/model-shape.ts';
import { bytesOfGb, bytesOfPrecision } from './served-model.ts';

/** What the seconds follow from. */
export interface TrainedModel {
  readonly model: ModelShape;
  readonly gpu: Gpu;
  /** GPUs that train: those of the rollout, by turns. */
  readonly gpus: number;
  /** GPUs of an inference engine, which gets new weights. */
  readonly tensorParallel: number;
  /** Precision of the weights in the engines. */
  readonly precision: Precision;
}

/**
 * Share of the bf16 peak in training, sequence packing and pipeline bubbles included. Megatron reports 0.4 to 0.5 on H100 for
 * pretraining of dense models; RL steps of short batches reach less. RollPacker's jobs of 14B and 32B take what 0.27 makes.
 */
const trainingShare = 0.3;
/** What is assumed of training. */
export const trainingAssumed = `training at ${100 * trainingShare} % of the bf16 peak on the same GPUs (--calibrate)`;
/** Seconds of a step for the optimizer, gradient norms and the change between rollout and training. */
const stepSeconds = 5;
/** Seconds of a weight sync beside the bytes: stopping, resuming, metadata. */
const syncSeconds = 2;
/** Bandwidth from host memory to a GPU, in bytes per second (PCIe 5.0, as it is reached). */
const hostBytesPerSecond = 25e9;
/** Bytes a parameter that stay on a training GPU: weights and gradients; the optimizer is sharded over all. */
const bytesPerParameter = 6;
/** Share of the memory that these may take. */
const memoryShare = 0.6;

/** Returns the costs, and what was assumed for them. */
export function trainingCosts({ model, gpu, gpus, tensorParallel, precision }: TrainedModel) {
  const flops = gpus * gpu.tflops * 1e12 * trainingShare;
  // Two operations a parameter and token forwards, four more backwards.
  const passSeconds = (2 * model.activeParameters) / flops;
  const bytes = model.totalParameters * bytesPerParameter;
  const fit = Math.ceil(bytes / (gpu.memoryGb * bytesOfGb * memoryShare));
  const shards = Math.min(gpus, 2 ** Math.ceil(Math.log2(Math.max(1, fit))));
  const weightBytes = model.totalParameters * bytesOfPrecision[precision];
  return {
    costs: {
      trainBaseSeconds: stepSeconds,
      trainSecondsPerToken: 3 * passSeconds,
      referenceSecondsPerToken: passSeconds,
      logProbSecondsPerToken: passSeconds,
      referenceSwapSeconds: (bytesOfPrecision.bf16 * model.totalParameters) / shards / hostBytesPerSecond,
      weightSyncSeconds: syncSeconds + weightBytes / tensorParallel / hostBytesPerSecond,
      trainingReplicas: Math.max(1, Math.floor(gpus / shards)),
      hostBytesPerSecond,
    },
    assumed: [trainingAssumed],
  };
}
