/** The frozen list of everything that rollflex ships, each with the paper section it comes from. */
import { createRegistry } from './core/machine/registry.ts';
import { draftBudget } from './planners/draft-budget/index.ts';
import { flexUlysses } from './planners/flex-ulysses/index.ts';
import { gradientRenormalization } from './planners/gradient-renormalization/index.ts';
import { grpoAdvantages } from './planners/grpo-advantages/index.ts';
import { judgeOffload } from './planners/judge-offload/index.ts';
import { microBatches } from './planners/micro-batches/index.ts';
import { adaptiveTp } from './policies/adaptive-tp/index.ts';
import { completeGroupPipelining } from './policies/complete-group-pipelining/index.ts';
import { dividedRollout } from './policies/divided-rollout/index.ts';
import { environmentSlots } from './policies/environment-slots/index.ts';
import { frontierGroupDispatch } from './policies/frontier-group-dispatch/index.ts';
import { gpuScaleDown } from './policies/gpu-scale-down/index.ts';
import { groupAssembly } from './policies/group-assembly/index.ts';
import { longPromptQueue } from './policies/long-prompt-queue/index.ts';
import { programScheduling } from './policies/program-scheduling/index.ts';
import { promptSelection } from './policies/prompt-selection/index.ts';
import { rewardDispatch } from './policies/reward-dispatch/index.ts';
import { roundComposition } from './policies/round-composition/index.ts';
import { sandboxTimeout } from './policies/sandbox-timeout/index.ts';
import { shadowLoader } from './policies/shadow-loader/index.ts';
import { speculativeAdmission } from './policies/speculative-admission/index.ts';
import { stalenessPacing } from './policies/staleness-pacing/index.ts';
import { streamTraining } from './policies/stream-training/index.ts';
import { watchdog } from './policies/watchdog/index.ts';
import { agenticRollout } from './recipes/agentic-rollout/index.ts';
import { flexrl } from './recipes/flexrl/index.ts';
import { losslessTail } from './recipes/lossless-tail/index.ts';
import { rolloutPipe } from './recipes/rolloutpipe/index.ts';
import { rollpacker } from './recipes/rollpacker/index.ts';
import { tailBatching } from './recipes/tail-batching/index.ts';
import { tailPipelining } from './recipes/tail-pipelining/index.ts';

/** Policies, planners and recipes of rollflex. */
export const registry = createRegistry([
  speculativeAdmission, // RollPacker §3
  longPromptQueue, // RollPacker §3
  roundComposition, // rollflex
  promptSelection, // rollflex
  sandboxTimeout, // RollPacker §4.3
  rewardDispatch, // RollPacker §4.3
  groupAssembly, // RollPacker §4.3, §4.4
  streamTraining, // RollPacker §4.4, §5
  judgeOffload, // RollPacker §4.3
  gradientRenormalization, // RollPacker §4.4
  grpoAdvantages, // RolloutPipe §3.2
  adaptiveTp, // RollPacker §4.2
  gpuScaleDown, // RollPacker §4.4
  completeGroupPipelining, // RolloutPipe §3.2
  frontierGroupDispatch, // RolloutPipe §3.3
  flexUlysses, // FlexRL §3, Appendix A
  draftBudget, // rollflex
  microBatches, // verl, slime: dynamic batch sizes
  shadowLoader, // FlexRL §4
  environmentSlots, // rollflex
  programScheduling, // rollflex
  stalenessPacing, // rollflex
  dividedRollout, // Seer
  watchdog, // rollflex
  tailBatching, // RollPacker §3
  losslessTail, // rollflex
  agenticRollout, // rollflex
  rollpacker, // RollPacker §3, §4
  rolloutPipe, // RolloutPipe §3
  tailPipelining, // RollPacker §3, RolloutPipe §3
  flexrl, // FlexRL §3, §4
]);
