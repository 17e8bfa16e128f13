// Generated from the schemas by `npm run docs:generate`: do not edit.
/** What the entries of all definitions export. */

export * from '../planners/draft-budget/index.ts';
export * from '../planners/flex-ulysses/index.ts';
export * from '../planners/gradient-renormalization/index.ts';
export * from '../planners/grpo-advantages/index.ts';
export * from '../planners/judge-offload/index.ts';
export * from '../planners/micro-batches/index.ts';
export * from '../policies/adaptive-tp/index.ts';
export * from '../policies/complete-group-pipelining/index.ts';
export * from '../policies/divided-rollout/index.ts';
export * from '../policies/environment-slots/index.ts';
export * from '../policies/frontier-group-dispatch/index.ts';
export * from '../policies/gpu-scale-down/index.ts';
export * from '../policies/group-assembly/index.ts';
export * from '../policies/long-prompt-queue/index.ts';
export * from '../policies/program-scheduling/index.ts';
export * from '../policies/prompt-selection/index.ts';
export * from '../policies/reward-dispatch/index.ts';
export * from '../policies/round-composition/index.ts';
export * from '../policies/sandbox-timeout/index.ts';
export * from '../policies/shadow-loader/index.ts';
export * from '../policies/speculative-admission/index.ts';
export * from '../policies/staleness-pacing/index.ts';
export * from '../policies/stream-training/index.ts';
export * from '../policies/watchdog/index.ts';
export * from '../recipes/agentic-rollout/index.ts';
export * from '../recipes/flexrl/index.ts';
export * from '../recipes/lossless-tail/index.ts';
export * from '../recipes/rolloutpipe/index.ts';
export * from '../recipes/rollpacker/index.ts';
export * from '../recipes/tail-batching/index.ts';
export * from '../recipes/tail-pipelining/index.ts';
