// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Each setting, and each part of a plan, has the type of its schema: the compiler says so. */
import type { z } from 'zod';
import type * as DraftBudget from '../../src/planners/draft-budget/index.ts';
import type { draftBudgetInput, draftBudgetPlan } from '../../src/planners/draft-budget/schema.ts';
import type * as FlexUlysses from '../../src/planners/flex-ulysses/index.ts';
import type { flexUlyssesPlan } from '../../src/planners/flex-ulysses/plan-schema.ts';
import type { flexUlyssesInput } from '../../src/planners/flex-ulysses/schema.ts';
import type * as GradientRenormalization from '../../src/planners/gradient-renormalization/index.ts';
import type { renormalizationInput, renormalizationPlan } from '../../src/planners/gradient-renormalization/schema.ts';
import type * as GrpoAdvantages from '../../src/planners/grpo-advantages/index.ts';
import type { advantagesInput, advantagesPlan } from '../../src/planners/grpo-advantages/schema.ts';
import type * as JudgeOffload from '../../src/planners/judge-offload/index.ts';
import type { judgeOffloadInput, judgeOffloadPlan } from '../../src/planners/judge-offload/schema.ts';
import type * as MicroBatches from '../../src/planners/micro-batches/index.ts';
import type { microBatchesPlan } from '../../src/planners/micro-batches/plan-schema.ts';
import type { microBatchesInput } from '../../src/planners/micro-batches/schema.ts';
import type * as AdaptiveTp from '../../src/policies/adaptive-tp/index.ts';
import type { tpConfig } from '../../src/policies/adaptive-tp/schema.ts';
import type * as CompleteGroupPipelining from '../../src/policies/complete-group-pipelining/index.ts';
import type { pipeliningConfig } from '../../src/policies/complete-group-pipelining/schema.ts';
import type * as DividedRollout from '../../src/policies/divided-rollout/index.ts';
import type { dividedConfig } from '../../src/policies/divided-rollout/schema.ts';
import type * as EnvironmentSlots from '../../src/policies/environment-slots/index.ts';
import type { environmentSlotsConfig } from '../../src/policies/environment-slots/schema.ts';
import type * as FrontierGroupDispatch from '../../src/policies/frontier-group-dispatch/index.ts';
import type { frontierConfig } from '../../src/policies/frontier-group-dispatch/schema.ts';
import type * as GpuScaleDown from '../../src/policies/gpu-scale-down/index.ts';
import type { scaleDownConfig } from '../../src/policies/gpu-scale-down/schema.ts';
import type * as GroupAssembly from '../../src/policies/group-assembly/index.ts';
import type { assemblyConfig } from '../../src/policies/group-assembly/schema.ts';
import type * as LongPromptQueue from '../../src/policies/long-prompt-queue/index.ts';
import type { queueConfig } from '../../src/policies/long-prompt-queue/schema.ts';
import type * as ProgramScheduling from '../../src/policies/program-scheduling/index.ts';
import type { programConfig } from '../../src/policies/program-scheduling/schema.ts';
import type * as PromptSelection from '../../src/policies/prompt-selection/index.ts';
import type { selectionConfig } from '../../src/policies/prompt-selection/schema.ts';
import type * as RewardDispatch from '../../src/policies/reward-dispatch/index.ts';
import type { rewardDispatchConfig } from '../../src/policies/reward-dispatch/schema.ts';
import type * as RoundComposition from '../../src/policies/round-composition/index.ts';
import type { compositionConfig } from '../../src/policies/round-composition/schema.ts';
import type * as SandboxTimeout from '../../src/policies/sandbox-timeout/index.ts';
import type { timeoutConfig } from '../../src/policies/sandbox-timeout/schema.ts';
import type * as ShadowLoader from '../../src/policies/shadow-loader/index.ts';
import type { shadowLoaderConfig } from '../../src/policies/shadow-loader/schema.ts';
import type * as SpeculativeAdmission from '../../src/policies/speculative-admission/index.ts';
import type { admissionConfig } from '../../src/policies/speculative-admission/schema.ts';
import type * as StalenessPacing from '../../src/policies/staleness-pacing/index.ts';
import type { stalenessPacingConfig } from '../../src/policies/staleness-pacing/schema.ts';
import type * as StreamTraining from '../../src/policies/stream-training/index.ts';
import type { streamTrainingConfig } from '../../src/policies/stream-training/schema.ts';
import type * as Watchdog from '../../src/policies/watchdog/index.ts';
import type { watchdogConfig } from '../../src/policies/watchdog/schema.ts';
import type * as AgenticRollout from '../../src/recipes/agentic-rollout/index.ts';
import type { agenticRolloutConfig } from '../../src/recipes/agentic-rollout/schema.ts';
import type * as Flexrl from '../../src/recipes/flexrl/index.ts';
import type { flexrlConfig } from '../../src/recipes/flexrl/schema.ts';
import type * as LosslessTail from '../../src/recipes/lossless-tail/index.ts';
import type { losslessTailConfig } from '../../src/recipes/lossless-tail/schema.ts';
import type * as RolloutPipe from '../../src/recipes/rolloutpipe/index.ts';
import type { rolloutPipeConfig } from '../../src/recipes/rolloutpipe/schema.ts';
import type * as Rollpacker from '../../src/recipes/rollpacker/index.ts';
import type { rollpackerConfig } from '../../src/recipes/rollpacker/schema.ts';
import type * as TailBatching from '../../src/recipes/tail-batching/index.ts';
import type { tailBatchingConfig } from '../../src/recipes/tail-batching/tail-batching.ts';
import type * as TailPipelining from '../../src/recipes/tail-pipelining/index.ts';
import type { tailPipeliningConfig } from '../../src/recipes/tail-pipelining/schema.ts';
import type { AllTrue, Same } from './same.ts';

export type Definitions = AllTrue<{
  SpeculativeAdmissionInput: Same<SpeculativeAdmission.SpeculativeAdmissionInput, z.input<typeof admissionConfig>>;
  SpeculativeAdmissionConfig: Same<SpeculativeAdmission.SpeculativeAdmissionConfig, z.output<typeof admissionConfig>>;
  LongPromptQueueInput: Same<LongPromptQueue.LongPromptQueueInput, z.input<typeof queueConfig>>;
  LongPromptQueueConfig: Same<LongPromptQueue.LongPromptQueueConfig, z.output<typeof queueConfig>>;
  RoundCompositionInput: Same<RoundComposition.RoundCompositionInput, z.input<typeof compositionConfig>>;
  RoundCompositionConfig: Same<RoundComposition.RoundCompositionConfig, z.output<typeof compositionConfig>>;
  PromptSelectionInput: Same<PromptSelection.PromptSelectionInput, z.input<typeof selectionConfig>>;
  PromptSelectionConfig: Same<PromptSelection.PromptSelectionConfig, z.output<typeof selectionConfig>>;
  SandboxTimeoutInput: Same<SandboxTimeout.SandboxTimeoutInput, z.input<typeof timeoutConfig>>;
  SandboxTimeoutConfig: Same<SandboxTimeout.SandboxTimeoutConfig, z.output<typeof timeoutConfig>>;
  RewardDispatchInput: Same<RewardDispatch.RewardDispatchInput, z.input<typeof rewardDispatchConfig>>;
  RewardDispatchConfig: Same<RewardDispatch.RewardDispatchConfig, z.output<typeof rewardDispatchConfig>>;
  GroupAssemblyInput: Same<GroupAssembly.GroupAssemblyInput, z.input<typeof assemblyConfig>>;
  GroupAssemblyConfig: Same<GroupAssembly.GroupAssemblyConfig, z.output<typeof assemblyConfig>>;
  StreamTrainingInput: Same<StreamTraining.StreamTrainingInput, z.input<typeof streamTrainingConfig>>;
  StreamTrainingConfig: Same<StreamTraining.StreamTrainingConfig, z.output<typeof streamTrainingConfig>>;
  JudgeOffloadInput: Same<JudgeOffload.JudgeOffloadInput, z.input<typeof judgeOffloadInput>>;
  JudgeOffloadSettings: Same<JudgeOffload.JudgeOffloadSettings, z.output<typeof judgeOffloadInput>>;
  JudgeOffloadPlan: Same<JudgeOffload.JudgeOffloadPlan, z.output<typeof judgeOffloadPlan>>;
  GradientRenormalizationInput: Same<
    GradientRenormalization.GradientRenormalizationInput,
    z.input<typeof renormalizationInput>
  >;
  GradientRenormalizationSettings: Same<
    GradientRenormalization.GradientRenormalizationSettings,
    z.output<typeof renormalizationInput>
  >;
  GradientRenormalizationPlan: Same<
    GradientRenormalization.GradientRenormalizationPlan,
    z.output<typeof renormalizationPlan>
  >;
  GrpoAdvantagesInput: Same<GrpoAdvantages.GrpoAdvantagesInput, z.input<typeof advantagesInput>>;
  GrpoAdvantagesSettings: Same<GrpoAdvantages.GrpoAdvantagesSettings, z.output<typeof advantagesInput>>;
  GrpoAdvantagesPlan: Same<GrpoAdvantages.GrpoAdvantagesPlan, z.output<typeof advantagesPlan>>;
  AdaptiveTpInput: Same<AdaptiveTp.AdaptiveTpInput, z.input<typeof tpConfig>>;
  AdaptiveTpConfig: Same<AdaptiveTp.AdaptiveTpConfig, z.output<typeof tpConfig>>;
  GpuScaleDownInput: Same<GpuScaleDown.GpuScaleDownInput, z.input<typeof scaleDownConfig>>;
  GpuScaleDownConfig: Same<GpuScaleDown.GpuScaleDownConfig, z.output<typeof scaleDownConfig>>;
  CompleteGroupPipeliningInput: Same<
    CompleteGroupPipelining.CompleteGroupPipeliningInput,
    z.input<typeof pipeliningConfig>
  >;
  CompleteGroupPipeliningConfig: Same<
    CompleteGroupPipelining.CompleteGroupPipeliningConfig,
    z.output<typeof pipeliningConfig>
  >;
  FrontierGroupDispatchInput: Same<FrontierGroupDispatch.FrontierGroupDispatchInput, z.input<typeof frontierConfig>>;
  FrontierGroupDispatchConfig: Same<FrontierGroupDispatch.FrontierGroupDispatchConfig, z.output<typeof frontierConfig>>;
  FlexUlyssesInput: Same<FlexUlysses.FlexUlyssesInput, z.input<typeof flexUlyssesInput>>;
  FlexUlyssesSettings: Same<FlexUlysses.FlexUlyssesSettings, z.output<typeof flexUlyssesInput>>;
  FlexUlyssesPlan: Same<FlexUlysses.FlexUlyssesPlan, z.output<typeof flexUlyssesPlan>>;
  DraftBudgetInput: Same<DraftBudget.DraftBudgetInput, z.input<typeof draftBudgetInput>>;
  DraftBudgetSettings: Same<DraftBudget.DraftBudgetSettings, z.output<typeof draftBudgetInput>>;
  DraftBudgetPlan: Same<DraftBudget.DraftBudgetPlan, z.output<typeof draftBudgetPlan>>;
  MicroBatchesInput: Same<MicroBatches.MicroBatchesInput, z.input<typeof microBatchesInput>>;
  MicroBatchesSettings: Same<MicroBatches.MicroBatchesSettings, z.output<typeof microBatchesInput>>;
  MicroBatchesPlan: Same<MicroBatches.MicroBatchesPlan, z.output<typeof microBatchesPlan>>;
  ShadowLoaderInput: Same<ShadowLoader.ShadowLoaderInput, z.input<typeof shadowLoaderConfig>>;
  ShadowLoaderConfig: Same<ShadowLoader.ShadowLoaderConfig, z.output<typeof shadowLoaderConfig>>;
  EnvironmentSlotsInput: Same<EnvironmentSlots.EnvironmentSlotsInput, z.input<typeof environmentSlotsConfig>>;
  EnvironmentSlotsConfig: Same<EnvironmentSlots.EnvironmentSlotsConfig, z.output<typeof environmentSlotsConfig>>;
  ProgramSchedulingInput: Same<ProgramScheduling.ProgramSchedulingInput, z.input<typeof programConfig>>;
  ProgramSchedulingConfig: Same<ProgramScheduling.ProgramSchedulingConfig, z.output<typeof programConfig>>;
  StalenessPacingInput: Same<StalenessPacing.StalenessPacingInput, z.input<typeof stalenessPacingConfig>>;
  StalenessPacingConfig: Same<StalenessPacing.StalenessPacingConfig, z.output<typeof stalenessPacingConfig>>;
  DividedRolloutInput: Same<DividedRollout.DividedRolloutInput, z.input<typeof dividedConfig>>;
  DividedRolloutConfig: Same<DividedRollout.DividedRolloutConfig, z.output<typeof dividedConfig>>;
  WatchdogInput: Same<Watchdog.WatchdogInput, z.input<typeof watchdogConfig>>;
  WatchdogConfig: Same<Watchdog.WatchdogConfig, z.output<typeof watchdogConfig>>;
  TailBatchingInput: Same<TailBatching.TailBatchingInput, z.input<typeof tailBatchingConfig>>;
  TailBatchingConfig: Same<TailBatching.TailBatchingConfig, z.output<typeof tailBatchingConfig>>;
  LosslessTailInput: Same<LosslessTail.LosslessTailInput, z.input<typeof losslessTailConfig>>;
  LosslessTailConfig: Same<LosslessTail.LosslessTailConfig, z.output<typeof losslessTailConfig>>;
  AgenticRolloutInput: Same<AgenticRollout.AgenticRolloutInput, z.input<typeof agenticRolloutConfig>>;
  AgenticRolloutConfig: Same<AgenticRollout.AgenticRolloutConfig, z.output<typeof agenticRolloutConfig>>;
  RollpackerInput: Same<Rollpacker.RollpackerInput, z.input<typeof rollpackerConfig>>;
  RollpackerConfig: Same<Rollpacker.RollpackerConfig, z.output<typeof rollpackerConfig>>;
  RolloutPipeInput: Same<RolloutPipe.RolloutPipeInput, z.input<typeof rolloutPipeConfig>>;
  RolloutPipeConfig: Same<RolloutPipe.RolloutPipeConfig, z.output<typeof rolloutPipeConfig>>;
  TailPipeliningInput: Same<TailPipelining.TailPipeliningInput, z.input<typeof tailPipeliningConfig>>;
  TailPipeliningConfig: Same<TailPipelining.TailPipeliningConfig, z.output<typeof tailPipeliningConfig>>;
  FlexrlInput: Same<Flexrl.FlexrlInput, z.input<typeof flexrlConfig>>;
  FlexrlConfig: Same<Flexrl.FlexrlConfig, z.output<typeof flexrlConfig>>;
}>;
