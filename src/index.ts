/**
 * Scheduling policies for RL post-training of LLMs, as pure modules that an orchestrator embeds.
 *
 * @packageDocumentation
 */

export { z } from 'zod';
export { type Compare, Heap } from './core/collections/heap.ts';
export { checkMinted } from './core/ids/minted-ids.ts';
export type * from './core/machine/definition.ts';
export { definePlanner, definePolicy, handlersOf, isDefinition } from './core/machine/definition.ts';
export type {
  CommandHandlers,
  ListenerFailure,
  Policy,
  PolicyEvents,
  PolicyOptions,
  PolicyStart,
} from './core/machine/policy.ts';
export { createRegistry, type Registry } from './core/machine/registry.ts';
export type { Snapshot } from './core/machine/snapshot.ts';
export { create, type LooseEvent, type PolicyOf, runPlanner, type StartOf } from './core/machine/start.ts';
export { derived, listOf, mapBy, mapOf, setOf } from './core/machine/state.ts';
export { defineRecipe } from './core/recipe/recipe.ts';
export type { Origin } from './core/recipe/recipe-waits.ts';
export type {
  Delivery,
  Parts,
  RecipeDefinition,
  RecipeSpec,
  RecipeState,
  Route,
  Routes,
  SavedRecipe,
} from './core/recipe/spec.ts';
export { acceptedReason } from './core/rollout/accepted.ts';
export { copyFinal, copyPrompt } from './core/rollout/prompts.ts';
export type { OpenCommand } from './core/why/command-table.ts';
export type { UsualFiltered, UsualTime } from './core/why/overdue.ts';
export type { AwaitedEvent, Futile, Gates, HeldThing, Standing, Waits, WaitsOf } from './core/why/waits.ts';
export { type Watch, watch } from './core/why/watch.ts';
export type { HeldRound, KnownTimes, OwedEvent, StalledThing, Standpoint, Why, WhyAll } from './core/why/why.ts';
export {
  isPolicyError,
  PolicyError,
  type PolicyErrorCode,
  type PolicyErrorDetails,
  policyErrorCodes,
  refuse,
} from './errors.ts';
export { type LogEntry, type Replay, recordEvents, replayEvents } from './logs/format/event-log.ts';
export { draftBudget } from './planners/draft-budget/index.ts';
export { flexUlysses } from './planners/flex-ulysses/index.ts';
export { gradientRenormalization } from './planners/gradient-renormalization/index.ts';
export { grpoAdvantages } from './planners/grpo-advantages/index.ts';
export { judgeOffload } from './planners/judge-offload/index.ts';
export { microBatches } from './planners/micro-batches/index.ts';
export { adaptiveTp } from './policies/adaptive-tp/index.ts';
export { completeGroupPipelining } from './policies/complete-group-pipelining/index.ts';
export { dividedRollout } from './policies/divided-rollout/index.ts';
export { environmentSlots } from './policies/environment-slots/index.ts';
export { frontierGroupDispatch } from './policies/frontier-group-dispatch/index.ts';
export { gpuScaleDown } from './policies/gpu-scale-down/index.ts';
export { groupAssembly } from './policies/group-assembly/index.ts';
export { longPromptQueue } from './policies/long-prompt-queue/index.ts';
export { programScheduling } from './policies/program-scheduling/index.ts';
export { promptSelection } from './policies/prompt-selection/index.ts';
export { rewardDispatch } from './policies/reward-dispatch/index.ts';
export { roundComposition } from './policies/round-composition/index.ts';
export { sandboxTimeout } from './policies/sandbox-timeout/index.ts';
export { shadowLoader } from './policies/shadow-loader/index.ts';
export { speculativeAdmission } from './policies/speculative-admission/index.ts';
export { stalenessPacing } from './policies/staleness-pacing/index.ts';
export { streamTraining } from './policies/stream-training/index.ts';
export { watchdog } from './policies/watchdog/index.ts';
export { agenticRollout } from './recipes/agentic-rollout/index.ts';
export { flexrl } from './recipes/flexrl/index.ts';
export { losslessTail } from './recipes/lossless-tail/index.ts';
export { rolloutPipe } from './recipes/rolloutpipe/index.ts';
export { rollpacker } from './recipes/rollpacker/index.ts';
export { tailBatching } from './recipes/tail-batching/index.ts';
export { tailPipelining } from './recipes/tail-pipelining/index.ts';
export { registry } from './registry.ts';
export {
  type DecisionDetails,
  type DecisionMessage,
  defineDecision,
  defineEvent,
  type EventMessage,
  type Fields,
  type IdsOf,
  type Moves,
  type Of,
} from './schemas/vocabulary.ts';
