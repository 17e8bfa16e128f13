/** The results of a simulation. Times are seconds from the start of the simulated job. */

/** One rollout round and the training step that follows it. */
export interface StepResult {
  /** Index of the step, from 0. */
  readonly step: number;
  /** Id of its round. */
  readonly roundId: string;
  /** A long round has no over-provisioning. */
  readonly kind: 'short' | 'long';
  /** Tensor parallelism of its engines, where the scheduler sees to it. */
  readonly tp?: number;
  /** Begin, from the start of the job. */
  readonly startSeconds: number;
  /** Seconds of the rollout in which the engines changed their tensor parallelism. */
  readonly reshardSeconds: number;
  /** Seconds of the rollout, from its start until nothing of the round is in flight. */
  readonly rolloutSeconds: number;
  /** Seconds from the last kept response until its reward is known and training can begin. */
  readonly rewardSeconds: number;
  /** Seconds from then until the passes of the reference model and for log-probabilities are over. */
  readonly referenceSeconds: number;
  /** Seconds of gradients after that. */
  readonly trainSeconds: number;
  /** Seconds until the engines have the new weights. */
  readonly syncSeconds: number;
  /** End, from the start of the job. */
  readonly endSeconds: number;
  /** Prompts that it trained on. */
  readonly prompts: number;
  /** Responses that it trained on. */
  readonly responses: number;
  /** Tokens of the responses that are trained on. */
  readonly keptTokens: number;
  /** Tokens generated in the round, including aborted responses. */
  readonly generatedTokens: number;
  /** Tokens that aborted requests had generated. */
  readonly abortedTokens: number;
  /** Mean length of the responses that it trained on. */
  readonly meanResponseTokens: number;
  /** Length of the longest of them. */
  readonly maxResponseTokens: number;
  /** Kept responses that ran into the length cap. */
  readonly cappedResponses: number;
  /** Sequences that lost their KV cache for want of room. */
  readonly preemptions: number;
  /** Prompts that the round left for a later one. */
  readonly deferredPrompts: number;
  /** Prompts in the long-prompt queue when the step ended. */
  readonly queueDepth: number;
  /** Rounds that the prompts of this step had waited in the queue, one entry for each that had. */
  readonly queueAges: readonly number[];
  /** Share of engine time in the rollout in which an engine had nothing to run, over all engines: 0 to 1. */
  readonly bubbleRatio: number;
  /** Versions by which the generating weights are behind the trained ones; 0 for a synchronous job. */
  readonly lag: number;
}

/**
 * A stretch of time in which an engine ran about the same number of sequences, or its GPUs did something else. The
 * segments of an engine have no gaps: idle time in a rollout is a `rollout` segment with nothing running.
 */
export interface Segment {
  /** Begin, from the start of the job. */
  readonly startSeconds: number;
  /** End, from the start of the job. */
  readonly endSeconds: number;
  /** The activity of the GPUs. */
  readonly activity: 'rollout' | 'reference' | 'train' | 'sync' | 'reward' | 'overhead';
  /** Running sequences (rollout only); the mean over the stretch. */
  readonly running: number;
}

/** One inference engine and its GPUs. */
export interface EngineResult {
  /** Id of the engine, or of the GPUs where engines change. */
  readonly engineId: string;
  /** Number of its GPUs. */
  readonly gpus: number;
  /** Seconds in which it ran at least one sequence. */
  readonly busySeconds: number;
  /** Share of all rollout time in which it ran nothing: 0 to 1. */
  readonly bubbleRatio: number;
  /** Sequences that lost their KV cache for want of room. */
  readonly preemptions: number;
  /** Activities over time; empty where none were kept. */
  readonly timeline: readonly Segment[];
}

/** A number with its bootstrap interval. */
export interface Interval {
  /** The mean over seeds. */
  readonly value: number;
  /** Lower end of the interval. */
  readonly low: number;
  /** Upper end of the interval. */
  readonly high: number;
  /** Confidence level, such as 0.95. */
  readonly confidence: number;
}

/**
 * Counts of the fixed responses, which a baseline would train on: the first R0 of each prompt, in its first try. A
 * prompt that was deferred is drawn again.
 */
export interface KeptCounts {
  /** Fixed responses of the trained prompts that are at least `RunOptions.longTokens` long; 0 without it. */
  readonly longFixed: number;
  /** Fixed long responses that are trained on. */
  readonly longKept: number;
  /** Responses trained on that are as long, others than the fixed ones among them. */
  readonly longTrained: number;
  /** Responses trained on that were drawn again. */
  readonly redrawnResponses: number;
  /** Tokens of the redrawn responses. */
  readonly redrawnTokens: number;
  /** Tokens of the fixed responses of the same prompts. */
  readonly redrawnFixedTokens: number;
  /** Groups trained on whose rewards are known. */
  readonly rewardedGroups: number;
  /** Groups among them whose rewards are all equal: they have no advantage. */
  readonly evenGroups: number;
}

/** One scheduler on one workload with one seed. */
export interface RunResult {
  /** Id of the scheduler. */
  readonly scheduler: string;
  /** Seed of the workload. */
  readonly seed: number;
  /** Its steps, in order. */
  readonly steps: readonly StepResult[];
  /** Its engines, over time. */
  readonly engines: readonly EngineResult[];
  /** Seconds of all steps. */
  readonly totalSeconds: number;
  /** Seconds of all rollouts. */
  readonly rolloutSeconds: number;
  /** Prompts trained on, each once. */
  readonly trainedPrompts: number;
  /** Number of responses that were trained on. */
  readonly trainedResponses: number;
  /** Tokens of the kept responses. */
  readonly keptTokens: number;
  /** Tokens generated, including aborted responses. */
  readonly generatedTokens: number;
  /** Mean length of the responses trained on. */
  readonly meanResponseTokens: number;
  /** Share of trained responses that ran into the length cap: 0 to 1. */
  readonly cappedShare: number;
  /** Share of engine time in rollouts with nothing to run: 0 to 1. */
  readonly bubbleRatio: number;
  /** Sequences that lost their KV cache for want of room. */
  readonly preemptions: number;
  /** Rounds that deferred prompts waited in the queue, mean. */
  readonly meanQueueAge: number;
  /** Longest wait in the queue, in rounds. */
  readonly maxQueueAge: number;
  /** Lengths of trained responses at 0, 1, …, 100 %. */
  readonly lengthQuantiles: readonly number[];
  /** Counts of the responses that a baseline would train on. */
  readonly kept: KeptCounts;
  /** Kept tokens that weights of an older version generated than the ones that they train. */
  readonly staleTokens: number;
  /** Most versions that any of them is behind. */
  readonly maxLag: number;
}

/** The place of a scheduler in an ablation: it does what the scheduler below does, and one mechanism more. */
export interface Variant {
  /** Name of all variants together, for people: `RollPacker`. */
  readonly ablation: string;
  /** Id of the scheduler below. */
  readonly above: string;
  /** The mechanism that it adds, for people. */
  readonly adds: string;
}

/** One scheduler on one workload, over all seeds, beside the baseline. */
export interface SchedulerResult {
  /** Id of the scheduler. */
  readonly scheduler: string;
  /** For people: tables and charts. */
  readonly label: string;
  /** Place in an ablation; absent where a scheduler is not part of one. */
  readonly variant?: Variant;
  /** One run for each seed. */
  readonly runs: readonly RunResult[];
  /** Seconds a step, mean over steps and seeds. */
  readonly stepSeconds: Interval;
  /** Seconds of a rollout, mean over steps and seeds. */
  readonly rolloutSeconds: Interval;
  /** Time of the baseline for the same number of trained prompts ÷ time of this scheduler; 1 for the baseline. */
  readonly speedup: Interval;
  /** Seconds of the baseline for a kept token ÷ seconds of this scheduler for one; 1 for the baseline. */
  readonly equalTokenSpeedup: Interval;
  /** Speedup of the rollouts alone. */
  readonly rolloutSpeedup: Interval;
  /** Mean kept response length ÷ that of the baseline. */
  readonly keptTokenRatio: number;
  /** Seconds of the oracle schedule for a kept token ÷ seconds of this scheduler; absent where the oracle was not run. */
  readonly ofOracle?: number;
  /** Share of the longest 1 % of the fixed responses that is trained on: 0 to 1. */
  readonly longestKeptShare: number;
  /** Responses trained on that are as long as those, redrawn ones included ÷ number of those. */
  readonly longestTrainedRatio: number;
  /** Share of the trained groups whose rewards are all equal: 0 to 1. */
  readonly evenGroupShare: number;
  /** Share of the responses trained on that were drawn again after their prompt had been deferred: 0 to 1. */
  readonly redrawnShare: number;
  /** Tokens that redrawn responses have fewer than the fixed ones of their prompts, as a share of the baseline's kept tokens. */
  readonly redrawnLoss: number;
  /** Share of the kept tokens that weights of an older version generated than the ones that they train: 0 to 1. */
  readonly staleShare: number;
  /** Most versions that any of them is behind. */
  readonly maxLag: number;
  /** Share of trained responses that ran into the length cap: 0 to 1. */
  readonly cappedShare: number;
  /** Share of engine time in rollouts with nothing to run: 0 to 1. */
  readonly bubbleRatio: number;
  /** Rounds that deferred prompts waited in the queue, mean. */
  readonly meanQueueAge: number;
  /** Longest wait in the queue, in rounds. */
  readonly maxQueueAge: number;
}

/** One workload through several schedulers. */
export interface ComparisonResult {
  /** The workload; lengths in tokens. */
  readonly workload: {
    readonly name: string;
    readonly source: string;
    readonly prompts: number;
    /** The way responses that were never recorded were made: `recorded`, `within-prompt`, `copula`, … */
    readonly resampling: string;
    readonly correlation: number;
    readonly capTokens: number;
    readonly meanTokens: number;
    /** A caveat about the lengths: that they are estimates. */
    readonly caveat?: string;
    readonly quantiles: Readonly<Record<'p50' | 'p75' | 'p90' | 'p99' | 'max', number>>;
  };
  /** Settings of the job, for tables. */
  readonly settings: Readonly<Record<string, number | string>>;
  /** The results, the baseline first. */
  readonly schedulers: readonly SchedulerResult[];
  /** The oracle schedule on the same workload: all fixed responses are kept. Absent where it was not asked for. */
  readonly oracle?: SchedulerResult;
  /** Notes for the reader of this comparison, in sentences. */
  readonly notes: readonly string[];
}
