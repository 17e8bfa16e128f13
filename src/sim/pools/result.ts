/** What a simulation of disaggregated pools gives: plain data. Times of a round count from its opening, unless said otherwise. */
import type { Interval, Segment } from '../result.ts';
import type { FrontierWidth } from './scheduler.ts';
import type { PoolsJob } from './settings.ts';

/** One round: rollout, training, new weights. */
export interface PoolsRound {
  /** From 0. */
  readonly round: number;
  /** With tail batching `short` rounds speculate; every other one is `long`. */
  readonly kind: 'short' | 'long';
  /** From the start of the job. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** From rollout start to train end: what RolloutPipe calls the main time. */
  readonly mainSeconds: number;
  /** Until the last response that counts. */
  readonly rolloutSeconds: number;
  /** Until every group had its rewards: t_complete. */
  readonly rewardedSeconds: number;
  /** Until the groups of the first update could be trained, and until it was dispatched. */
  readonly firstBatchSeconds: number;
  readonly firstDispatchSeconds: number;
  /** RolloutPipe equation 3: t_complete − `firstBatchSeconds`; what a serial trainer leaves on the table. */
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
  /** From the last step of the optimizer until the engines have the weights. */
  readonly publishSeconds: number;
  readonly groups: number;
  readonly updates: number;
  readonly responses: number;
  /** Tokens of the responses that are trained on. */
  readonly tokens: number;
  readonly maxResponseTokens: number;
  readonly cappedResponses: number;
  readonly preemptions: number;
  /** Share of the engines' time, up to the last response, in which one had nothing to run. */
  readonly bubbleRatio: number;
  /** Most requests that the engines had at once. */
  readonly mostInService: number;
  /** F_w as the round ended; absent without a frontier. */
  readonly width?: number;
  /** How often the frontier said that it starves the trainer. */
  readonly starved: number;
}

/** A row of a timeline: an engine, or the trainer. */
export interface PoolsRow {
  readonly rowId: string;
  readonly pool: 'rollout' | 'trainer';
  readonly gpus: number;
  readonly busySeconds: number;
  /** What it did, ascending; gaps are idle. */
  readonly timeline: readonly Segment[];
}

/** One scheduler with one seed. */
export interface PoolsRun {
  readonly scheduler: string;
  readonly seed: number;
  readonly rounds: readonly PoolsRound[];
  readonly rows: readonly PoolsRow[];
  readonly totalSeconds: number;
}

/** Means over rounds and seeds of one scheduler. */
export interface PoolsSchedulerResult {
  readonly scheduler: string;
  readonly label: string;
  readonly pipelining: boolean;
  readonly width: FrontierWidth;
  readonly tailBatching: boolean;
  readonly runs: readonly PoolsRun[];
  /** Main seconds of a round, with a bootstrap interval over seeds. */
  readonly mainSeconds: Interval;
  /** Sample standard deviation of it over all rounds; 0 for one. */
  readonly mainDeviation: number;
  /** Share by which the main time is shorter than that of the first scheduler; below 0 if longer. */
  readonly reduction: Interval;
  /** Seconds of a whole round, new weights included. */
  readonly roundSeconds: number;
  readonly rolloutSeconds: number;
  readonly firstDispatchSeconds: number;
  readonly recoverySeconds: number;
  readonly waitSeconds: number;
  readonly computeSeconds: number;
  readonly publishSeconds: number;
  readonly startWaitingRatio: number;
  readonly computeWaitingRatio: number;
  readonly wallClockWaitingRatio: number;
  readonly bubbleRatio: number;
  readonly meanResponseTokens: number;
  readonly cappedShare: number;
  /** Share of the rounds that are long ones. */
  readonly longShare: number;
  /** Tokens trained on ÷ those of the first scheduler: 1 where nothing is left out. */
  readonly keptTokenRatio: number;
  readonly preemptions: number;
  /** Mean F_w at the end of a round; absent without a frontier. */
  readonly meanWidth?: number;
  /** Rounds in which the frontier said that it starves the trainer. */
  readonly starvedRounds: number;
}

/** What each mechanism has of the reduction: CGP alone, and what the frontier adds to it. They sum to 1. */
export interface ReductionShares {
  /** Id of the scheduler with both. */
  readonly scheduler: string;
  readonly cgp: number;
  readonly fgd: number;
}

/** Schedulers side by side on one workload. */
export interface PoolsComparison {
  readonly workload: {
    readonly name: string;
    readonly source: string;
    readonly meanTokens: number;
    readonly longestTokens: number;
    readonly capTokens: number;
    readonly correlation: number;
  };
  readonly job: PoolsJob;
  readonly rounds: number;
  readonly seeds: readonly number[];
  readonly schedulers: readonly PoolsSchedulerResult[];
  /** One for each scheduler with both mechanisms, where CGP alone was run and there is a reduction. */
  readonly shares: readonly ReductionShares[];
  readonly notes: readonly string[];
}
