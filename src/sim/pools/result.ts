/**
 * The results of a simulation of disaggregated pools: plain data. Times of a round count from its opening, unless said otherwise.
 */
import type { Interval, KeptCounts, Segment } from '../comparison/result.ts';
import type { FrontierWidth } from './scheduler.ts';
import type { PoolsJob } from './settings.ts';

/** One round: rollout, training, new weights. */
export interface PoolsRound {
  /** Index of the round, from 0. */
  readonly round: number;
  /** With tail batching `short` rounds speculate; every other one is `long`. */
  readonly kind: 'short' | 'long';
  /** Begin, from the start of the job. */
  readonly startSeconds: number;
  /** Until the engines have the new weights; from the start of the job. */
  readonly endSeconds: number;
  /** Seconds from rollout start to train end, RolloutPipe's main time. */
  readonly mainSeconds: number;
  /** Until the last response that counts. */
  readonly rolloutSeconds: number;
  /** Until every group had its rewards: t_complete. */
  readonly rewardedSeconds: number;
  /** Until the groups of the first update could be trained, and until it was dispatched. */
  readonly firstBatchSeconds: number;
  /** Until the first update was dispatched. */
  readonly firstDispatchSeconds: number;
  /** RolloutPipe equation 3: t_complete − `firstBatchSeconds`, which a serial trainer does not use. */
  readonly recoverySeconds: number;
  /** Seconds in which the trainer had no update, up to the last dispatch. */
  readonly waitSeconds: number;
  /** Seconds of gradients. */
  readonly computeSeconds: number;
  /** RolloutPipe equation 4: `firstDispatchSeconds` ÷ `mainSeconds`. */
  readonly startWaitingRatio: number;
  /** RolloutPipe §5.1: wait ÷ (wait + compute). */
  readonly computeWaitingRatio: number;
  /** RolloutPipe §3.2, in words: wait ÷ `mainSeconds`. */
  readonly wallClockWaitingRatio: number;
  /** Seconds from the last step of the optimizer until the engines have the weights. */
  readonly publishSeconds: number;
  /** Groups that were trained on. */
  readonly groups: number;
  /** Updates of the weights. */
  readonly updates: number;
  /** Responses that were trained on. */
  readonly responses: number;
  /** Tokens of the responses that are trained on. */
  readonly tokens: number;
  /** Tokens of the longest of them. */
  readonly maxResponseTokens: number;
  /** Responses that ran into the cap. */
  readonly cappedResponses: number;
  /** Sequences that lost their KV cache for want of room. */
  readonly preemptions: number;
  /** Share of the engines' time, up to the last response, in which one had nothing to run. */
  readonly bubbleRatio: number;
  /** Most requests that the engines had at once. */
  readonly mostInService: number;
  /** F_w as the round ended; absent without a frontier. */
  readonly width?: number;
  /** Number of times that the frontier reported that it starves the trainer. */
  readonly starved: number;
  /** Versions that the weights which generated its responses are behind the last that was published before it is trained. */
  readonly lag: number;
}

/** A row of a timeline: an engine, or the trainer. */
export interface PoolsRow {
  /** Id of the engine or of the trainer. */
  readonly rowId: string;
  /** The pool that it belongs to. */
  readonly pool: 'rollout' | 'trainer';
  /** Number of its GPUs. */
  readonly gpus: number;
  /** Seconds in which it computed. */
  readonly busySeconds: number;
  /** Its activities, ascending; gaps are idle. */
  readonly timeline: readonly Segment[];
}

/** One scheduler with one seed. */
export interface PoolsRun {
  /** Id of the scheduler. */
  readonly scheduler: string;
  /** Seed of the workload. */
  readonly seed: number;
  /** Its rounds, in order. */
  readonly rounds: readonly PoolsRound[];
  /** Engines and the trainer, over time. */
  readonly rows: readonly PoolsRow[];
  /** Seconds of all rounds. */
  readonly totalSeconds: number;
  /** Counts of the responses that a serial trainer would train on, of the same prompts. */
  readonly kept: KeptCounts;
}

/** Means over rounds and seeds of one scheduler. */
export interface PoolsSchedulerResult {
  /** Id of the scheduler. */
  readonly scheduler: string;
  /** For people: tables and charts. */
  readonly label: string;
  /** Whether updates were dispatched while the rollout went on. */
  readonly pipelining: boolean;
  /** F_w: how many groups were in service at once. */
  readonly width: FrontierWidth;
  /** Whether the rounds use tail batching. */
  readonly tailBatching: boolean;
  /** One run for each seed. */
  readonly runs: readonly PoolsRun[];
  /** Main seconds of a round, with a bootstrap interval over seeds. */
  readonly mainSeconds: Interval;
  /** Sample standard deviation of it over all rounds; 0 for one. */
  readonly mainDeviation: number;
  /** Share by which the main time is shorter than that of the first scheduler; below 0 if longer. */
  readonly reduction: Interval;
  /** Seconds of a whole round, new weights included. */
  readonly roundSeconds: number;
  /** Until the last response that counts, mean of a round. */
  readonly rolloutSeconds: number;
  /** Until the first update was dispatched, mean of a round. */
  readonly firstDispatchSeconds: number;
  /** RolloutPipe equation 3, mean of a round. */
  readonly recoverySeconds: number;
  /** Seconds in which the trainer had no update, mean of a round. */
  readonly waitSeconds: number;
  /** Seconds of gradients, mean of a round. */
  readonly computeSeconds: number;
  /** Seconds from the last step of the optimizer until the engines had the new weights, mean over rounds. */
  readonly publishSeconds: number;
  /** RolloutPipe equation 4, mean over rounds: 0 to 1. */
  readonly startWaitingRatio: number;
  /** Wait ÷ (wait + compute), mean over rounds: 0 to 1. */
  readonly computeWaitingRatio: number;
  /** Wait ÷ main time, mean over rounds: 0 to 1. */
  readonly wallClockWaitingRatio: number;
  /** Share of the engines' time in which one had nothing to run, mean over rounds: 0 to 1. */
  readonly bubbleRatio: number;
  /** Tokens of a response that was trained on, mean. */
  readonly meanResponseTokens: number;
  /** Share of them that ran into the cap: 0 to 1. */
  readonly cappedShare: number;
  /** Share of the rounds that are long ones. */
  readonly longShare: number;
  /** Tokens trained on ÷ those of the first scheduler: 1 where none are left out. */
  readonly keptTokenRatio: number;
  /** Main seconds of the first scheduler for a token trained on ÷ main seconds of this scheduler for one. */
  readonly equalTokenSpeedup: Interval;
  /** Share of the longest 1 % of the fixed responses (see `KeptCounts`) of the trained prompts that is trained on: 0 to 1. */
  readonly longestKeptShare: number;
  /** Responses trained on that are as long as those, redrawn ones included ÷ number of those. */
  readonly longestTrainedRatio: number;
  /** Share of the trained groups whose rewards are all equal: 0 to 1. */
  readonly evenGroupShare: number;
  /** Share of the responses trained on that were drawn again after their prompt had been deferred: 0 to 1. */
  readonly redrawnShare: number;
  /** Most versions that the weights of a round are behind; 0 on policy. */
  readonly maxLag: number;
  /** Preemptions, mean of a round. */
  readonly preemptions: number;
  /** Mean F_w at the end of a round; absent without a frontier. */
  readonly meanWidth?: number;
  /** Rounds in which the frontier said that it starves the trainer. */
  readonly starvedRounds: number;
}

/** Share of each mechanism in the reduction: CGP alone, and the gain that the frontier adds. They sum to 1. */
export interface ReductionShares {
  /** Id of the scheduler with both. */
  readonly scheduler: string;
  /** Share of the reduction that complete-group pipelining has by itself. */
  readonly cgp: number;
  /** The gain that frontier-group dispatch adds: 1 − `cgp`. */
  readonly fgd: number;
}

/** Schedulers side by side on one workload. */
export interface PoolsComparison {
  /** The workload; lengths in tokens. */
  readonly workload: {
    readonly name: string;
    readonly source: string;
    readonly meanTokens: number;
    readonly longestTokens: number;
    readonly capTokens: number;
    readonly correlation: number;
  };
  /** The job, as it was simulated. */
  readonly job: PoolsJob;
  /** Rounds of each run. */
  readonly rounds: number;
  /** Seeds of the runs. */
  readonly seeds: readonly number[];
  /** The results, the baseline first. */
  readonly schedulers: readonly PoolsSchedulerResult[];
  /** One for each scheduler with both mechanisms, where CGP alone was run and there is a reduction. */
  readonly shares: readonly ReductionShares[];
  /** Notes for the reader of this comparison, in sentences. */
  readonly notes: readonly string[];
}
