/** The results of a simulation. Times are seconds from the start of the simulated job. */

/** One rollout round and the training step that follows it. */
export interface StepResult {
  /** Index of the step, from 0. */
  readonly step: number;
  /** Id of its round. */
  readonly roundId: string;
  /** A long round has no over-provisioning. */
  readonly kind: 'short' | 'long';
  /** Tensor parallelism of its engines, if the scheduler chooses it. */
  readonly tp?: number;
  /** Start, from the start of the job. */
  readonly startSeconds: number;
  /** Seconds of the rollout in which the engines changed their tensor parallelism. */
  readonly reshardSeconds: number;
  /** Seconds of the rollout, from its start until no request of the round is in flight. */
  readonly rolloutSeconds: number;
  /** Seconds from the last kept response until its reward is known, so that training can begin. */
  readonly rewardSeconds: number;
  /** Seconds from that time until the passes of the reference model and for log-probabilities are over. */
  readonly referenceSeconds: number;
  /** Seconds of gradients after these passes. */
  readonly trainSeconds: number;
  /** Seconds until the engines have the new weights. */
  readonly syncSeconds: number;
  /** End, from the start of the job. */
  readonly endSeconds: number;
  /** Number of trained prompts. */
  readonly prompts: number;
  /** Number of trained responses. */
  readonly responses: number;
  /** Tokens of the trained responses. */
  readonly keptTokens: number;
  /** Tokens generated in the round, including aborted responses. */
  readonly generatedTokens: number;
  /** Tokens that aborted requests had generated. */
  readonly abortedTokens: number;
  /** Mean length of the trained responses, in tokens. */
  readonly meanResponseTokens: number;
  /** Length of the longest trained response, in tokens. */
  readonly maxResponseTokens: number;
  /** Trained responses that reached the length cap. */
  readonly cappedResponses: number;
  /** Sequences that lost their KV cache because the cache was full. */
  readonly preemptions: number;
  /** Prompts that the round deferred to a later one. */
  readonly deferredPrompts: number;
  /** Prompts in the long-prompt queue when the step ended. */
  readonly queueDepth: number;
  /** For each prompt of this step that had waited in the queue: the number of rounds that it waited. */
  readonly queueAges: readonly number[];
  /** Share of the rollout time of all engines in which an engine had nothing to run: 0 to 1. */
  readonly bubbleRatio: number;
  /** Versions by which the generating weights are behind the trained ones; 0 for a synchronous job. */
  readonly lag: number;
}

/**
 * A time interval in which an engine ran about the same number of sequences, or in which its GPUs did other work. The segments of
 * an engine have no gaps: idle time in a rollout is a `rollout` segment with nothing running.
 */
export interface Segment {
  /** Start, from the start of the job. */
  readonly startSeconds: number;
  /** End, from the start of the job. */
  readonly endSeconds: number;
  /** The activity of the GPUs. */
  readonly activity: 'rollout' | 'reference' | 'train' | 'sync' | 'reward' | 'overhead';
  /** Mean number of running sequences in the interval (rollout only). */
  readonly running: number;
}

/** One inference engine and its GPUs. */
export interface EngineResult {
  /** Id of the engine, or of its GPUs if the scheduler changes engines. */
  readonly engineId: string;
  /** Number of its GPUs. */
  readonly gpus: number;
  /** Seconds in which it ran at least one sequence. */
  readonly busySeconds: number;
  /** Share of all rollout time in which it ran nothing: 0 to 1. */
  readonly bubbleRatio: number;
  /** Sequences that lost their KV cache because the cache was full. */
  readonly preemptions: number;
  /** Activities over time; empty if none were recorded. */
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
 * Counts about the fixed responses, which a baseline trains on: the first R0 responses of each prompt, in its first round. The
 * responses of a deferred prompt are drawn again.
 */
export interface KeptCounts {
  /** Fixed responses of the trained prompts with at least `RunOptions.longTokens` tokens; 0 without this option. */
  readonly longFixed: number;
  /** Fixed long responses that are also trained on. */
  readonly longKept: number;
  /** Trained responses of at least this length, including responses that are not fixed ones. */
  readonly longTrained: number;
  /** Trained responses that were drawn again. */
  readonly redrawnResponses: number;
  /** Tokens of the redrawn responses. */
  readonly redrawnTokens: number;
  /** Tokens of the fixed responses of the prompts that were drawn again. */
  readonly redrawnFixedTokens: number;
  /** Trained groups with known rewards. */
  readonly rewardedGroups: number;
  /** Of these groups, those whose rewards are all equal: they have no advantage. */
  readonly evenGroups: number;
}

/** One scheduler on one workload with one seed. */
export interface RunResult {
  /** Id of the scheduler. */
  readonly scheduler: string;
  /** Seed of the workload. */
  readonly seed: number;
  /** The steps, in order. */
  readonly steps: readonly StepResult[];
  /** The engines, over time. */
  readonly engines: readonly EngineResult[];
  /** Seconds of all steps. */
  readonly totalSeconds: number;
  /** Seconds of all rollouts. */
  readonly rolloutSeconds: number;
  /** Number of trained prompts, each counted once. */
  readonly trainedPrompts: number;
  /** Number of trained responses. */
  readonly trainedResponses: number;
  /** Tokens of the kept responses. */
  readonly keptTokens: number;
  /** Tokens generated, including aborted responses. */
  readonly generatedTokens: number;
  /** Mean length of the trained responses, in tokens. */
  readonly meanResponseTokens: number;
  /** Share of the trained responses that reached the length cap: 0 to 1. */
  readonly cappedShare: number;
  /** Share of the engine time in rollouts without anything to run: 0 to 1. */
  readonly bubbleRatio: number;
  /** Sequences that lost their KV cache because the cache was full. */
  readonly preemptions: number;
  /** Mean number of rounds that deferred prompts waited in the queue. */
  readonly meanQueueAge: number;
  /** Longest wait in the queue, in rounds. */
  readonly maxQueueAge: number;
  /** Lengths of trained responses at 0, 1, …, 100 %. */
  readonly lengthQuantiles: readonly number[];
  /** Counts about the responses that a baseline would train on. */
  readonly kept: KeptCounts;
  /** Kept tokens that were generated by older weights than the weights that they train. */
  readonly staleTokens: number;
  /** Largest number of versions by which these older weights are behind. */
  readonly maxLag: number;
}

/** The position of a scheduler in an ablation: it has the mechanisms of another scheduler, and one more. */
export interface Variant {
  /** Common name of all variants, for readers: `RollPacker`. */
  readonly ablation: string;
  /** Id of the scheduler that it builds on. */
  readonly above: string;
  /** The mechanism that it adds, for readers. */
  readonly adds: string;
}

/** One scheduler on one workload over all seeds, compared with the baseline. */
export interface SchedulerResult {
  /** Id of the scheduler. */
  readonly scheduler: string;
  /** Label for readers, in tables and charts. */
  readonly label: string;
  /** Position in an ablation; absent if the scheduler is not part of one. */
  readonly variant?: Variant;
  /** One run for each seed. */
  readonly runs: readonly RunResult[];
  /** Seconds per step, mean over steps and seeds. */
  readonly stepSeconds: Interval;
  /** Seconds per rollout, mean over steps and seeds. */
  readonly rolloutSeconds: Interval;
  /** Time of the baseline for the same number of trained prompts ÷ time of this scheduler; 1 for the baseline. */
  readonly speedup: Interval;
  /** Seconds of the baseline for a kept token ÷ seconds of this scheduler for one; 1 for the baseline. */
  readonly equalTokenSpeedup: Interval;
  /** Speedup of the rollouts alone. */
  readonly rolloutSpeedup: Interval;
  /** Mean kept response length ÷ that of the baseline. */
  readonly keptTokenRatio: number;
  /** Seconds of the oracle schedule for a kept token ÷ seconds of this scheduler; absent if the oracle was not run. */
  readonly ofOracle?: number;
  /** Share of the longest 1 % of the fixed responses (see {@link KeptCounts}) that is also trained on: 0 to 1. */
  readonly longestKeptShare: number;
  /**
   * Trained responses (including redrawn ones) at least as long as the longest 1 % of the fixed responses
   * (see {@link KeptCounts}) ÷ number of those.
   */
  readonly longestTrainedRatio: number;
  /** Share of the trained groups whose rewards are all equal: 0 to 1. */
  readonly evenGroupShare: number;
  /** Share of the trained responses that were drawn again after their prompt had been deferred: 0 to 1. */
  readonly redrawnShare: number;
  /**
   * Tokens of the fixed responses (see {@link KeptCounts}) minus tokens of the redrawn responses of the same prompts, as a
   * share of the baseline's kept tokens.
   */
  readonly redrawnLoss: number;
  /** Share of the kept tokens that were generated by older weights than the weights that they train: 0 to 1. */
  readonly staleShare: number;
  /** Largest number of versions by which these older weights are behind. */
  readonly maxLag: number;
  /** Share of the trained responses that reached the length cap: 0 to 1. */
  readonly cappedShare: number;
  /** Share of the engine time in rollouts without anything to run: 0 to 1. */
  readonly bubbleRatio: number;
  /** Mean number of rounds that deferred prompts waited in the queue. */
  readonly meanQueueAge: number;
  /** Longest wait in the queue, in rounds. */
  readonly maxQueueAge: number;
}

/** One workload under several schedulers. */
export interface ComparisonResult {
  /** The workload; lengths in tokens. */
  readonly workload: {
    readonly name: string;
    readonly source: string;
    readonly prompts: number;
    /** Origin of responses that were never recorded: `recorded`, `within-prompt`, `copula`, … */
    readonly resampling: string;
    readonly correlation: number;
    readonly capTokens: number;
    readonly meanTokens: number;
    /** A caveat about the lengths, if they are estimates. */
    readonly caveat?: string;
    readonly quantiles: Readonly<Record<'p50' | 'p75' | 'p90' | 'p99' | 'max', number>>;
  };
  /** Settings of the job, for tables. */
  readonly settings: Readonly<Record<string, number | string>>;
  /** The results, the baseline first. */
  readonly schedulers: readonly SchedulerResult[];
  /**
   * The oracle schedule on the same workload, which keeps all fixed responses (see {@link KeptCounts}); absent if not asked
   * for.
   */
  readonly oracle?: SchedulerResult;
  /** Notes for readers of this comparison, in sentences. */
  readonly notes: readonly string[];
}
