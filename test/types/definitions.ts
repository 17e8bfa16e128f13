// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Each setting, and each part of a plan, has the type of its schema: the compiler says so. */
import type { z } from 'zod';
import type * as FlexUlysses from '../../src/planners/flex-ulysses/index.ts';
import type * as GradientRenormalization from '../../src/planners/gradient-renormalization/index.ts';
import type * as GrpoAdvantages from '../../src/planners/grpo-advantages/index.ts';
import type * as JudgeOffload from '../../src/planners/judge-offload/index.ts';
import type * as MicroBatches from '../../src/planners/micro-batches/index.ts';
import type * as AdaptiveTp from '../../src/policies/adaptive-tp/index.ts';
import type * as CompleteGroupPipelining from '../../src/policies/complete-group-pipelining/index.ts';
import type * as FrontierGroupDispatch from '../../src/policies/frontier-group-dispatch/index.ts';
import type * as GpuScaleDown from '../../src/policies/gpu-scale-down/index.ts';
import type * as GroupAssembly from '../../src/policies/group-assembly/index.ts';
import type * as LongPromptQueue from '../../src/policies/long-prompt-queue/index.ts';
import type * as RewardDispatch from '../../src/policies/reward-dispatch/index.ts';
import type * as SandboxTimeout from '../../src/policies/sandbox-timeout/index.ts';
import type * as ShadowLoader from '../../src/policies/shadow-loader/index.ts';
import type * as SpeculativeAdmission from '../../src/policies/speculative-admission/index.ts';
import type * as StreamTraining from '../../src/policies/stream-training/index.ts';
import type * as Flexrl from '../../src/recipes/flexrl/index.ts';
import type * as RolloutPipe from '../../src/recipes/rolloutpipe/index.ts';
import type * as Rollpacker from '../../src/recipes/rollpacker/index.ts';
import type * as TailBatching from '../../src/recipes/tail-batching/index.ts';
import type * as TailPipelining from '../../src/recipes/tail-pipelining/index.ts';
import type { AllTrue, Same } from './same.ts';

export type Definitions = AllTrue<{
  SpeculativeAdmissionInput: Same<
    SpeculativeAdmission.SpeculativeAdmissionInput,
    z.input<typeof SpeculativeAdmission.admissionConfig>
  >;
  SpeculativeAdmissionConfig: Same<
    SpeculativeAdmission.SpeculativeAdmissionConfig,
    z.output<typeof SpeculativeAdmission.admissionConfig>
  >;
  LongPromptQueueInput: Same<LongPromptQueue.LongPromptQueueInput, z.input<typeof LongPromptQueue.queueConfig>>;
  LongPromptQueueConfig: Same<LongPromptQueue.LongPromptQueueConfig, z.output<typeof LongPromptQueue.queueConfig>>;
  SandboxTimeoutInput: Same<SandboxTimeout.SandboxTimeoutInput, z.input<typeof SandboxTimeout.timeoutConfig>>;
  SandboxTimeoutConfig: Same<SandboxTimeout.SandboxTimeoutConfig, z.output<typeof SandboxTimeout.timeoutConfig>>;
  RewardDispatchInput: Same<RewardDispatch.RewardDispatchInput, z.input<typeof RewardDispatch.rewardDispatchConfig>>;
  RewardDispatchConfig: Same<RewardDispatch.RewardDispatchConfig, z.output<typeof RewardDispatch.rewardDispatchConfig>>;
  GroupAssemblyInput: Same<GroupAssembly.GroupAssemblyInput, z.input<typeof GroupAssembly.assemblyConfig>>;
  GroupAssemblyConfig: Same<GroupAssembly.GroupAssemblyConfig, z.output<typeof GroupAssembly.assemblyConfig>>;
  StreamTrainingInput: Same<StreamTraining.StreamTrainingInput, z.input<typeof StreamTraining.streamTrainingConfig>>;
  StreamTrainingConfig: Same<StreamTraining.StreamTrainingConfig, z.output<typeof StreamTraining.streamTrainingConfig>>;
  JudgeOffloadInput: Same<JudgeOffload.JudgeOffloadInput, z.input<typeof JudgeOffload.judgeOffloadInput>>;
  JudgeOffloadSettings: Same<JudgeOffload.JudgeOffloadSettings, z.output<typeof JudgeOffload.judgeOffloadInput>>;
  JudgeOffloadPlan: Same<JudgeOffload.JudgeOffloadPlan, z.output<typeof JudgeOffload.judgeOffloadPlan>>;
  GradientRenormalizationInput: Same<
    GradientRenormalization.GradientRenormalizationInput,
    z.input<typeof GradientRenormalization.renormalizationInput>
  >;
  GradientRenormalizationSettings: Same<
    GradientRenormalization.GradientRenormalizationSettings,
    z.output<typeof GradientRenormalization.renormalizationInput>
  >;
  GradientRenormalizationPlan: Same<
    GradientRenormalization.GradientRenormalizationPlan,
    z.output<typeof GradientRenormalization.renormalizationPlan>
  >;
  GrpoAdvantagesInput: Same<GrpoAdvantages.GrpoAdvantagesInput, z.input<typeof GrpoAdvantages.advantagesInput>>;
  GrpoAdvantagesSettings: Same<GrpoAdvantages.GrpoAdvantagesSettings, z.output<typeof GrpoAdvantages.advantagesInput>>;
  GrpoAdvantagesPlan: Same<GrpoAdvantages.GrpoAdvantagesPlan, z.output<typeof GrpoAdvantages.advantagesPlan>>;
  AdaptiveTpInput: Same<AdaptiveTp.AdaptiveTpInput, z.input<typeof AdaptiveTp.tpConfig>>;
  AdaptiveTpConfig: Same<AdaptiveTp.AdaptiveTpConfig, z.output<typeof AdaptiveTp.tpConfig>>;
  GpuScaleDownInput: Same<GpuScaleDown.GpuScaleDownInput, z.input<typeof GpuScaleDown.scaleDownConfig>>;
  GpuScaleDownConfig: Same<GpuScaleDown.GpuScaleDownConfig, z.output<typeof GpuScaleDown.scaleDownConfig>>;
  CompleteGroupPipeliningInput: Same<
    CompleteGroupPipelining.CompleteGroupPipeliningInput,
    z.input<typeof CompleteGroupPipelining.pipeliningConfig>
  >;
  CompleteGroupPipeliningConfig: Same<
    CompleteGroupPipelining.CompleteGroupPipeliningConfig,
    z.output<typeof CompleteGroupPipelining.pipeliningConfig>
  >;
  FrontierGroupDispatchInput: Same<
    FrontierGroupDispatch.FrontierGroupDispatchInput,
    z.input<typeof FrontierGroupDispatch.frontierConfig>
  >;
  FrontierGroupDispatchConfig: Same<
    FrontierGroupDispatch.FrontierGroupDispatchConfig,
    z.output<typeof FrontierGroupDispatch.frontierConfig>
  >;
  FlexUlyssesInput: Same<FlexUlysses.FlexUlyssesInput, z.input<typeof FlexUlysses.flexUlyssesInput>>;
  FlexUlyssesSettings: Same<FlexUlysses.FlexUlyssesSettings, z.output<typeof FlexUlysses.flexUlyssesInput>>;
  FlexUlyssesPlan: Same<FlexUlysses.FlexUlyssesPlan, z.output<typeof FlexUlysses.flexUlyssesPlan>>;
  MicroBatchesInput: Same<MicroBatches.MicroBatchesInput, z.input<typeof MicroBatches.microBatchesInput>>;
  MicroBatchesSettings: Same<MicroBatches.MicroBatchesSettings, z.output<typeof MicroBatches.microBatchesInput>>;
  MicroBatchesPlan: Same<MicroBatches.MicroBatchesPlan, z.output<typeof MicroBatches.microBatchesPlan>>;
  ShadowLoaderInput: Same<ShadowLoader.ShadowLoaderInput, z.input<typeof ShadowLoader.shadowLoaderConfig>>;
  ShadowLoaderConfig: Same<ShadowLoader.ShadowLoaderConfig, z.output<typeof ShadowLoader.shadowLoaderConfig>>;
  TailBatchingInput: Same<TailBatching.TailBatchingInput, z.input<typeof TailBatching.tailBatchingConfig>>;
  TailBatchingConfig: Same<TailBatching.TailBatchingConfig, z.output<typeof TailBatching.tailBatchingConfig>>;
  RollpackerInput: Same<Rollpacker.RollpackerInput, z.input<typeof Rollpacker.rollpackerConfig>>;
  RollpackerConfig: Same<Rollpacker.RollpackerConfig, z.output<typeof Rollpacker.rollpackerConfig>>;
  RolloutPipeInput: Same<RolloutPipe.RolloutPipeInput, z.input<typeof RolloutPipe.rolloutPipeConfig>>;
  RolloutPipeConfig: Same<RolloutPipe.RolloutPipeConfig, z.output<typeof RolloutPipe.rolloutPipeConfig>>;
  TailPipeliningInput: Same<TailPipelining.TailPipeliningInput, z.input<typeof TailPipelining.tailPipeliningConfig>>;
  TailPipeliningConfig: Same<TailPipelining.TailPipeliningConfig, z.output<typeof TailPipelining.tailPipeliningConfig>>;
  FlexrlInput: Same<Flexrl.FlexrlInput, z.input<typeof Flexrl.flexrlConfig>>;
  FlexrlConfig: Same<Flexrl.FlexrlConfig, z.output<typeof Flexrl.flexrlConfig>>;
}>;
