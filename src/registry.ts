/** The frozen list of everything that rollflex ships, each with the paper section it comes from. */
import { createRegistry } from './core/registry.ts';
import { gpuScaleDown } from './policies/gpu-scale-down/index.ts';
import { longPromptQueue } from './policies/long-prompt-queue/index.ts';
import { rewardDispatch } from './policies/reward-dispatch/index.ts';
import { sandboxTimeout } from './policies/sandbox-timeout/index.ts';
import { speculativeAdmission } from './policies/speculative-admission/index.ts';
import { streamTraining } from './policies/stream-training/index.ts';
import { tailBatching } from './recipes/tail-batching/index.ts';

/** Policies and recipes of rollflex. */
export const registry = createRegistry([
  speculativeAdmission, // RollPacker §3
  longPromptQueue, // RollPacker §3
  sandboxTimeout, // RollPacker §4.3
  rewardDispatch, // RollPacker §4.3
  streamTraining, // RollPacker §4.4, §5
  gpuScaleDown, // RollPacker §4.4
  tailBatching, // RollPacker §3
]);
