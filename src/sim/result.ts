/** What a simulation gives back. Times are seconds from the start of the simulated job. */

/** One rollout round and the training step that follows it. */
export interface StepResult {
  /** From 0. */
  readonly step: number;
  readonly roundId: string;
  readonly kind: 'short' | 'long';
  /** Tensor parallelism of its engines, where the scheduler sees to it. */
  readonly tp?: number;
  readonly startSeconds: number;
  /** Seconds of the rollout in which the engines changed their tensor parallelism. */
  readonly reshardSeconds: number;
  readonly rolloutSeconds: number;
  /** From the last kept response until its reward is known and training can begin. */
  readonly rewardSeconds: number;
  /** From then until the passes of the reference model and for log-probabilities are over. */
  readonly referenceSeconds: number;
  readonly trainSeconds: number;
  readonly syncSeconds: number;
  readonly endSeconds: number;
  readonly prompts: number;
  readonly responses: number;
  /** Tokens of the responses that are trained on. */
  readonly keptTokens: number;
  /** Tokens generated in the round, those of aborted responses included. */
  readonly generatedTokens: number;
  readonly abortedTokens: number;
  readonly meanResponseTokens: number;
  readonly maxResponseTokens: number;
  /** Kept responses that ran into the length cap. */
  readonly cappedResponses: number;
  readonly preemptions: number;
  readonly deferredPrompts: number;
  /** Prompts in the long-prompt queue when the step ended. */
  readonly queueDepth: number;
  /** Rounds that the prompts of this step had waited in the queue, one entry for each that had. */
  readonly queueAges: readonly number[];
  /** Share of engine time in the rollout in which an engine had nothing to run, over all engines: 0 to 1. */
  readonly bubbleRatio: number;
}

/**
 * A stretch of time in which an engine ran about the same number of sequences, or its GPUs did something else. The
 * segments of an engine have no gaps: idle time in a rollout is a `rollout` segment with nothing running.
 */
export interface Segment {
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly activity: 'rollout' | 'reference' | 'train' | 'sync' | 'reward' | 'overhead';
  /** Running sequences (rollout only); the mean over the stretch. */
  readonly running: number;
}

/** One inference engine and the GPUs that it stands for. */
export interface EngineResult {
  readonly engineId: string;
  readonly gpus: number;
  /** Seconds in which it ran at least one sequence. */
  readonly busySeconds: number;
  /** Share of all rollout time in which it ran nothing: 0 to 1. */
  readonly bubbleRatio: number;
  readonly preemptions: number;
  readonly timeline: readonly Segment[];
}

/** A number with its bootstrap interval. */
export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** Confidence, such as 0.95. */
  readonly confidence: number;
}

/** One scheduler on one workload with one seed. */
export interface RunResult {
  readonly scheduler: string;
  readonly seed: number;
  readonly steps: readonly StepResult[];
  readonly engines: readonly EngineResult[];
  readonly totalSeconds: number;
  readonly rolloutSeconds: number;
  readonly trainedPrompts: number;
  readonly trainedResponses: number;
  readonly keptTokens: number;
  readonly generatedTokens: number;
  readonly meanResponseTokens: number;
  /** Share of trained responses that ran into the length cap: 0 to 1. */
  readonly cappedShare: number;
  readonly bubbleRatio: number;
  readonly preemptions: number;
  readonly meanQueueAge: number;
  readonly maxQueueAge: number;
  /** Lengths of trained responses at 0, 1, …, 100 %. */
  readonly lengthQuantiles: readonly number[];
}

/** The place of a scheduler in a ladder: it does what the scheduler below does, and one mechanism more. */
export interface Rung {
  /** What all rungs together are, for people: `RollPacker`. */
  readonly ladder: string;
  /** Id of the scheduler below. */
  readonly above: string;
  /** The mechanism that it adds, for people. */
  readonly adds: string;
}

/** One scheduler on one workload, over all seeds, beside the baseline. */
export interface SchedulerResult {
  readonly scheduler: string;
  readonly label: string;
  /** Absent where a scheduler stands for itself. */
  readonly rung?: Rung;
  readonly runs: readonly RunResult[];
  /** Seconds a step, mean over steps and seeds. */
  readonly stepSeconds: Interval;
  readonly rolloutSeconds: Interval;
  /** Ratio of the baseline's time for the same number of trained prompts to this one's; 1 for the baseline. */
  readonly speedup: Interval;
  readonly rolloutSpeedup: Interval;
  /** Mean kept response length ÷ that of the baseline. */
  readonly keptTokenRatio: number;
  readonly cappedShare: number;
  readonly bubbleRatio: number;
  readonly meanQueueAge: number;
  readonly maxQueueAge: number;
}

/** One workload through several schedulers. */
export interface ComparisonResult {
  readonly workload: {
    readonly name: string;
    readonly source: string;
    readonly prompts: number;
    /** How responses that were never recorded were made: `recorded`, `within-prompt`, `copula`, … */
    readonly resampling: string;
    readonly correlation: number;
    readonly capTokens: number;
    readonly meanTokens: number;
    readonly quantiles: Readonly<Record<'p50' | 'p75' | 'p90' | 'p99' | 'max', number>>;
  };
  readonly settings: Readonly<Record<string, number | string>>;
  readonly schedulers: readonly SchedulerResult[];
  /**
   * The clairvoyant lower bound: least seconds in which the same engines could train the same prompts once, with R0
   * responses each fixed beforehand, under synchronous updates. Mean over seeds.
   */
  readonly lowerBound: { readonly totalSeconds: number; readonly speedupLimit: number };
  readonly notes: readonly string[];
}
