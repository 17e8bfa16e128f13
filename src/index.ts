/**
 * Scheduling policies for RL post-training of LLMs, as pure modules that an orchestrator embeds.
 *
 * @packageDocumentation
 */

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
export { create, type LooseEvent, type PolicyOf, runPlanner, type StartOf } from './core/start.ts';
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
