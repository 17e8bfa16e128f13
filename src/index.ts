/**
 * Scheduling policies for RL post-training of LLMs, as pure modules that an orchestrator embeds.
 *
 * @packageDocumentation
 */

import type { PolicyOptions } from './core/policy.ts';
import { type PolicyOf, runPlanner, startPolicy } from './core/start.ts';
import { type FlexUlyssesInput, type FlexUlyssesPlan, flexUlyssesPlanner } from './planners/flex-ulysses/index.ts';
import {
  type GradientRenormalizationInput,
  type GradientRenormalizationPlan,
  gradientRenormalizationPlanner,
} from './planners/gradient-renormalization/index.ts';
import {
  type GrpoAdvantagesInput,
  type GrpoAdvantagesPlan,
  grpoAdvantagesPlanner,
} from './planners/grpo-advantages/index.ts';
import { type JudgeOffloadInput, type JudgeOffloadPlan, judgeOffloadPlanner } from './planners/judge-offload/index.ts';
import { type MicroBatchesInput, type MicroBatchesPlan, microBatchesPlanner } from './planners/micro-batches/index.ts';
import { type AdaptiveTpInput, adaptiveTp } from './policies/adaptive-tp/index.ts';
import {
  type CompleteGroupPipeliningInput,
  completeGroupPipelining,
} from './policies/complete-group-pipelining/index.ts';
import { type FrontierGroupDispatchInput, frontierGroupDispatch } from './policies/frontier-group-dispatch/index.ts';
import { type GpuScaleDownInput, gpuScaleDown } from './policies/gpu-scale-down/index.ts';
import { type GroupAssemblyInput, groupAssembly } from './policies/group-assembly/index.ts';
import { type LongPromptQueueInput, longPromptQueue } from './policies/long-prompt-queue/index.ts';
import { type RewardDispatchInput, rewardDispatch } from './policies/reward-dispatch/index.ts';
import { type SandboxTimeoutInput, sandboxTimeout } from './policies/sandbox-timeout/index.ts';
import { type ShadowLoaderInput, shadowLoader } from './policies/shadow-loader/index.ts';
import { type SpeculativeAdmissionInput, speculativeAdmission } from './policies/speculative-admission/index.ts';
import { type StreamTrainingInput, streamTraining } from './policies/stream-training/index.ts';
import { type FlexrlInput, flexrl } from './recipes/flexrl/index.ts';
import { type RolloutPipeInput, rolloutPipe } from './recipes/rolloutpipe/index.ts';
import { type RollpackerInput, rollpacker } from './recipes/rollpacker/index.ts';
import { type TailBatchingInput, tailBatching } from './recipes/tail-batching/index.ts';
import { type TailPipeliningInput, tailPipelining } from './recipes/tail-pipelining/index.ts';
import { registry } from './registry.ts';

/** A new tail-batching recipe. Throws `PolicyError` `invalid_config`. */
export const createTailBatching = (config: TailBatchingInput, options?: PolicyOptions): PolicyOf<typeof tailBatching> =>
  startPolicy(tailBatching, config, options);
/** A new rollpacker recipe. Throws `PolicyError` `invalid_config`, `infeasible`. */
export const createRollpacker = (config: RollpackerInput, options?: PolicyOptions): PolicyOf<typeof rollpacker> =>
  startPolicy(rollpacker, config, options);
/** A new rolloutpipe recipe. Throws `PolicyError` `invalid_config`. */
export const createRolloutPipe = (config: RolloutPipeInput, options?: PolicyOptions): PolicyOf<typeof rolloutPipe> =>
  startPolicy(rolloutPipe, config, options);
/** A new tail-pipelining recipe. Throws `PolicyError` `invalid_config`. */
export const createTailPipelining = (
  config: TailPipeliningInput,
  options?: PolicyOptions,
): PolicyOf<typeof tailPipelining> => startPolicy(tailPipelining, config, options);
/** A new flexrl recipe. Throws `PolicyError` `invalid_config`. */
export const createFlexrl = (config: FlexrlInput, options?: PolicyOptions): PolicyOf<typeof flexrl> =>
  startPolicy(flexrl, config, options);
/** A new speculative-admission policy. Throws `PolicyError` `invalid_config`. */
export const createSpeculativeAdmission = (
  config: SpeculativeAdmissionInput,
  options?: PolicyOptions,
): PolicyOf<typeof speculativeAdmission> => startPolicy(speculativeAdmission, config, options);
/** A new long-prompt queue. Throws `PolicyError` `invalid_config`. */
export const createLongPromptQueue = (
  config: LongPromptQueueInput,
  options?: PolicyOptions,
): PolicyOf<typeof longPromptQueue> => startPolicy(longPromptQueue, config, options);
/** A new sandbox-timeout policy. Throws `PolicyError` `invalid_config`. */
export const createSandboxTimeout = (
  config: SandboxTimeoutInput = {},
  options?: PolicyOptions,
): PolicyOf<typeof sandboxTimeout> => startPolicy(sandboxTimeout, config, options);
/** A new reward-dispatch policy. Throws `PolicyError` `invalid_config`. */
export const createRewardDispatch = (
  config: RewardDispatchInput,
  options?: PolicyOptions,
): PolicyOf<typeof rewardDispatch> => startPolicy(rewardDispatch, config, options);
/** A new group-assembly policy. Throws `PolicyError` `invalid_config`. */
export const createGroupAssembly = (
  config: GroupAssemblyInput = {},
  options?: PolicyOptions,
): PolicyOf<typeof groupAssembly> => startPolicy(groupAssembly, config, options);
/** A new stream-training policy. Throws `PolicyError` `invalid_config`, `infeasible`. */
export const createStreamTraining = (
  config: StreamTrainingInput,
  options?: PolicyOptions,
): PolicyOf<typeof streamTraining> => startPolicy(streamTraining, config, options);
/** A new adaptive-tp policy. Throws `PolicyError` `invalid_config`. */
export const createAdaptiveTp = (config: AdaptiveTpInput, options?: PolicyOptions): PolicyOf<typeof adaptiveTp> =>
  startPolicy(adaptiveTp, config, options);
/** A new gpu-scale-down policy. Throws `PolicyError` `invalid_config`. */
export const createGpuScaleDown = (config: GpuScaleDownInput, options?: PolicyOptions): PolicyOf<typeof gpuScaleDown> =>
  startPolicy(gpuScaleDown, config, options);
/** A new shadow-loader policy. Throws `PolicyError` `invalid_config`. */
export const createShadowLoader = (
  config: ShadowLoaderInput = {},
  options?: PolicyOptions,
): PolicyOf<typeof shadowLoader> => startPolicy(shadowLoader, config, options);
/** A new frontier-group-dispatch policy. Throws `PolicyError` `invalid_config`. */
export const createFrontierGroupDispatch = (
  config: FrontierGroupDispatchInput,
  options?: PolicyOptions,
): PolicyOf<typeof frontierGroupDispatch> => startPolicy(frontierGroupDispatch, config, options);

/** A new complete-group-pipelining policy. Throws `PolicyError` `invalid_config`. */
export const createCompleteGroupPipelining = (
  config: CompleteGroupPipeliningInput,
  options?: PolicyOptions,
): PolicyOf<typeof completeGroupPipelining> => startPolicy(completeGroupPipelining, config, options);

/** A new policy by its id. Throws `PolicyError` `unknown_id`, `invalid_config`. */
export const createPolicy: (typeof registry)['createPolicy'] = (id, config, options) =>
  registry.createPolicy(id, config, options);
/** A policy that goes on from a snapshot. Throws `PolicyError` `snapshot_mismatch`. */
export const restorePolicy: (typeof registry)['restorePolicy'] = (snapshot, options) =>
  registry.restorePolicy(snapshot, options);
/** One step of a policy whose state the host keeps. Throws as `restorePolicy` and `send` do. */
export const transition: (typeof registry)['transition'] = (snapshot, event) => registry.transition(snapshot, event);

/** A factor for the gradient of each replica. Throws `PolicyError` `invalid_input`, `infeasible`. */
export const renormalizeGradients = (input: GradientRenormalizationInput): GradientRenormalizationPlan =>
  runPlanner(gradientRenormalizationPlanner, input);
/** An advantage for each response. Throws `PolicyError` `invalid_input`. */
export const grpoAdvantages = (input: GrpoAdvantagesInput): GrpoAdvantagesPlan =>
  runPlanner(grpoAdvantagesPlanner, input);
/** A sharding plan for a batch. Throws `PolicyError` `invalid_input`, `infeasible`. */
export const planFlexUlysses = (input: FlexUlyssesInput): FlexUlyssesPlan => runPlanner(flexUlyssesPlanner, input);
/** Layers of a judge that stay on the GPU or are streamed. Throws `PolicyError` `invalid_input`, `infeasible`. */
export const planJudgeOffload = (input: JudgeOffloadInput): JudgeOffloadPlan => runPlanner(judgeOffloadPlanner, input);
/** Micro-batches of every rank. Throws `PolicyError` `invalid_input`, `infeasible`, `limit_exceeded`. */
export const planMicroBatches = (input: MicroBatchesInput): MicroBatchesPlan => runPlanner(microBatchesPlanner, input);

/** A plan by the id of its planner. Throws `PolicyError` `unknown_id`, `invalid_input`, `infeasible`. */
export const plan: (typeof registry)['plan'] = (id, input) => registry.plan(id, input);

export { z } from 'zod';
export type * from './core/definition.ts';
export { definePlanner, definePolicy, handlersOf, isDefinition } from './core/definition.ts';
export { type LogEntry, type Replay, recordEvents, replayEvents } from './core/event-log.ts';
export { karmarkarKarp } from './core/karmarkar-karp.ts';
export { type LengthFunction, lengthFunction, lengthPoints, lengthPolynomial } from './core/length-function.ts';
export {
  type ListenerFailure,
  Policy,
  type PolicyEvents,
  type PolicyOptions,
  type PolicyStart,
} from './core/policy.ts';
export {
  type Delivery,
  defineRecipe,
  type Parts,
  type RecipeSpec,
  type RecipeState,
  type Route,
  type SavedRecipe,
} from './core/recipe.ts';
export { createRegistry, type Registry } from './core/registry.ts';
export { type Scale as GradientScale, scaleFactor } from './core/renormalize.ts';
export { type Snapshot, snapshotSchema } from './core/snapshot.ts';
export { type LooseEvent, type PolicyOf, resumePolicy, runPlanner, startPolicy } from './core/start.ts';
export { derived, listOf, mapBy, mapOf, setOf } from './core/state.ts';
export {
  isPolicyError,
  PolicyError,
  type PolicyErrorCode,
  type PolicyErrorDetails,
  policyErrorCodes,
} from './errors.ts';
export * from './planners/flex-ulysses/index.ts';
export * from './planners/gradient-renormalization/index.ts';
export * from './planners/grpo-advantages/index.ts';
export * from './planners/judge-offload/index.ts';
export * from './planners/micro-batches/index.ts';
export * from './policies/adaptive-tp/index.ts';
export * from './policies/complete-group-pipelining/index.ts';
export * from './policies/frontier-group-dispatch/index.ts';
export * from './policies/gpu-scale-down/index.ts';
export * from './policies/group-assembly/index.ts';
export * from './policies/long-prompt-queue/index.ts';
export * from './policies/reward-dispatch/index.ts';
export * from './policies/sandbox-timeout/index.ts';
export * from './policies/shadow-loader/index.ts';
export * from './policies/speculative-admission/index.ts';
export * from './policies/stream-training/index.ts';
export * from './recipes/flexrl/index.ts';
export * from './recipes/rolloutpipe/index.ts';
export * from './recipes/rollpacker/index.ts';
export * from './recipes/tail-batching/index.ts';
export * from './recipes/tail-pipelining/index.ts';
export { registry } from './registry.ts';
export {
  type DecisionWord,
  defineDecision,
  defineEvent,
  type EventWord,
  type Fields,
  type Of,
} from './schemas/vocabulary.ts';
