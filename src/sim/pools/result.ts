/**
 * The results of a simulation of disaggregated pools: plain data. Times within a round count from its opening, unless stated
 * otherwise.
 */
import type { Interval, KeptCounts, SchedulerResult, Segment } from '../comparison/result.ts';
import type { FrontierWidth } from './scheduler.ts';
import type { PoolsJob } from './settings.ts';

/** One round: rollout, training, new weights. */
export interface PoolsRound {
  /** Index of the round, from 0. */
  readonly round: number;
  /** With tail batching, `short` rounds speculate; all other rounds are `long`. */
  readonly kind: 'short' | 'long';
  /** Begin, from the start of the job. */
  readonly startSeconds: number;
  /** Time at which the engines have the new weights, in seconds from the start of the job. */
  readonly endSeconds: number;
  /** Seconds from rollout start to train end, RolloutPipe's main time. */
  readonly mainSeconds: number;
  /** Seconds until the last counting response. */
  readonly rolloutSeconds: number;
  /** Seconds until every group had its rewards: t_complete. */
  readonly rewardedSeconds: number;
  /** Seconds until the groups of the first update could be trained, and until this update was dispatched. */
  readonly firstBatchSeconds: number;
  /** Seconds until the first update was dispatched. */
  readonly firstDispatchSeconds: number;
  /** RolloutPipe equation 3: t_complete − `firstBatchSeconds`, which a serial trainer does not use. */
  readonly recoverySeconds: number;
  /** Seconds without an update for the trainer, up to the last dispatch. */
  readonly waitSeconds: number;
  /** Seconds of gradient computation. */
  readonly computeSeconds: number;
  /** RolloutPipe equation 4: `firstDispatchSeconds` ÷ `mainSeconds`. */
  readonly startWaitingRatio: number;
  /** RolloutPipe §5.1: wait ÷ (wait + compute). */
  readonly computeWaitingRatio: number;
  /** RolloutPipe §3.2, in words: wait ÷ `mainSeconds`. */
  readonly wallClockWaitingRatio: number;
  /** Seconds from the last optimizer step until the engines have the weights. */
  readonly publishSeconds: number;
  /** Groups that were trained on. */
  readonly groups: number;
  /** Number of weight updates. */
  readonly updates: number;
  /** Responses that were trained on. */
  readonly responses: number;
  /** Tokens of the responses that are trained on. */
  readonly tokens: number;
  /** Tokens of the longest trained response. */
  readonly maxResponseTokens: number;
  /** Responses that ran into the cap. */
  readonly cappedResponses: number;
  /** Preemptions: sequences that lost their KV cache because the cache was full. */
  readonly preemptions: number;
  /** Share of the engines' time without anything to run, up to the last response. */
  readonly bubbleRatio: number;
  /** Most requests that the engines had at once. */
  readonly mostInService: number;
  /** F_w as the round ended; absent without a frontier. */
  readonly width?: number;
  /** Number of reports by the frontier that it starves the trainer. */
  readonly starved: number;
  /** Number of versions by which the weights that generated the responses are behind the latest published ones before training. */
  readonly lag: number;
}

/** A row of a timeline: an engine, or the trainer. */
export interface PoolsRow {
  /** Id of the engine or of the trainer. */
  readonly rowId: string;
  /** The pool that the row belongs to. */
  readonly pool: 'rollout' | 'trainer';
  /** Number of GPUs. */
  readonly gpus: number;
  /** Seconds of computation. */
  readonly busySeconds: number;
  /** Activities of the row, ascending; gaps are idle time. */
  readonly timeline: readonly Segment[];
}

/** One scheduler with one seed. */
export interface PoolsRun {
  /** Id of the scheduler. */
  readonly scheduler: string;
  /** Seed of the workload. */
  readonly seed: number;
  /** Rounds of the run, in order. */
  readonly rounds: readonly PoolsRound[];
  /** Engines and the trainer, over time. */
  readonly rows: readonly PoolsRow[];
  /** Seconds of all rounds. */
  readonly totalSeconds: number;
  /** Counts of the responses that a serial trainer would train on, for the same prompts. */
  readonly kept: KeptCounts;
}

/** What is trained on, as in a comparison of colocated schedulers. */
type TrainedShares = Pick<
  SchedulerResult,
  'cappedShare' | 'longestKeptShare' | 'longestTrainedRatio' | 'evenGroupShare' | 'redrawnShare'
>;

/** Means over rounds and seeds of one scheduler. */
export interface PoolsSchedulerResult extends TrainedShares {
  /** Id of the scheduler. */
  readonly scheduler: string;
  /** For people: tables and charts. */
  readonly label: string;
  /** Whether updates were dispatched during the rollout. */
  readonly pipelining: boolean;
  /** F_w: how many groups were in service at once. */
  readonly width: FrontierWidth;
  /** Whether the rounds use tail batching. */
  readonly tailBatching: boolean;
  /** Runs of the scheduler, one per seed. */
  readonly runs: readonly PoolsRun[];
  /** Main seconds of a round, with a bootstrap interval over seeds. */
  readonly mainSeconds: Interval;
  /** Sample standard deviation of the main seconds over all rounds; 0 for a single round. */
  readonly mainDeviation: number;
  /** Share by which the main time is shorter than that of the first scheduler; below 0 if longer. */
  readonly reduction: Interval;
  /** Seconds of a whole round, new weights included. */
  readonly roundSeconds: number;
  /** Seconds until the last counting response, mean per round. */
  readonly rolloutSeconds: number;
  /** Seconds until the first update was dispatched, mean per round. */
  readonly firstDispatchSeconds: number;
  /** RolloutPipe equation 3, mean of a round. */
  readonly recoverySeconds: number;
  /** Seconds without an update for the trainer, mean per round. */
  readonly waitSeconds: number;
  /** Seconds of gradients, mean of a round. */
  readonly computeSeconds: number;
  /** Seconds from the last optimizer step until the engines had the new weights, mean over rounds. */
  readonly publishSeconds: number;
  /** RolloutPipe equation 4, mean over rounds: 0 to 1. */
  readonly startWaitingRatio: number;
  /** Wait ÷ (wait + compute), mean over rounds: 0 to 1. */
  readonly computeWaitingRatio: number;
  /** Wait ÷ main time, mean over rounds: 0 to 1. */
  readonly wallClockWaitingRatio: number;
  /** Share of the engines' time without anything to run, mean over rounds: 0 to 1. */
  readonly bubbleRatio: number;
  /** Mean tokens of a trained response. */
  readonly meanResponseTokens: number;
  /** Share of long rounds. */
  readonly longShare: number;
  /** Trained tokens ÷ trained tokens of the first scheduler; 1 if no tokens are left out. */
  readonly keptTokenRatio: number;
  /** Main seconds per trained token: first scheduler ÷ this scheduler. */
  readonly equalTokenSpeedup: Interval;
  /** Most versions that the weights of a round are behind; 0 on policy. */
  readonly maxLag: number;
  /** Preemptions, mean of a round. */
  readonly preemptions: number;
  /** Mean F_w at the end of a round; absent without a frontier. */
  readonly meanWidth?: number;
  /** Rounds in which the frontier reported that it starves the trainer. */
  readonly starvedRounds: number;
}

/** Shares of the two mechanisms in the reduction: CGP alone, and the gain that the frontier adds. The shares sum to 1. */
export interface ReductionShares {
  /** Id of the scheduler with both mechanisms. */
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
  /** The simulated job. */
  readonly job: PoolsJob;
  /** Rounds per run. */
  readonly rounds: number;
  /** Seeds of the runs. */
  readonly seeds: readonly number[];
  /** The results, the baseline first. */
  readonly schedulers: readonly PoolsSchedulerResult[];
  /** Shares for each scheduler with both mechanisms, if CGP alone was run and there is a reduction. */
  readonly shares: readonly ReductionShares[];
  /** Notes on this comparison for readers, in sentences. */
  readonly notes: readonly string[];
}
