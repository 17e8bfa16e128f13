/**
 * The job and the four tasks of RolloutPipe §5.1: Qwen3-1.7B, an engine on two A100 40GB PCIe (TP 2), a trainer on eight
 * RTX 4090, K = 8, B = 16 (U = 2), R = 32, 64 or 96. `docs/calibration.md` says how the constants were found.
 */
import { oneOf } from '../../core/ids/nearest.ts';
import { refuse } from '../../errors.ts';
import { bytesPerValue, costModelOf } from '../models/cost-model.ts';
import { interpolated, marginalWorkload } from '../workload/marginal.ts';
import { normalQuantile } from '../workload/random.ts';
import type { Workload } from '../workload/workload.ts';
import { definePoolsJob, type PoolsJob } from './settings.ts';

/** Ids of the tasks. */
export const poolsTaskIds = ['lsat-ar', 'sci-xw', 'sci-jl', 'olyphys'] as const;
/** Id of a task. */
export type PoolsTaskId = (typeof poolsTaskIds)[number];

const tensorParallel = 2;
const billionParameters = 2.03;
const layers = 28;
const gpu = { memoryGb: 40, bandwidthGbps: 1555, tflops: 312 };
/** Values that a token adds to the cache: keys and values of 8 heads of 128. */
const kvBytesPerToken = 2 * layers * 8 * 128 * bytesPerValue;
const weightBytes = billionParameters * 1e9 * bytesPerValue;
const bandwidth = tensorParallel * gpu.bandwidthGbps * 1e9;
const flopSeconds = (2 * billionParameters * 1e9) / (tensorParallel * gpu.tflops * 1e12);

/** A100 PCIe is outside of what the model of engines was fitted to: these shares were fitted to RolloutPipe's own figures. */
const cost = {
  ...costModelOf({
    gpus: tensorParallel,
    memoryBoundSeconds: weightBytes / (bandwidth * 0.8),
    expertSeconds: 0,
    expertMissShare: 0,
    computeSecondsPerSequence: flopSeconds / 0.5,
    // Of 28 layers: 23 µs of attention and other kernels, and two all-reduces of 6 µs; and 2 ms of the host.
    overheadSeconds: 2e-3 + layers * 35e-6,
    secondsPerSequence: 0,
    // Less of the bandwidth than is usual on A100.
    secondsPerContextToken: kvBytesPerToken / (bandwidth * 0.5),
    prefillSecondsPerToken: flopSeconds / 0.5,
    prefillSecondsPerSquaredToken: 0,
    prefillInterference: 1,
    kvCapacityTokens: Math.floor((tensorParallel * gpu.memoryGb * 1e9 * 0.85 - weightBytes) / kvBytesPerToken),
  }),
  // Two all-reduces a layer of 4 KiB a sequence, over PCIe at about 12 GB/s.
  secondsPerSequence: 2e-5,
  maxRunningSequences: 200,
  // Table 1: 0.76 s per sample of 3,500 tokens. The time grows only with R, so no time is attributed to an update itself.
  trainSecondsPerToken: 2.18e-4,
  weightSyncSeconds: 3,
};

/** Limit on response tokens. */
const poolsCapTokens = 8192;

/** F_w that reproduces RolloutPipe's figures; the 2 in §5.1 of the paper cannot be meant (docs/calibration.md). */
export const reproducingWidth = 14;

/**
 * Returns the job of RolloutPipe §5.1 with R groups a round. Throws `PolicyError` `invalid_config` if R is not a whole number
 * from 1 to 100,000, or if a change is invalid.
 */
export function rolloutpipeJob(groupsPerRound = 32, changes: Partial<PoolsJob> = {}): PoolsJob {
  return definePoolsJob({
    name: 'Qwen3-1.7B, 2 × A100 and 8 × RTX 4090',
    engines: 1,
    trainerGpus: 8,
    responsesPerPrompt: 8,
    globalBatchSamples: 16,
    cost,
    verifier: { medianSeconds: 0.1 },
    ...changes,
    groupsPerRound,
  });
}

/** Tasks with median response tokens, derived from the training seconds in Table 1. */
const tasks: Readonly<Record<PoolsTaskId, { readonly label: string; readonly medianTokens: number }>> = Object.freeze({
  'lsat-ar': { label: 'LSAT-AR', medianTokens: 3139 },
  'sci-xw': { label: 'Sci-XW', medianTokens: 3061 },
  'sci-jl': { label: 'Sci-JL', medianTokens: 3115 },
  olyphys: { label: 'OlyPhys', medianTokens: 3420 },
});

/** Spread of lengths in all tasks, and the share that comes from the prompt; both fitted. */
export const poolsLengths = Object.freeze({ sigma: 0.36, correlation: 0.6 });

const promptTokens = interpolated([100, 200]);

/**
 * Returns a task of RolloutPipe §5.1. Throws `PolicyError` `unknown_id` for an unknown task, and `invalid_input` if the seed of
 * its draws, 4 · `seed` + the index of the task, is not a safe whole number.
 */
export function rolloutpipeWorkload(task: PoolsTaskId, seed: number): Workload {
  const found = tasks[task];
  if (found === undefined) {
    refuse('unknown_id', 'task', oneOf(poolsTaskIds, task), task);
  }
  const { sigma, correlation } = poolsLengths;
  return marginalWorkload({
    name: found.label,
    source: 'lognormal, RolloutPipe §5 and Table 1',
    responseTokens: (share) => found.medianTokens * Math.exp(sigma * normalQuantile(share)),
    promptTokens,
    correlation,
    capTokens: poolsCapTokens,
    // Tasks differ in random draws, not only in scale.
    seed: poolsTaskIds.length * seed + poolsTaskIds.indexOf(task),
  });
}
